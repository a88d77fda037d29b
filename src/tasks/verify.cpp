#include "judder/tasks/verify.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "io/json_values.hpp"
#include "io/text_table.hpp"
#include "judder/core/number.hpp"
#include "judder/io/reader.hpp"

namespace judder::tasks {
namespace {

namespace fs = std::filesystem;
using analysis::Outcome;
using analysis::Verdict;
using io::in_line;
using io::json_number;
using io::width_of;
using Json = nlohmann::ordered_json;

std::string left(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, width_of(text)), ' ') + text;
}

std::string stem(const std::string& model) {
  return model.size() > 5 && model.compare(model.size() - 5, 5, ".toml") == 0
             ? model.substr(0, model.size() - 5)
             : model;
}

constexpr std::size_t kColumns = 6;
using Row = std::array<std::string, kColumns>;

Row row_of(const Outcome& outcome) {
  const analysis::ReferenceValue& value = *outcome.value;
  const auto number = [](const std::optional<double>& x, int digits) {
    return x ? to_text(*x, digits) : std::string();
  };
  Row row;
  std::string which = outcome.model == "model.toml" ? "" : stem(outcome.model);
  if (outcome.engine == "exact") which += which.empty() ? "exact" : ", exact";
  row[0] = value.label + (which.empty() ? "" : " (" + which + ")");
  row[1] = number(value.published, 9);
  row[2] = outcome.computed_text.empty() ? number(outcome.computed, 12) : outcome.computed_text;
  row[3] = value.text ? *value.text : number(outcome.exact, 12);
  row[4] = number(outcome.deviation(), 2);
  row[5] = name(outcome.verdict);
  // A sequence of many events would push the table off the page.
  for (const std::size_t c : {2U, 3U}) {
    if (row[c].size() <= 24) continue;
    std::size_t end = 21;
    while ((static_cast<unsigned char>(row[c][end]) & 0xC0U) == 0x80U) --end;  // whole characters
    row[c] = row[c].substr(0, end) + "...";
  }
  for (std::string& cell : row) cell = in_line(cell);
  return row;
}

}  // namespace

ModelVerification verify_model(const VerifyRequest& request) {
  ModelVerification out;
  out.name = request.folder.filename().string();
  out.reference = io::read_reference(request.reference);
  if (out.reference.diagnostics.has_errors())
    out.problem += render(out.reference.diagnostics, out.reference.name, out.reference.text);

  else if (out.reference.reference.values.empty())
    out.problem += in_line(out.reference.name) +
                   ": error: there is no [[value]] in it, so there is nothing to compare with\n";

  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(request.folder, error)) {
    const std::string file = entry.path().filename().string();
    if (file.rfind("model-", 0) == 0 && entry.path().extension() == ".toml") files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  files.insert(files.begin(), "model.toml");
  std::vector<analysis::Writing> writings;
  std::map<std::string, std::pair<std::string, std::string>> texts;  // name and text of a model by its file
  for (const std::string& file : files) {
    io::ModelFile model = io::read_model(request.folder / file);
    if (model.diagnostics.has_errors()) out.problem += render(model.diagnostics, model.name, model.text);
    writings.push_back({file, std::move(model.spec)});
    texts[file] = {std::move(model.name), std::move(model.text)};
  }
  if (!out.problem.empty()) return out;
  out.verification = analysis::verify(out.reference.reference, writings, request.options);
  // A model that is invalid, or a reference that asks for what it does not have, is of no use: no value of it is off.
  analysis::Verification& done = out.verification;
  if (done.faults.has_errors()) {
    out.problem = render(done.faults, out.reference.name, out.reference.text);
    done.outcomes.clear();
  } else if (!done.invalid_run.empty()) {
    if (const auto text = texts.find(done.invalid_model); text != texts.end())
      out.problem = render(done.diagnostics, text->second.first, text->second.second);
    else
      out.problem = in_line(out.reference.name) + ": error: " + in_line(done.invalid_run) + "\n";
    done.outcomes.clear();
  }
  return out;
}

std::string verification_text(const ModelVerification& model, bool only_failures) {
  if (only_failures && model.ok()) return {};
  std::string out = model.name;
  if (!model.reference.reference.source.empty()) out += "  " + model.reference.reference.source;
  out = in_line(out) + "\n";
  if (!model.problem.empty()) return out + model.problem;

  std::vector<Row> rows{{"", "published", "computed", "exact", "deviation", "verdict"}};
  std::vector<const Outcome*> shown;
  for (const Outcome& outcome : model.verification.outcomes) {
    if (only_failures && outcome.verdict != Verdict::off) continue;
    rows.push_back(row_of(outcome));
    shown.push_back(&outcome);
  }
  std::array<std::size_t, kColumns> widths{};
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < kColumns; ++c) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    out += "  " + left(row[0], widths[0]);
    for (std::size_t c = 1; c + 1 < kColumns; ++c) out += "  " + right(row[c], widths[c]);
    out += "  " + row[kColumns - 1];
    if (i == 0) {
      out += "\n";
      continue;
    }
    const Outcome& outcome = *shown[i - 1];
    if (outcome.verdict == Verdict::published_wrong && !outcome.value->note.empty())
      out += ": " + in_line(outcome.value->note);
    out += "\n";
    if (outcome.verdict == Verdict::off)
      out += "    " + in_line(outcome.quantity + " (" + outcome.run + "): " + outcome.why) + "\n";
  }
  const int failed = model.verification.failed();
  out += "  " + std::to_string(model.verification.passed()) + " passed, " + std::to_string(failed) +
         " failed, " + std::to_string(model.verification.runs) +
         (model.verification.runs == 1 ? " run\n" : " runs\n");
  return out;
}

std::string verification_summary(const std::vector<ModelVerification>& models) {
  int passed = 0;
  int failed = 0;
  std::string unreadable;
  for (const ModelVerification& model : models) {
    passed += model.verification.passed();
    failed += model.verification.failed();
    if (!model.problem.empty()) unreadable += (unreadable.empty() ? "" : ", ") + in_line(model.name);
  }
  return std::to_string(passed) + " passed, " + std::to_string(failed) + " failed" +
         (unreadable.empty() ? "" : "; cannot be read: " + unreadable) + "\n";
}

std::string verification_json(const std::vector<ModelVerification>& models) {
  Json list = Json::array();
  int passed = 0;
  int failed = 0;
  for (const ModelVerification& model : models) {
    Json values = Json::array();
    for (const Outcome& outcome : model.verification.outcomes) {
      const analysis::ReferenceValue& value = *outcome.value;
      Json row{{"label", value.label},
               {"model", outcome.model},
               {"run", outcome.run},
               {"engine", outcome.engine},
               {"quantity", outcome.quantity}};
      if (value.text) {
        row["expected"] = *value.text;
        row["computed"] = outcome.computed_text;
      } else {
        row["published"] = json_number(value.published);
        row["exact"] = json_number(outcome.exact);
        row["computed"] = json_number(outcome.computed);
        row["deviation"] = json_number(outcome.deviation());
      }
      row["verdict"] = name(outcome.verdict);
      if (!outcome.why.empty()) row["why"] = outcome.why;
      if (!value.note.empty()) row["note"] = value.note;
      if (!value.where.empty()) row["where"] = value.where;
      if (!value.check.empty()) row["check"] = value.check;
      values.push_back(std::move(row));
    }
    passed += model.verification.passed();
    failed += model.verification.failed();
    Json entry{{"name", model.name},
               {"source", model.reference.reference.source},
               {"passed", model.verification.passed()},
               {"failed", model.verification.failed()},
               {"runs", model.verification.runs},
               {"values", values}};
    if (!model.problem.empty()) entry["problem"] = model.problem;
    list.push_back(std::move(entry));
  }
  return io::json_text({{"passed", passed}, {"failed", failed}, {"models", list}});
}

}  // namespace judder::tasks
