// Any bytes as a data file: numbers for lists, tables and matrices of a model, and as comma-separated values.
//
// Besides crashes and sanitizer reports it looks for broken promises: rows of different length, refusals without a message, a model that
// compiles with a table that is none, records that do not read back as they were written.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "io/data_files.hpp"
#include "judder/io/csv.hpp"
#include "judder/io/reader.hpp"
#include "judder/model/compile.hpp"

namespace {

namespace fs = std::filesystem;

void require(bool promise) {
  if (!promise) std::abort();
}

/// A folder of this process, removed at its end.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "judder-fuzz-XXXXXX").string();
    require(mkdtemp(name.data()) != nullptr);
    path = name;
    std::ofstream(path / "model.toml")
        << "format = 1\n[coordinates]\nx = { each = \"i = 1 to 2\" }\n"
           "[energy]\nkinetic = \"x[1]'^2 + x[2]'^2\"\n"
           "[parameters]\na = { file = \"data\" }\n[tables]\nf = { file = \"data\" }\n"
           "[matrices]\nstiffness = { file = \"data\" }\n"
           "[[force]]\nalong = \"x[1]'\"\nvalue = \"f(t)\"\n";
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  {
    std::ofstream out(folder.path / "data", std::ios::binary);
    out << bytes;
  }
  const judder::io::NumberTable table = judder::io::read_number_file(folder.path, "data");
  require(!table.problem.empty() || !table.rows.empty());
  for (const std::vector<double>& row : table.rows) require(row.size() == table.rows.front().size());

  const judder::io::ModelFile file = judder::io::read_model(folder.path / "model.toml");
  const judder::model::Compiled compiled = judder::model::compile(file.spec);
  require(compiled.system.has_value() || compiled.diagnostics.has_errors());
  require(table.problem.empty() || file.diagnostics.has_errors());
  static_cast<void>(judder::render(file.diagnostics, "model", file.text));

  std::istringstream stream(bytes);
  judder::io::CsvReader csv(stream, {.record_bytes = 1 << 16, .fields = 1 << 10});
  std::string written;
  judder::io::CsvWriter writer(written);
  std::vector<std::string> fields;
  while (csv.next()) {
    for (std::size_t i = 0; i < csv.size(); ++i) {
      fields.emplace_back(csv.field(i));
      writer.text(csv.field(i));
    }
    writer.end_record();
  }
  std::istringstream again(written);
  judder::io::CsvReader back(again);
  std::size_t at = 0;
  while (back.next()) {
    for (std::size_t i = 0; i < back.size(); ++i)
      require(at < fields.size() && back.field(i) == fields[at++]);
  }
  require(!back.error() && at == fields.size());
  return 0;
}
