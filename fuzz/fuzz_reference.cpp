// Any bytes as a reference file (docs/reference-file.md): what is refused has a message with its place, and what is taken has its parts.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "judder/core/diagnostics.hpp"
#include "judder/io/reference_file.hpp"

namespace {

void require(bool promise) {
  if (!promise) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const judder::io::ReferenceFile file =
      judder::io::read_reference_text(std::string(reinterpret_cast<const char*>(data), size));
  for (const judder::Diagnostic& message : file.diagnostics.all()) {
    require(message.span.begin <= message.span.end);
    require(message.span.begin <= size);
    require(!message.message.empty());
  }
  static_cast<void>(judder::render(file.diagnostics, "reference", file.text));
  return 0;
}
