// Output columns and watches.
#include <algorithm>

#include "model/builder.hpp"

namespace judder::model {

void Builder::read_columns() {
  std::vector<std::string> taken{"t"};
  for (const CoordinateDraft& c : coordinates) {
    taken.push_back(c.name);
    taken.push_back(c.name + "'");
  }
  for (const StateDraft& s : states) taken.push_back(s.name);
  for (const OutputColumn& column : spec.output.columns) {
    const std::string& name = column.name.text;
    const std::string where = "column '" + name + "'";
    if (name.empty() || name.find_first_of(",\"\n\r") != std::string::npos) {
      error(column.name, where, "a column name must not be empty and has no comma, quote or line break");
    }
    if (std::find(taken.begin(), taken.end(), name) != taken.end()) {
      error(column.name, where, "there is already a column " + quoted(name),
            "time, coordinates, velocities and states are columns anyway");
    }
    taken.push_back(name);
    ColumnInfo info;
    info.name = name;
    const Tree* written = tree(column.value, where);
    if (written == nullptr) continue;
    Scope scope(*this, kOutput, where);
    if (written->kind == expr::Kind::call && written->text == "mode") {
      const auto found = scope.mode_of(*written);
      if (const auto* no = std::get_if<expr::Forbidden>(&found)) {
        error(column.value, where, no->message, no->help);
        continue;
      }
      info.mode_of = std::get<int>(found);
      column_infos.push_back(std::move(info));
      continue;
    }
    const auto node = lower(column.value, scope, where, "output.columns." + name, {}, is_condition(*written));
    if (!node) continue;
    info.value = static_cast<int>(column_nodes.size());
    info.needs_reactions = scope.used_reactions;
    column_nodes.push_back(*node);
    column_infos.push_back(std::move(info));
  }
}

void Builder::read_watches() {
  for (const Watch& w : spec.watches) {
    const std::string where = "watch '" + w.name.text + "'";
    if (w.name.empty()) {
      report_error(w.span, "watch", "the watch has no name", "add the key 'name'");
      continue;
    }
    const int errors_before = result.diagnostics.errors();
    const std::vector<Instance> all = instances(w.name.text, w.each, &w.when, where);
    if (result.diagnostics.errors() > errors_before) continue;
    if (!add_element("watch", w.name, all.size(),
                     all.empty() ? 0 : static_cast<int>(all.front().values.size())))
      continue;
    WatchInfo info;
    const std::vector<std::string> words{"both", "up", "down"};
    if (!w.direction.empty()) {
      const auto at = std::find(words.begin(), words.end(), w.direction.text);
      if (at == words.end()) {
        error(w.direction, where + ", direction", quoted(w.direction.text) + " is not a direction",
              "choose both, up or down");
      }
      info.direction = at == words.end() || *at == "both" ? 0 : *at == "up" ? 1 : -1;
    }
    info.stop = w.stop;
    if (w.stop < 0)
      report_error(w.span, where + ", stop", "'stop' is the number of the crossing that ends the run");
    if (!w.zero.given) {
      report_error(w.span, where, "the watch has no 'zero'");
      continue;
    }
    for (const Instance& instance : all) {
      Scope scope(*this, kWatch, "watch '" + instance.name + "', zero");
      const auto node = lower(w.zero, scope, "watch '" + instance.name + "', zero",
                              "watch." + w.name.text + ".zero", instance.indices);
      if (!node) continue;
      info.name = instance.name;
      info.needs_reactions = scope.used_reactions;
      watches.push_back({info, *node});
    }
  }
}

}  // namespace judder::model
