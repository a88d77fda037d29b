// Any bytes as a model file: read it, compile it, write it and read it again.
//
// Besides crashes and sanitizer reports it looks for broken promises: places outside the file, failures without a message, texts that
// do not map into the file, a written model that does not read back, a text that takes long to compile.
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>

#include "judder/io/reader.hpp"
#include "judder/io/writer.hpp"
#include "judder/model/compile.hpp"

namespace {

void require(bool promise) {
  if (!promise) std::abort();
}

void check_places(const judder::Diagnostics& diagnostics, std::size_t size) {
  for (const judder::Diagnostic& message : diagnostics.all()) {
    require(message.span.begin <= message.span.end);
    require(message.span.begin <= size);
    require(!message.message.empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const judder::io::ModelFile file =
      judder::io::read_model_text(std::string(reinterpret_cast<const char*>(data), size));
  check_places(file.diagnostics, size);
  require(file.parsed || file.diagnostics.has_errors());
  static_cast<void>(judder::render(file.diagnostics, "model", file.text));
  if (!file.parsed) return 0;

  if (!file.diagnostics.has_errors()) {
    const std::string text = judder::io::write_model(file.spec);
    const judder::io::ModelFile again = judder::io::read_model_text(text);
    require(!again.diagnostics.has_errors());
    require(judder::io::write_model(again.spec) == text);
  }
  // No text may take longer than its limit allows, whatever it asks for: seconds of a build with sanitizers, on a busy machine.
  const judder::model::CompileOptions options;
  const std::clock_t begin = std::clock();
  const judder::model::Compiled compiled = judder::model::compile(file.spec, options);
  constexpr double kMostSeconds = 15;
  require(static_cast<double>(std::clock() - begin) < kMostSeconds * CLOCKS_PER_SEC);
  require(compiled.work <= options.work.operations * 1.5);
  check_places(compiled.diagnostics, size);
  require(compiled.system.has_value() || compiled.diagnostics.has_errors());
  static_cast<void>(judder::render(compiled.diagnostics, "model", file.text));
  return 0;
}
