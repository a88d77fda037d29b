#include "judder/io/compare.hpp"

#include <algorithm>
#include <cmath>

#include "io/json_values.hpp"
#include "io/text_table.hpp"
#include "judder/core/number.hpp"

namespace judder::io {
namespace {

using analysis::CompareRow;
using Json = nlohmann::ordered_json;

const std::vector<std::string>& titles() {
  static const std::vector<std::string> words{
      "engine", "tolerance",   "step",    "events",  "agree",       "error",    "time error", "order",
      "steps",  "evaluations", "windows", "seconds", "velocity L1", "L1 order", "square q",   "square v"};
  return words;
}

std::vector<std::string> cells(const CompareRow& row, int digits) {
  const auto number = [digits](const std::optional<double>& x, int most) {
    return x && std::isfinite(*x) ? (digits > 0 ? to_text(*x, most) : to_text(*x)) : std::string();
  };
  const auto count = [](long n) { return n > 0 ? std::to_string(n) : std::string(); };
  std::vector<std::string> out{row.engine, number(row.tolerance, 3), number(row.step, 6)};
  if (!row.ran) {
    out.resize(titles().size());
    return out;
  }
  out.insert(out.end(), {std::to_string(row.events), row.events_agree ? "all" : std::to_string(row.agreeing),
                         number(row.error, 2), number(row.time_error, 2), number(row.order, 3),
                         count(row.steps), count(row.evaluations), count(row.windows), number(row.seconds, 2),
                         number(row.velocity_error, 2), number(row.velocity_order, 3),
                         number(row.place_square, 4), number(row.velocity_square, 4)});
  return out;
}

}  // namespace

std::string compare_text(const analysis::Comparison& comparison) {
  TextTable table(titles(), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  std::string notes;
  for (const CompareRow& row : comparison.rows) {
    table.add(cells(row, 3));
    if (!row.problem.empty()) notes += row.engine + ": " + in_line(row.problem) + "\n";
  }
  table.drop_empty_columns();
  std::string out = table.text() + "\nreference: " + comparison.reference + ", " +
                    std::to_string(comparison.reference_events) + " events";
  if (comparison.reference != "exact")
    out += ", error at most about " + to_text(comparison.reference_error, 2);
  out += "\n";
  if (std::any_of(comparison.rows.begin(), comparison.rows.end(),
                  [](const CompareRow& row) { return row.order_unknown; }))
    out += "no order is given where the error is less than ten times that of the reference\n";
  const Status& status = comparison.reference_status;
  if (!status.ok())
    out += "the reference ended at t = " + to_text(status.time, 9) + ", " + name(status.reason) + ": " +
           in_line(status.message) + "\n";
  return out + notes;
}

std::string compare_csv(const analysis::Comparison& comparison) {
  // The last columns are those of engines with fixed steps.
  constexpr std::size_t kOfSteps = 4;
  const bool steps = std::any_of(comparison.rows.begin(), comparison.rows.end(),
                                 [](const CompareRow& row) { return row.velocity_error.has_value(); });
  const std::size_t columns = titles().size() - (steps ? 0 : kOfSteps);
  const auto line = [columns](const std::vector<std::string>& row) {
    std::string out;
    for (std::size_t c = 0; c < columns; ++c) out += (c == 0 ? "" : ",") + row[c];
    return out + "\n";
  };
  std::vector<std::string> header = titles();
  for (std::string& word : header) {
    for (char& letter : word) letter = letter == ' ' ? '_' : letter;
  }
  std::string out = line(header);
  for (const CompareRow& row : comparison.rows) out += line(cells(row, 0));
  return out;
}

std::string compare_json(const analysis::Comparison& comparison, const std::string& model) {
  Json rows = Json::array();
  for (const CompareRow& row : comparison.rows) {
    Json item{
        {"engine", row.engine}, {"tolerance", json_number(row.tolerance)}, {"step", json_number(row.step)}};
    if (row.ran) {
      item.update({{"events", row.events},
                   {"agreeing_events", row.agreeing},
                   {"events_agree", row.events_agree},
                   {"error", json_number(row.error)},
                   {"time_error", json_number(row.time_error)},
                   {"order", json_number(row.order)},
                   {"steps", row.steps},
                   {"evaluations", row.evaluations},
                   {"windows", row.windows},
                   {"seconds", json_number(row.seconds)}});
    }
    if (row.velocity_error) {
      item.update({{"velocity_l1", json_number(row.velocity_error)},
                   {"velocity_l1_order", json_number(row.velocity_order)},
                   {"mean_square_q", json_number(row.place_square)},
                   {"mean_square_v", json_number(row.velocity_square)}});
    }
    if (!row.problem.empty()) item["problem"] = row.problem;
    rows.push_back(std::move(item));
  }
  return json_text({{"model", model},
                    {"reference", comparison.reference},
                    {"reference_events", comparison.reference_events},
                    {"reference_error", json_number(comparison.reference_error)},
                    {"rows", rows}});
}

}  // namespace judder::io
