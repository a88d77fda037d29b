#include "analysis/quantity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "judder/core/diagnostics.hpp"
#include "judder/core/number.hpp"
#include "judder/expr/syntax.hpp"

namespace judder::analysis {
namespace {

using simulate::MemorySink;

/// Parameters, all of them numbers, and pi.
class Parameters : public expr::Environment {
 public:
  Parameters(expr::Graph& graph, const model::Compiled& model) : graph_(graph), model_(model) {}

  expr::Meaning meaning(std::string_view name) override {
    for (const auto& [known, value] : model_.parameters) {
      if (known == name) return expr::Scalar{graph_.constant(value)};
    }
    for (const model::ListValue& list : model_.lists) {
      if (list.name == name) return family(list);
    }
    return {};
  }
  std::vector<std::string> names() override {
    std::vector<std::string> out;
    for (const auto& [known, value] : model_.parameters) out.push_back(known);
    for (const model::ListValue& list : model_.lists) out.push_back(list.name);
    return out;
  }
  std::variant<expr::Node, expr::Forbidden> prime(expr::Node) override {
    return expr::Forbidden{"a prime belongs to no parameter", {}};
  }

 private:
  expr::Family family(const model::ListValue& list) {
    expr::Family out;
    out.sizes = list.matrix ? std::vector<int>{list.rows, list.columns} : std::vector<int>{list.columns};
    out.find = [this, &list](std::span<const int> at) -> std::optional<expr::Node> {
      if (at.size() != (list.matrix ? 2U : 1U)) return std::nullopt;
      const int row = list.matrix ? at[0] : 1;
      const int column = at.back();
      if (row < 1 || row > list.rows || column < 1 || column > list.columns) return std::nullopt;
      return graph_.constant(
          list.numbers[static_cast<std::size_t>(row - 1) * static_cast<std::size_t>(list.columns) +
                       static_cast<std::size_t>(column - 1)]);
    };
    return out;
  }

  expr::Graph& graph_;
  const model::Compiled& model_;
};

// "impact plane" → "impact", "plane"; the place may hold spaces.
std::pair<std::string, std::string> kind_and_place(const std::string& subject) {
  const std::size_t space = subject.find(' ');
  if (space == std::string::npos) return {subject, {}};
  return {subject.substr(0, space), subject.substr(space + 1)};
}

std::vector<const engines::Event*> events_of(const std::string& subject, const model::System& system,
                                             const MemorySink& data) {
  const auto [kind, place] = kind_and_place(subject);
  std::vector<const engines::Event*> found;
  for (const engines::Event& event : data.events) {
    if (kind == engines::name(event.kind) && (place.empty() || place == engines::where(system, event)))
      found.push_back(&event);
  }
  return found;
}

// A place that is misspelt is counted as zero otherwise.
std::optional<Misnamed> unknown_place(const ReferenceValue& value, const model::System& system) {
  const std::string place = kind_and_place(value.subject).second;
  if (place.empty()) return std::nullopt;
  std::vector<std::string> known;
  for (const model::Relation& relation : system.relations()) known.push_back(relation.name);
  for (const model::SwitchInfo& info : system.switches()) known.push_back(info.place);
  for (const model::WatchInfo& watch : system.watches()) known.push_back(watch.name);
  if (std::find(known.begin(), known.end(), place) != known.end()) return std::nullopt;
  return Misnamed{value.subject_span,
                  "the model has no contact, joint, constraint, switch or watch '" + place + "'",
                  suggestion(place, known)};
}

/// What an event has besides columns: the words that event_quantity reads.
const std::vector<std::string>& fields_of_events() {
  static const std::vector<std::string> all{"time",
                                            "normal_impulse",
                                            "tangential_impulse",
                                            "tangential_impulse_2",
                                            "tangential_impulse_3",
                                            "energy_before",
                                            "energy_after",
                                            "detail"};
  return all;
}

// The row at `time` within rounding: the first of them before, the last of them after. −1: there is none.
long row_at(const MemorySink& data, double time, Side side) {
  const double near = 8 * std::numeric_limits<double>::epsilon() * std::max(1.0, std::abs(time));
  long found = -1;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const double t = data.cell(i, 0);
    if (t < time - near) continue;
    if (t > time + near) break;
    found = static_cast<long>(i);
    if (side == Side::before) break;
  }
  return found;
}

std::string span_of_run(const MemorySink& data) {
  if (data.rows() == 0) return "the run has no rows";
  return "the run goes from " + to_text(data.cell(0, 0), 6) + " to " +
         to_text(data.cell(data.rows() - 1, 0), 10);
}

Reading cell(const model::System& system, const MemorySink& data, long row, const std::string& name) {
  const int column = data.column(name);
  if (column < 0) return {{}, {}, "there is no column '" + name + "'"};
  const double value = data.cell(static_cast<std::size_t>(row), static_cast<std::size_t>(column));
  const int output = column - 1 - system.layout().integrated();
  if (output >= 0 && system.columns()[static_cast<std::size_t>(output)].mode_of >= 0)
    return {{}, std::string(simulate::mode_word(static_cast<int>(value))), {}};
  return {value, {}, {}};
}

Reading event_quantity(const ReferenceValue& value, const model::System& system, const MemorySink& data) {
  const std::vector<const engines::Event*> found = events_of(value.subject, system, data);
  const auto count = static_cast<int>(found.size());
  const int index = value.number > 0 ? value.number - 1 : count + value.number;
  if (index < 0 || index >= count)
    return {{},
            {},
            "there are " + std::to_string(count) + " events '" + value.subject + "'; " + span_of_run(data)};
  const engines::Event& event = *found[static_cast<std::size_t>(index)];
  const std::string& field = value.field;
  if (field == "time") return {event.time, {}, {}};
  if (field == "normal_impulse") return {event.normal_impulse, {}, {}};
  if (field == "tangential_impulse") return {event.tangential_impulse[0], {}, {}};
  if (field == "tangential_impulse_2") return {event.tangential_impulse[1], {}, {}};
  if (field == "tangential_impulse_3") return {event.tangential_impulse[2], {}, {}};
  if (field == "energy_before") return {event.energy_before, {}, {}};
  if (field == "energy_after") return {event.energy_after, {}, {}};
  if (field == "detail") return {{}, engines::detail(system, event), {}};
  const long row = row_at(data, event.time, value.side);
  if (row < 0) return {{}, {}, "there is no row at the event, t = " + to_text(event.time, 17)};
  return cell(system, data, row, field);
}

// Minimum, maximum or mean over [from, to].
Reading over_rows(const ReferenceValue& value, const Instants& instants, const MemorySink& data) {
  const int column = data.column(value.subject);
  if (column < 0) return {{}, {}, "there is no column '" + value.subject + "'"};
  long first = 0;
  long last = static_cast<long>(data.rows()) - 1;
  if (instants.from) first = row_at(data, *instants.from, Side::after);
  if (instants.to) last = row_at(data, *instants.to, Side::before);
  if (first < 0 || last < first) return {{}, {}, "the interval is not part of the run: " + span_of_run(data)};
  const auto at = [&](long row, int c) {
    return data.cell(static_cast<std::size_t>(row), static_cast<std::size_t>(c));
  };
  double least = at(first, column);
  double most = least;
  double integral = 0;
  for (long i = first + 1; i <= last; ++i) {
    const double x = at(i, column);
    least = std::min(least, x);
    most = std::max(most, x);
    integral += 0.5 * (at(i - 1, column) + x) * (at(i, 0) - at(i - 1, 0));
  }
  if (value.quantity == Quantity::minimum) return {least, {}, {}};
  if (value.quantity == Quantity::maximum) return {most, {}, {}};
  const double length = at(last, 0) - at(first, 0);
  return {length > 0 ? integral / length : least, {}, {}};
}

std::string sequence(const ReferenceValue& value, const MemorySink& data) {
  std::string out;
  for (const engines::Event& event : data.events) {
    const std::string kind = engines::name(event.kind);
    if (!value.kinds.empty() && std::find(value.kinds.begin(), value.kinds.end(), kind) == value.kinds.end())
      continue;
    out += (out.empty() ? "" : " ") + kind;
  }
  return out;
}

}  // namespace

std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? std::string() : "did you mean '" + near + "'?";
}

std::optional<Misnamed> find_misnamed(const ReferenceValue& value, const model::System& system,
                                      const std::vector<std::string>& columns) {
  const auto has = [](const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  switch (value.quantity) {
    case Quantity::event: {
      if (auto place = unknown_place(value, system)) return place;
      if (has(fields_of_events(), value.field) || has(columns, value.field)) return std::nullopt;
      std::vector<std::string> known = fields_of_events();
      known.insert(known.end(), columns.begin(), columns.end());
      return Misnamed{value.field_span,
                      "an event has no field '" + value.field + "', and there is no column of that name",
                      suggestion(value.field, known)};
    }
    case Quantity::count:
      return unknown_place(value, system);
    case Quantity::column:
    case Quantity::minimum:
    case Quantity::maximum:
    case Quantity::mean:
      if (has(columns, value.subject)) return std::nullopt;
      return Misnamed{value.subject_span, "there is no column '" + value.subject + "'",
                      suggestion(value.subject, columns)};
    default:
      return std::nullopt;
  }
}

std::optional<double> evaluate(const model::Value& value, const model::Compiled& model, Work& work,
                               std::string& problem) {
  if (!value.given) return std::nullopt;
  if (value.number) {
    if (std::isfinite(*value.number)) return value.number;
    problem = "'" + to_text(*value.number) + "' is not a finite number";
    return std::nullopt;
  }
  std::vector<expr::Problem> problems;
  expr::Graph graph;
  graph.limit(&work);
  Parameters environment(graph, model);
  const auto tree = expr::parse(value.text.text, problems);
  const auto node = tree ? expr::lower(*tree, graph, environment, {}, problems) : std::nullopt;
  if (!node || !problems.empty()) {
    problem = "'" + value.text.text + "': " + (problems.empty() ? "no expression" : problems.front().message);
    return std::nullopt;
  }
  const double result = graph.evaluate(*node, {});
  if (!std::isfinite(result)) {
    problem = "'" + value.text.text + "' is not a finite number";
    return std::nullopt;
  }
  return result;
}

Reading read_quantity(const ReferenceValue& value, const Instants& instants, const model::System& system,
                      const simulate::Result& result) {
  const MemorySink& data = result.data;
  if (value.quantity == Quantity::reason) return {{}, judder::name(result.end.status.reason), {}};
  if (value.quantity == Quantity::sequence) return {{}, sequence(value, data), {}};
  if (data.rows() == 0) return {{}, {}, "the run has no rows"};
  switch (value.quantity) {
    case Quantity::event:
      return event_quantity(value, system, data);
    case Quantity::count:
      return {static_cast<double>(events_of(value.subject, system, data).size()), {}, {}};
    case Quantity::column: {
      const double time = instants.at.value_or(data.cell(data.rows() - 1, 0));
      const long row = row_at(data, time, value.side);
      if (row < 0) return {{}, {}, "there is no row at t = " + to_text(time) + ": " + span_of_run(data)};
      return cell(system, data, row, value.subject);
    }
    default:
      return over_rows(value, instants, data);
  }
}

std::string quantity_in_words(const ReferenceValue& value) {
  const auto text = [](const model::Value& v) { return v.number ? to_text(*v.number, 10) : v.text.text; };
  const std::string number = value.number == 1    ? ""
                             : value.number == -1 ? ", last"
                                                  : " " + std::to_string(value.number);
  const std::string interval = value.from.given || value.to.given
                                   ? " from " + (value.from.given ? text(value.from) : "start") + " to " +
                                         (value.to.given ? text(value.to) : "end")
                                   : std::string();
  switch (value.quantity) {
    case Quantity::event:
      return value.field +
             (value.side == Side::before ? " before "
              : value.field == "time"    ? " of "
                                         : " at ") +
             value.subject + number;
    case Quantity::column:
      return value.subject + (value.side == Side::before ? " before " : " at ") +
             (value.at.given ? text(value.at) : "end");
    case Quantity::count:
      return "number of " + value.subject;
    case Quantity::minimum:
      return "minimum of " + value.subject + interval;
    case Quantity::maximum:
      return "maximum of " + value.subject + interval;
    case Quantity::mean:
      return "mean of " + value.subject + interval;
    case Quantity::reason:
      return "reason of the end";
    case Quantity::rest:
      return value.field + " of the rest '" + value.subject + "'" + number;
    case Quantity::sequence:
      break;
  }
  return "order of the events";
}

}  // namespace judder::analysis
