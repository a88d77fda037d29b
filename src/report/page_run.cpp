#include "report/page_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "io/base64.hpp"
#include "judder/core/number.hpp"
#include "judder/io/json.hpp"
#include "judder/io/run_head.hpp"
#include "report/axis_label.hpp"
#include "report/put_curve.hpp"
#include "report/read_thinned.hpp"

namespace judder::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostEvents = 10'000;
constexpr std::size_t kMostLoads = 2'000;

/// Of a document that may be of another program or version: what is not there is null.
const Json& member(const Json& object, const char* key) {
  static const Json kNone;
  if (!object.is_object()) return kNone;
  const auto found = object.find(key);
  return found == object.end() ? kNone : *found;
}
std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}
double number_of(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}
std::string shown(const Json& value) {
  return value.is_number() ? to_text(value.get<double>(), 6) : text_of(value);
}

std::string end_words(const Json& head) {
  const Json& end = member(head, "end");
  if (!end.is_object()) return "unknown end";
  const std::string reason = text_of(member(end, "reason")), where = text_of(member(end, "where")),
                    message = text_of(member(end, "message"));
  std::string out = reason.empty() ? "ended" : reason;
  out += " at t = " + shown(member(end, "time"));
  if (!where.empty()) out += ", " + where;
  if (!message.empty()) out += ": " + message;
  return out;
}

Json referee_of(const Json& head) {
  const Json& referee = member(head, "referee");
  Json out{{"words", "not looked at by the referee"}, {"ok", true}, {"findings", Json::array()}};
  if (!referee.is_object()) return out;
  double checks = 0;
  const Json& laws = member(referee, "laws");
  for (const auto& law : laws) checks += std::max(0.0, number_of(member(law, "checks")));
  const Json& findings = member(referee, "findings");
  for (const Json& f : findings) {
    out["findings"].push_back(text_of(member(f, "law")) + " at " + text_of(member(f, "place")) +
                              ", t = " + shown(member(f, "time")) + ": " + shown(member(f, "worst_ratio")) +
                              " times what is allowed");
  }
  const std::size_t broken = out["findings"].size();
  out["ok"] = broken == 0;
  out["words"] = broken == 0
                     ? "referee: no law broken, " + to_text(checks, 7) + " checks of " +
                           std::to_string(laws.size()) + " laws"
                     : "referee: " + std::to_string(broken) + (broken == 1 ? " law" : " laws") + " broken";
  return out;
}

Json about_of(const Json& head, const io::RunHead& names, std::size_t rows) {
  Json out = Json::array();
  const auto add = [&out](const std::string& key, const std::string& value) {
    if (!value.empty()) out.push_back({key, value});
  };
  const auto listed = [](const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
  };
  const std::size_t slash = names.file.find_last_of('/');
  add("model", slash == std::string::npos ? names.file : names.file.substr(slash + 1));
  add("variants", listed(names.variants));
  add("settings", listed(names.settings));
  const Json& options = member(head, "options");
  add("engine", names.engine + (member(options, "tolerance").is_number()
                                    ? ", tolerance " + shown(member(options, "tolerance"))
                                    : std::string()));
  add("time", shown(member(options, "from")) + " to " + shown(member(options, "until")));
  const Json& counts = member(head, "counts");
  add("counts", shown(member(counts, "events")) + " events, " + shown(member(counts, "impacts")) +
                    " impacts, " + shown(member(counts, "steps")) + " steps, " + std::to_string(rows) +
                    " rows");
  const Json& program = member(head, "program");
  add("made by", text_of(member(program, "name")) + " " + text_of(member(program, "version")));
  return out;
}

Json events_of(const io::RunData& run, std::size_t total) {
  Json time = Json::array(), kind = Json::array(), where = Json::array(), detail = Json::array(),
       normal = Json::array(), tangential = Json::array(), lost = Json::array();
  for (std::size_t i = 0; i < std::min(run.events.size(), kMostEvents); ++i) {
    const io::Event& e = run.events[i];
    time.push_back(e.time);
    kind.push_back(e.kind);
    where.push_back(e.where);
    detail.push_back(e.detail);
    normal.push_back(e.normal_impulse);
    tangential.push_back(e.tangential_impulse[0]);
    lost.push_back(e.energy_before - e.energy_after);
  }
  return {{"time", std::move(time)},     {"kind", std::move(kind)},
          {"where", std::move(where)},   {"detail", std::move(detail)},
          {"normal", std::move(normal)}, {"tangential", std::move(tangential)},
          {"lost", std::move(lost)},     {"total", total}};
}

void put_loads(const Json& head, Json& out) {
  const Json& intervals = member(head, "intervals");
  Json loads = Json::array();
  for (const Json& one : intervals) {
    if (loads.size() == kMostLoads) break;
    loads.push_back({{"contact", text_of(member(one, "contact"))},
                     {"from", number_of(member(one, "from"))},
                     {"to", number_of(member(one, "to"))},
                     {"peak", number_of(member(one, "peak"))},
                     {"impulse", number_of(member(one, "impulse"))}});
  }
  out["loads"] = std::move(loads);
  out["loadsTotal"] = intervals.size();
}

Json works_of(const std::filesystem::path& folder, const ModelFacts& facts) {
  std::string text;
  if (facts.works.empty() || !io::read_state_text(folder, text).ok()) return Json::array();
  const Json state = Json::parse(text, nullptr, false);
  const auto numbers = [&state](const char* key) {
    std::vector<double> out;
    const Json& list = member(state, key);
    if (list.is_array())
      for (const Json& one : list) out.push_back(number_of(one));
    return out;
  };
  return page_works(facts, numbers("dissipated"), numbers("supplied"));
}

std::string kind_of(const std::string& name, const ModelFacts& model) {
  const auto in = [&name](const std::vector<std::string>& list, const std::string& end) {
    return std::any_of(list.begin(), list.end(), [&](const std::string& one) { return one + end == name; });
  };
  return in(model.coordinates, "")    ? "coordinate"
         : in(model.coordinates, "'") ? "velocity"
         : in(model.states, "")       ? "state"
                                      : "output";
}

void append_floats(const std::vector<double>& from, std::vector<float>& to) {
  const std::size_t at = to.size();
  to.resize(at + from.size());
  float* out = to.data() + at;
  for (const double v : from) *out++ = static_cast<float>(v);
}

/// Columns but the time: their heads, and the numbers of all, column by column. Words are numbers of a list.
void put_columns(const io::RunData& run, const ModelFacts& facts, const io::RunHead& names, Json& out,
                 RowNumbers& numbers) {
  Json heads = Json::array();
  numbers = {};
  if (!run.columns.empty()) numbers.columns.reserve(run.columns.size() * run.columns.front().size());
  std::size_t rows = 0;
  for (const io::Column& column : run.columns) {
    rows = column.size();
    if (column.name == "t") {
      numbers.times = column.numbers;
      continue;
    }
    Json head{{"name", column.name}};
    if (const std::string shown = axis_label(names.labels, column.name); shown != column.name)
      head["shown"] = shown;
    if (column.words.empty()) {
      head["kind"] = kind_of(column.name, facts);
      append_floats(column.numbers, numbers.columns);
    } else {
      std::map<std::string, int> words_seen;
      Json words = Json::array();
      for (const std::string& word : column.words) {
        const auto [at, fresh] = words_seen.emplace(word, static_cast<int>(words_seen.size()));
        if (fresh) words.push_back(word);
        numbers.columns.push_back(static_cast<float>(at->second));
      }
      head["kind"] = "mode";
      head["words"] = std::move(words);
    }
    heads.push_back(std::move(head));
  }
  out["columns"] = std::move(heads);
  out["rows"] = rows;
}

}  // namespace

Json page_extremes(const io::RunData& run) {
  Json out = Json::array();
  const io::Column* time = run.find("t");
  if (time == nullptr || !time->words.empty()) return out;
  for (const io::Column& column : run.columns) {
    if (column.name == "t" || column.numbers.empty()) continue;
    const std::size_t count = column.numbers.size();
    const double* const numbers = column.numbers.data();
    std::size_t least = count, most = count;
    for (std::size_t i = 0; i < count; ++i) {
      if (!std::isfinite(numbers[i])) continue;
      if (least == count || numbers[i] < numbers[least]) least = i;
      if (most == count || numbers[i] > numbers[most]) most = i;
    }
    if (least == column.numbers.size()) continue;
    out.push_back({{"name", column.name},
                   {"least", column.numbers[least]},
                   {"leastTime", time->numbers[least]},
                   {"most", column.numbers[most]},
                   {"mostTime", time->numbers[most]}});
  }
  return out;
}

std::size_t most_page_rows(const io::RunData& run) {
  return std::min(kMostPageRows, kMostPageNumbers / std::max<std::size_t>(1, run.columns.size()));
}

Json page_works(const ModelFacts& facts, const std::vector<double>& dissipated,
                const std::vector<double>& supplied) {
  Json out = Json::array();
  if (dissipated.size() != facts.works.size() || supplied.size() != facts.works.size()) return out;
  for (std::size_t i = 0; i < facts.works.size(); ++i)
    out.push_back({{"name", facts.works[i]}, {"dissipated", dissipated[i]}, {"supplied", supplied[i]}});
  return out;
}

Json describe_run(const io::RunData& run, const Json& head, const io::RunHead& names, const ModelFacts& facts,
                  std::size_t rows, RowNumbers& numbers) {
  Json json;
  json["name"] = run.name;
  json["title"] = names.title;
  json["about"] = about_of(head, names, rows);
  const std::string reason = text_of(member(member(head, "end"), "reason"));
  json["ok"] = reason == "done" || reason == "watch" || reason == "periodic" || reason == "accumulation";
  json["end"] = end_words(head);
  json["referee"] = referee_of(head);
  json["allRows"] = rows;
  const double total = number_of(member(member(head, "counts"), "events"));
  json["events"] = events_of(
      run, std::isfinite(total) ? static_cast<std::size_t>(std::max(0.0, total)) : run.events.size());
  json["start"] =
      member(head, "modes_at_start").is_object() ? member(head, "modes_at_start") : Json::object();
  put_loads(head, json);
  json["energy"] = Json::array();
  const Json& energy = member(head, "energy");
  if (energy.is_object()) {
    for (const auto& [name, value] : energy.items()) {
      if (value.is_number()) json["energy"].push_back({name, value});
    }
  }
  json["reactions"] = facts.reactions;
  json["notes"] = Json::array();
  for (const Json& note : member(head, "notes")) json["notes"].push_back(text_of(note));
  put_columns(run, facts, names, json, numbers);
  return json;
}

io::FileStatus page_run(const std::filesystem::path& folder, const std::atomic<bool>* cancel, PageRun& out) {
  io::RunData run;
  std::size_t rows = 0;
  if (io::FileStatus status = read_thinned_run(folder, run, rows, cancel, kMostEvents); !status.ok())
    return status;
  thin_rows(run, most_page_rows(run));
  const io::RunHead names = io::read_run_head(run.run_json);
  const Json head = Json::parse(run.run_json, nullptr, false);
  const std::string text = text_of(member(member(head, "model"), "text"));
  const PageModel model = page_model(text, run, cancel);
  put_curve(run, io::read_curve(run.run_json));
  const Json extremes = page_extremes(run);
  thin_rows(run, most_page_rows(run));
  out.model_title = names.model_title.empty() ? names.title : names.model_title;
  out.plots = names.plots;
  if (!model.compiled)
    out.problems.push_back(folder.string() +
                           ": the model in run.json cannot be compiled by itself, so the page has "
                           "no drawing and no equations");
  RowNumbers numbers;
  Json& json = out.json;
  json = describe_run(run, head, names, model.facts, rows, numbers);
  json["extremes"] = extremes;
  json["work"] = works_of(folder, model.facts);
  json["parameters"] = model.parameters;
  json["equations"] = model.equations;
  json["model"] = text;
  if (model.scene.numbers > 0) {
    json["scene"] = {{"shapes", model.facts.shapes},
                     {"numbers", model.scene.numbers},
                     {"rows", model.scene.times.size()},
                     {"time", io::base64_of(std::span<const double>(model.scene.times))},
                     {"data", io::base64_of(std::span<const float>(model.scene.values))}};
  }
  json["time"] = io::base64_of(std::span<const double>(numbers.times));
  json["data"] = io::base64_of(std::span<const float>(numbers.columns));
  return {};
}

}  // namespace judder::report
