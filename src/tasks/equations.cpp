#include "judder/tasks/equations.hpp"

#include <map>

#include "judder/io/run_head.hpp"
#include "judder/model/equations.hpp"

namespace judder::tasks {

EquationsReport model_equations(const io::ModelRequest& request, bool symbolic) {
  EquationsReport out;
  out.model = io::load_model(request);
  if (!out.model.ok()) return out;
  if (symbolic) {
    std::vector<std::string> numbers;
    io::LoadedModel letters = io::load_with_names(out.model.file, request, out.model, numbers);
    if (!letters.ok()) {
      out.notes.push_back("the names of the parameters could not be kept; the equations have their numbers");
    } else {
      out.model.compiled = std::move(letters.compiled);
      for (const std::string& name : numbers)
        out.notes.push_back("parameter '" + name +
                            "' stands as its number: it decides which equations there are");
    }
  }
  std::map<std::string, std::string> labels;
  for (const io::ColumnLabel& each : io::labels_of(out.model.file.spec)) {
    if (!each.label.empty()) labels[each.column] = each.label;
  }
  for (const model::Equation& e :
       model::equations(out.model.compiled, expr::Notation::latex, request.cancel, labels))
    out.latex += "% " + e.name + "\n\\[ " + e.text + " \\]\n";
  return out;
}

}  // namespace judder::tasks
