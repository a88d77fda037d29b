#include "judder/io/model_files.hpp"

namespace judder::io {

std::set<std::string> data_files(const model::Spec& spec) {
  std::set<std::string> out;
  const auto add = [&out](const model::Text& file) {
    if (!file.empty()) out.insert(file.text);
  };
  for (const model::Parameter& parameter : spec.parameters) add(parameter.file);
  for (const model::Table& table : spec.tables) add(table.file);
  for (const model::Matrix* matrix :
       {&spec.matrices.mass, &spec.matrices.damping, &spec.matrices.stiffness, &spec.matrices.load})
    add(matrix->file);
  return out;
}

}  // namespace judder::io
