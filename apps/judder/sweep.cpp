#include "judder/tasks/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "judder/core/number.hpp"
#include "judder/io/csv.hpp"
#include "judder/io/sweep_json.hpp"
#include "many.hpp"
#include "verbs.hpp"

namespace judder::app {
namespace {

using analysis::Plan;

/// The members of a file with one row for each.
std::optional<Plan> plan_of_table(const std::string& name, std::vector<std::string> variants) {
  std::ifstream in(name, std::ios::binary);
  if (!in) {
    print_message(name + ": cannot be read");
    return std::nullopt;
  }
  io::CsvReader csv(in);
  const auto failed = [&](std::size_t line, const std::string& why) {
    print_message(name + ":" + std::to_string(line) + ": " + why,
                  "the first line names parameters and start values, each other one is a run");
    return std::nullopt;
  };
  std::vector<std::string> names;
  std::vector<double> values;
  while (csv.next()) {
    if (names.empty()) {
      for (std::size_t i = 0; i < csv.size(); ++i) {
        names.emplace_back(csv.field(i));
        if (std::find(names.begin(), names.end() - 1, names.back()) != names.end() - 1)
          return failed(csv.line(), "there are two columns '" + names.back() + "'");
      }
      continue;
    }
    for (std::size_t i = 0; i < csv.size(); ++i) {
      const std::optional<double> value = io::csv_number(csv.field(i));
      if (!value || !std::isfinite(*value))
        return failed(csv.line(), "'" + std::string(csv.field(i)) + "' is no finite number");
      values.push_back(*value);
    }
  }
  if (csv.error()) return failed(csv.error()->line, csv.error()->message);
  if (values.empty()) return failed(1, "there are no rows");
  return Plan::rows(std::move(names), std::move(values), std::move(variants));
}

/// All variants of the model, or those that are named. False after an error, which has been printed.
bool read_variants(const Arguments& arguments, const io::ModelRequest& model, std::vector<std::string>& out) {
  if (!arguments.has("--variants")) return true;
  const std::string text = arguments.text("--variants");
  const io::ModelFile file = io::read_model(model.file);
  for (const model::Variant& variant : file.spec.variants) {
    if (text == "all") out.push_back(variant.name.text);
  }
  if (text != "all") {
    std::string name;
    for (const char c : text + ",") {
      if (c != ',') {
        name += c;
        continue;
      }
      out.push_back(name);
      name.clear();
      const bool known =
          std::any_of(file.spec.variants.begin(), file.spec.variants.end(),
                      [&](const model::Variant& each) { return each.name.text == out.back(); });
      if (known || !file.parsed) continue;
      std::string names;
      for (const model::Variant& each : file.spec.variants)
        names += (names.empty() ? "" : ", ") + each.name.text;
      usage_error("--variants: the model has no variant '" + out.back() + "'",
                  names.empty() ? "" : "variants here: " + names);
      return false;
    }
  }
  if (!out.empty() || !file.parsed) return true;  // what is wrong with the file is told when it is loaded
  usage_error("the model has no variants");
  return false;
}

std::optional<Plan> read_plan(const Arguments& arguments, const io::ModelRequest& model) {
  std::vector<std::string> variants;
  if (!read_variants(arguments, model, variants)) return std::nullopt;
  const bool random = arguments.has("--random"), table = arguments.has("--table");
  if (!not_both(arguments, "--random", "--table") || !means_something(arguments, {"--seed"}, "--random"))
    return std::nullopt;
  if (table) {
    if (arguments.positionals.size() > 1) {
      usage_error("--table has the values of all members; there are others beside it");
      return std::nullopt;
    }
    return plan_of_table(arguments.text("--table"), std::move(variants));
  }
  auto axes = read_axes(arguments, random);
  if (!axes) return std::nullopt;
  if (random) {
    constexpr long kMost = 1'000'000'000;
    long count = 0, seed = 1;
    if (!read_count(arguments, "--random", 1, kMost, count) ||
        !read_count(arguments, "--seed", 0, std::numeric_limits<int>::max(), seed))
      return std::nullopt;
    if (axes->empty()) {
      usage_error("--random needs ranges", "for example judder sweep model.toml mu=0.1:0.5 --random 1000");
      return std::nullopt;
    }
    return Plan::random(std::move(*axes), static_cast<std::size_t>(count), static_cast<std::uint64_t>(seed),
                        std::move(variants));
  }
  if (axes->empty() && variants.empty()) {
    usage_error("there is nothing to go over",
                "give values, om=0.6:1.6:200 or mu=0.1,0.2, or --variants all, --table FILE, --random N");
    return std::nullopt;
  }
  return Plan::grid(std::move(*axes), std::move(variants));
}

int ended(const Arguments& arguments, const tasks::RunsReport& swept, const std::string& output) {
  if (arguments.has("--json")) {
    print(io::sweep_json({output, swept.members, swept.made.made, swept.failed, swept.first_failure,
                          swept.made.seconds, swept.compile_seconds}));
  } else {
    print_beside(output);
    const bool joined = arguments.has("--join");
    print((joined ? std::to_string(swept.members) + " runs joined"
                  : pace_text(swept.made.made, swept.made.seconds)) +
          ", " +
          (swept.failed == 0 ? "all ended well"
                             : std::to_string(swept.failed) + " of " + std::to_string(swept.members) +
                                   " did not end well; the first: " + swept.first_failure) +
          "\n");
    if (swept.doubtful > 0)
      print(std::to_string(swept.doubtful) + " of " + std::to_string(swept.members) +
            " ended well with a message; the first: " + swept.first_doubt + "\n");
  }
  return kDone;
}

int join(const Arguments& arguments) {
  if (!arguments.has("--output"))
    return usage_error("--join needs the table: -o FILE",
                       "judder sweep --join a.csv.1-of-2 a.csv.2-of-2 -o a.csv");
  std::vector<std::filesystem::path> parts(arguments.positionals.begin(), arguments.positionals.end());
  const std::string output = arguments.text("--output");
  const tasks::RunsReport joined = tasks::join_runs(parts, output);
  if (joined.stage != tasks::RunsStage::ended) return many_failed(joined);
  return ended(arguments, joined, output);
}

}  // namespace

int run_sweep(const Arguments& arguments) {
  if (arguments.has("--join")) return join(arguments);
  const auto many = many_request(arguments);
  if (!many) return kUsage;
  if (!arguments.has("--output"))
    return usage_error("a sweep needs the name of its table", "-o sweep.csv, or .npy or .npz for NumPy");
  if (!arguments.has("--collect"))
    return usage_error("a sweep needs to know what to keep of each run",
                       "for example --collect \"max(x), end(x'), count(impact)\"");
  std::optional<Plan> plan = read_plan(arguments, many->model);
  if (!plan) return kUsage;
  tasks::RunsRequest request{.many = *many, .plan = std::move(*plan), .collect = arguments.text("--collect")};
  std::optional<double> after;
  if (!read_number(arguments, "--after", after)) return kUsage;
  request.after = after.value_or(-std::numeric_limits<double>::infinity());
  request.output = arguments.text("--output");
  request.folders = arguments.text("--folders");
  std::unique_ptr<tasks::Machines> machines;
  if (!join_processes(machines)) return kUsage;
  request.many.machines = machines.get();
  show_progress_of(request.many, request.plan.size());

  const tasks::RunsReport swept = tasks::sweep_runs(request);
  if (request.many.progress) end_progress();
  const bool first = machines == nullptr || machines->rank() == 0;
  if (swept.stage == tasks::RunsStage::part_done) {
    if (first && request.many.parts > 1)
      print_beside(swept.records.string() + ": part " + std::to_string(request.many.part) + " of " +
                   std::to_string(request.many.parts) + " is done");
    return kDone;
  }
  if (swept.stage != tasks::RunsStage::ended) return first ? many_failed(swept) : kInputOutput;
  return ended(arguments, swept, arguments.text("--output"));
}

}  // namespace judder::app
