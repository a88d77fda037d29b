#include "judder/analysis/verify.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "analysis/quantity.hpp"
#include "judder/analysis/rest_survey.hpp"
#include "judder/core/number.hpp"
#include "judder/core/patience.hpp"
#include "judder/engines/registry.hpp"

namespace judder::analysis {

bool Structure::fits(const std::vector<std::pair<std::string, std::string>>& modes) const {
  for (const auto& [place, word] : words) {
    const auto found = std::find_if(modes.begin(), modes.end(),
                                    [&place = place](const auto& mode) { return mode.first == place; });
    if (found == modes.end()) return false;
    if (found->second != word && !(word == "slip" && found->second.rfind("slip", 0) == 0)) return false;
  }
  return true;
}

namespace {

/// Further rows in the interval of an extremum or mean: what the model's own samples give is too coarse for references.
constexpr int kRowsOverTime = 8192;

std::string text_of(const model::Value& value) {
  return value.number ? to_text(*value.number) : value.text.text;
}

/// What one further row of a run costs of the budget: about a microsecond, as much as this many steps of compiling.
constexpr std::size_t kWorkOfARow = 20;

/// A run that one or several values are read from.
struct Run {
  const Writing* writing = nullptr;
  std::vector<std::string> variants;
  std::vector<model::Named> set;
  std::vector<model::Named> run;  ///< keys of [run] for this run alone
  model::Value until;
  std::vector<std::size_t> outcomes;  ///< numbers of the outcomes that are read from it

  /// Equal for equal runs, and what a reader wants to know of it.
  [[nodiscard]] std::string title() const {
    std::string out = writing->name;
    for (const std::string& variant : variants) out += ", variant " + variant;
    for (const model::Named& named : set) out += ", " + named.name.text + "=" + text_of(named.value);
    for (const model::Named& named : run) out += ", " + named.name.text + " " + text_of(named.value);
    if (until.given) out += ", until " + text_of(until);
    return out;
  }
};

/// Replaces keys of [run]; returns what is wrong with them.
std::optional<Misnamed> replace(model::Run& run, const std::vector<model::Named>& keys) {
  const std::map<std::string, model::Value*> values{
      {"from", &run.from}, {"until", &run.until},       {"tolerance", &run.tolerance},
      {"step", &run.step}, {"max_step", &run.max_step}, {"max_events", &run.max_events}};
  const std::map<std::string, model::Text*> words{{"engine", &run.engine},
                                                  {"method", &run.method},
                                                  {"on_accumulation", &run.on_accumulation},
                                                  {"on_painleve", &run.on_painleve},
                                                  {"on_indeterminate", &run.on_indeterminate}};
  for (const model::Named& key : keys) {
    if (const auto value = values.find(key.name.text); value != values.end())
      *value->second = key.value;
    else if (const auto word = words.find(key.name.text); word != words.end())
      *word->second = key.value.text;
    else if (const std::size_t dot = key.name.text.find('.'); dot != std::string::npos) {
      // "moreau.theta": a key of [run.moreau]; whether there is one is asked when the model is compiled.
      model::Named own = key;
      own.name.text = key.name.text.substr(dot + 1);
      const std::string engine = key.name.text.substr(0, dot);
      auto table = std::find_if(run.engines.begin(), run.engines.end(),
                                [&](const model::EngineTable& each) { return each.name.text == engine; });
      if (table == run.engines.end()) {
        table = run.engines.insert(table, model::EngineTable{});
        table->name = key.name;
        table->name.text = engine;
      }
      std::erase_if(table->values, [&](const model::Named& each) { return each.name.text == own.name.text; });
      table->values.push_back(own);
    } else {
      std::vector<std::string> known;
      for (const auto& [name, value_of] : values) known.push_back(name);
      for (const auto& [name, word_of] : words) known.push_back(name);
      return Misnamed{key.name.span, "[run] has no key '" + key.name.text + "' that a reference may replace",
                      suggestion(key.name.text, known)};
    }
  }
  return std::nullopt;
}

/// Where the engine of a run is named, if it is.
Span place_of_engine(const std::vector<model::Named>& keys) {
  for (const model::Named& key : keys) {
    if (key.name.text == "engine") return key.name.span;
  }
  return {};
}

std::string first_error(const Diagnostics& diagnostics) {
  for (const Diagnostic& message : diagnostics.all()) {
    if (message.severity == Severity::error) return message.where + ": " + message.message;
  }
  return "the model has errors";
}

/// The parameter or start value called `name`.
std::optional<double> find_value(const model::Compiled& compiled, const std::string& name) {
  for (const auto& [known, value] : compiled.parameters) {
    if (known == name) return value;
  }
  const model::System& system = *compiled.system;
  const model::Layout& layout = system.layout();
  const auto search = [&](const std::vector<std::string>& names, const std::string& wanted,
                          int first) -> std::optional<double> {
    const auto found = std::find(names.begin(), names.end(), wanted);
    if (found == names.end()) return std::nullopt;
    return system.start()[static_cast<std::size_t>(first + (found - names.begin()))];
  };
  if (!name.empty() && name.back() == '\'')
    return search(system.coordinate_names(), name.substr(0, name.size() - 1), layout.v());
  if (const auto position = search(system.coordinate_names(), name, layout.q())) return position;
  return search(system.state_names(), name, layout.z());
}

/// Numbers that differ late need many digits, those that differ at once few.
std::string apart(double computed, double expected) {
  return to_text(computed, 15) + " instead of " + to_text(expected, 15) + ", off by " +
         to_text(computed - expected, 3);
}

/// What a reference sets that the model does not say itself: a run that is made already is not made again.
std::vector<model::Named> differing(const ReferenceValue& value, const model::Spec& spec) {
  std::vector<model::Named> out = value.set;
  if (!value.variants.empty()) return out;
  std::erase_if(out, [&spec](const model::Named& named) {
    return std::any_of(spec.parameters.begin(), spec.parameters.end(), [&](const model::Parameter& known) {
      return known.name.text == named.name.text && known.value.number && named.value.number &&
             *known.value.number == *named.value.number;
    });
  });
  return out;
}

/// Expressions by the parameters of one run: equal texts are evaluated once.
class Numbers {
 public:
  Numbers(const model::Compiled& model, Work& budget, const std::atomic<bool>* cancel)
      : model_(model), budget_(budget), cancel_(cancel) {}

  /// Nothing if it is not given, or has no finite value: then `fault` says so, unless there is one already.
  std::optional<double> of(const model::Value& value, std::optional<Misnamed>& fault) {
    if (!value.given) return std::nullopt;
    const auto [at, fresh] = known_.try_emplace(value.text.text);
    if (fresh) {
      // Its formulas are given back with it; the operations are those of the reference.
      WorkLimits left = budget_.limits();
      left.operations -= budget_.spent();
      Work own(left, cancel_);
      try {
        at->second.number = evaluate(value, model_, own, at->second.problem);
      } catch (const WorkStopped&) {
        budget_.spend(static_cast<std::size_t>(own.spent()));
        throw;
      }
      budget_.spend(static_cast<std::size_t>(own.spent()));
    }
    if (!at->second.problem.empty() && !fault) fault = Misnamed{value.text.span, at->second.problem, {}};
    return at->second.number;
  }

 private:
  struct Known {
    std::optional<double> number;
    std::string problem;
  };
  const model::Compiled& model_;
  Work& budget_;
  const std::atomic<bool>* cancel_;
  std::map<std::string, Known> known_;
};

class Verifier {
 public:
  Verifier(const Reference& reference, const std::vector<Writing>& writings, const VerifyOptions& options)
      : reference_(reference),
        writings_(writings),
        options_(options),
        budget_(options.work, options.cancel) {}

  Verification verify() {
    try {
      make_runs();
    } catch (const WorkStopped& stop) {
      stopped(stop);
    }
    interleave();
    return std::move(out_);
  }

 private:
  void make_runs() {
    for (const ReferenceValue& value : reference_.values) assign(value);
    for (const std::string& key : order_) {
      const Run& run = runs_.at(key);
      simulate(run);
      budget_.spend(0);  // throws if nobody waits for more
      if (out_.faults.errors() >= options_.work.errors) break;
      const auto off = [this](std::size_t k) {
        const auto twin = exact_.find(k);
        return out_.outcomes[k].verdict == Verdict::off ||
               (twin != exact_.end() && twin->second.verdict == Verdict::off);
      };
      if (options_.first_failure && std::any_of(run.outcomes.begin(), run.outcomes.end(), off)) break;
    }
  }

  void stopped(const WorkStopped& stop) {
    if (stop.reason == WorkStopped::Reason::cancelled) {
      out_.cancelled = true;
      return;
    }
    const bool memory = stop.reason == WorkStopped::Reason::nodes;
    const double limit = memory ? options_.work.nodes : options_.work.operations;
    out_.faults.error(reading_ != nullptr ? reading_->span : Span{}, "reference",
                      "the reference is too large: up to this value it needs more than " +
                          std::to_string(static_cast<long>(limit)) +
                          (memory ? " formulas" : " operations for expressions, rows and compiling"),
                      "write numbers in place of long sums, and less in one file");
  }

  /// A value asks for what there is not. The same of another writing is not said again.
  void blame(std::size_t k, Misnamed fault) {
    const ReferenceValue& value = *out_.outcomes[k].value;
    out_.outcomes[k].why = fault.message + (fault.help.empty() ? "" : "; " + fault.help);
    const Span span = fault.span.empty() ? value.span : fault.span;
    if (out_.faults.errors() >= options_.work.errors) return;
    if (!blamed_.insert({&value, span.begin, fault.message}).second) return;
    out_.faults.error(span, "value '" + value.label + "'", std::move(fault.message), std::move(fault.help));
  }

  /// All values of a run, for a key that it gets from several of them or from the reference: said once.
  void blame_all(const Run& run, const Misnamed& fault) {
    for (const std::size_t k : run.outcomes)
      out_.outcomes[k].why = fault.message + (fault.help.empty() ? "" : "; " + fault.help);
    if (!blamed_.insert({nullptr, fault.span.begin, fault.message}).second) return;
    out_.faults.error(fault.span, "reference", fault.message, fault.help);
  }

  /// Outcomes of the exact engine behind those of the event-driven one.
  void interleave() {
    std::vector<Outcome> all;
    for (std::size_t k = 0; k < out_.outcomes.size(); ++k) {
      all.push_back(std::move(out_.outcomes[k]));
      const auto twin = exact_.find(k);
      if (twin != exact_.end()) all.push_back(std::move(twin->second));
    }
    out_.outcomes = std::move(all);
  }

  void assign(const ReferenceValue& value) {
    bool found = false;
    for (std::size_t w = 0; w < writings_.size(); ++w) {
      const Writing& writing = writings_[w];
      const bool meant = value.model.empty() ? w == 0 || !value.only : value.model == writing.name;
      if (!meant) continue;
      found = true;
      Run run{&writing, value.variants, differing(value, writing.spec), value.run, value.until, {}};
      const std::string key = run.title();
      const auto [place, fresh] = runs_.emplace(key, std::move(run));
      if (fresh) order_.push_back(key);
      place->second.outcomes.push_back(out_.outcomes.size());
      add(value, writing.name, key, "the run was not made");
    }
    if (found) return;
    add(value, value.model, value.model, "");
    std::vector<std::string> known;
    for (const Writing& writing : writings_) known.push_back(writing.name);
    blame(out_.outcomes.size() - 1,
          {value.model_span, "there is no file '" + value.model + "'", suggestion(value.model, known)});
  }

  void add(const ReferenceValue& value, const std::string& model, const std::string& run,
           const std::string& why) {
    Outcome outcome;
    outcome.value = &value;
    outcome.model = model;
    outcome.quantity = quantity_in_words(value);
    outcome.run = run;
    outcome.why = why;
    out_.outcomes.push_back(std::move(outcome));
  }

  void fail(const Run& run, const std::string& why) {
    for (const std::size_t k : run.outcomes) out_.outcomes[k].why = why;
  }

  void simulate(const Run& run) {
    model::Spec spec = run.writing->spec;
    for (const std::vector<model::Named>* keys : {&reference_.run, &run.run}) {
      if (const auto fault = replace(spec.run, *keys)) return blame_all(run, *fault);
    }
    if (run.until.given) spec.run.until = run.until;
    reading_ = out_.outcomes[run.outcomes.front()].value;
    model::CompileOptions how;
    how.variants = run.variants;
    how.set = run.set;
    how.engine = options_.engine;
    how.cancel = options_.cancel;
    // A name that is no engine has a message of its own, with its place in the reference.
    const std::vector<std::string>& engines_known = simulate::engine_names();
    if (spec.run.engine.empty() ||
        std::find(engines_known.begin(), engines_known.end(), spec.run.engine.text) != engines_known.end())
      how.engines = engines::engine_words();
    model::Compiled compiled = model::compile(spec, how);
    budget_.spend(static_cast<std::size_t>(compiled.work));
    if (!compiled.system && !compiled.cancelled && out_.invalid_run.empty()) {
      out_.invalid_run = run.title() + ": " + first_error(compiled.diagnostics);
      if (run.variants.empty() && run.set.empty()) {
        out_.invalid_model = run.writing->name;
        out_.diagnostics = compiled.diagnostics;
      }
    }
    if (compiled.system && options_.perturb) {
      const Perturbation& change = *options_.perturb;
      if (const auto value = find_value(compiled, change.name)) {
        how.set.push_back({change.name, *value * change.factor});
        compiled = model::compile(spec, how);
        budget_.spend(static_cast<std::size_t>(compiled.work));
      }
    }
    if (!compiled.system) return fail(run, first_error(compiled.diagnostics));
    const model::System& system = *compiled.system;
    if (!std::isfinite(compiled.run.until)) return fail(run, "there is no end time: [run] has no 'until'");
    if (const std::string problem = simulate::engine_problem(system, compiled.run.engine); !problem.empty()) {
      Span place = place_of_engine(run.run);
      if (place.empty()) place = place_of_engine(reference_.run);
      const std::vector<std::string>& known = simulate::engine_names();
      const bool asked_for = options_.engine.empty() && !place.empty();
      if (!asked_for || std::find(known.begin(), known.end(), compiled.run.engine) != known.end())
        return fail(run, problem);
      return blame_all(run, {place, problem, suggestion(compiled.run.engine, known)});
    }

    engines::EngineOptions engine = engines::options_of(compiled.run);
    engine.event_rows = true;
    engine.cancel = engine.abandon = options_.cancel;
    std::set<double> instants;
    std::vector<Instants> needed;
    Numbers numbers(compiled, budget_, options_.cancel);
    const std::vector<std::string> columns = simulate::MemorySink(system).names;
    for (const std::size_t k : run.outcomes) {
      const ReferenceValue& value = *out_.outcomes[k].value;
      reading_ = &value;
      needed.emplace_back();
      if (auto fault = find_misnamed(value, system, columns)) {
        blame(k, std::move(*fault));
        continue;
      }
      Instants own;
      std::optional<Misnamed> fault;
      own.at = numbers.of(value.at, fault);
      own.from = numbers.of(value.from, fault);
      own.to = numbers.of(value.to, fault);
      own.exact = numbers.of(value.exact, fault);
      if (!fault && own.exact && !std::isfinite(value.relative * std::abs(*own.exact)))
        fault = Misnamed{value.relative_span,
                         "'relative' allows " + to_text(value.relative, 4) + " times " +
                             to_text(*own.exact, 4) + ", which is too large for a number",
                         {}};
      if (fault) {
        blame(k, std::move(*fault));
        continue;
      }
      for (const std::optional<double>& time : {own.at, own.from, own.to}) {
        if (time && *time >= engine.from && *time <= engine.until) instants.insert(*time);
      }
      const bool over_time = value.quantity == Quantity::minimum || value.quantity == Quantity::maximum ||
                             value.quantity == Quantity::mean;
      if (over_time) {
        const double begin = own.from.value_or(engine.from);
        const double length = own.to.value_or(engine.until) - begin;
        std::size_t fresh = 0;
        for (int i = 1; i < kRowsOverTime; ++i)
          fresh += instants.insert(begin + length * (static_cast<double>(i) / kRowsOverTime)).second ? 1 : 0;
        budget_.spend(fresh * kWorkOfARow);
      }
      needed.back() = own;
      needed.back().usable = true;
    }
    if (!rests(run, spec, how, compiled, needed)) return;
    engine.instants.assign(instants.begin(), instants.end());

    const bool twice = options_.both_engines && options_.engine.empty() && compiled.run.engine == "event" &&
                       engines::ExactEngine::unsupported(system).empty();
    if (twice) {
      for (const std::size_t k : run.outcomes) {
        if (out_.outcomes[k].value->quantity != Quantity::rest) exact_[k] = out_.outcomes[k];
      }
      read(run, simulate::simulate(system, engine, "exact"), compiled, needed);
    }
    read(run, simulate::simulate(system, engine, compiled.run.engine), compiled, needed);
  }

  /// The values of rest states, which need no run. False: there are no others that could be read.
  bool rests(const Run& run, const model::Spec& spec, const model::CompileOptions& how,
             const model::Compiled& compiled, const std::vector<Instants>& needed) {
    bool others = false, any = false;
    for (std::size_t i = 0; i < run.outcomes.size(); ++i) {
      const bool rest = out_.outcomes[run.outcomes[i]].value->quantity == Quantity::rest;
      others = others || (needed[i].usable && !rest);
      any = any || (needed[i].usable && rest);
    }
    if (!any) return others;
    RestSurvey survey;
    EquilibriaProblem problem;
    RestSurveyOptions options;
    options.forces = false;
    options.rests.cancel = options_.cancel;
    options.rests.limit = 1000;
    try {
      survey_rests(*compiled.system, spec, how, compiled.run, options, survey, problem);
    } catch (const Abandoned&) {
      throw WorkStopped{WorkStopped::Reason::cancelled};
    }
    for (std::size_t i = 0; i < run.outcomes.size(); ++i) {
      Outcome& outcome = out_.outcomes[run.outcomes[i]];
      if (outcome.value->quantity != Quantity::rest || !needed[i].usable) continue;
      RestReading reading{{}, {}, problem.message};
      if (problem.message.empty())
        reading = read_rest(survey, outcome.value->subject, outcome.value->number, outcome.value->field);
      judge(outcome, {reading.number, reading.words, reading.problem}, needed[i].exact);
    }
    return others;
  }

  /// The values of one run; those of a repetition by the exact engine are kept apart.
  void read(const Run& run, const simulate::Result& result, const model::Compiled& compiled,
            const std::vector<Instants>& needed) {
    const model::System& system = *compiled.system;
    const bool repetition = result.engine == "exact" && compiled.run.engine == "event";
    ++out_.runs;
    for (std::size_t i = 0; i < run.outcomes.size(); ++i) {
      if (out_.outcomes[run.outcomes[i]].value->quantity == Quantity::rest) continue;  // it has been read
      Outcome& outcome = repetition ? exact_[run.outcomes[i]] : out_.outcomes[run.outcomes[i]];
      outcome.engine = result.engine;
      if (!needed[i].usable) continue;  // it has been said why
      budget_.spend(0);                 // a look through many rows for each of many values
      const Reading reading = read_quantity(*outcome.value, needed[i], system, result);
      judge(outcome, reading, needed[i].exact);
      const Status& status = result.end.status;
      if (!result.end.verdict.silent() && outcome.verdict != Verdict::off) {
        // A value that comes out right by a motion that is wrong is no proof.
        outcome.verdict = Verdict::off;
        outcome.why = "the motion is wrong";
      }
      if (outcome.verdict == Verdict::off && !status.ok())
        outcome.why += "; the run ended at " + to_text(status.time, 10) + ", " + judder::name(status.reason) +
                       ": " + status.message;
    }
  }

  static void judge(Outcome& outcome, const Reading& reading, std::optional<double> exact) {
    const ReferenceValue& value = *outcome.value;
    outcome.why = reading.problem;
    if (!reading.problem.empty()) return;
    if (reading.words) outcome.computed_text = *reading.words;
    outcome.computed = reading.number;
    outcome.exact = exact;
    if (value.text.has_value() != reading.words.has_value()) {
      outcome.why = reading.words ? "'" + *reading.words + "' is no number"
                                  : "a number was found where words are expected";
      return;
    }
    if (value.text) {
      if (*value.text != *reading.words)
        outcome.why = "'" + *reading.words + "' instead of '" + *value.text + "'";
      else
        outcome.verdict = Verdict::ok;
      return;
    }
    const double computed = *reading.number;
    if (outcome.exact) {
      const double allowed = std::max(value.tolerance, value.relative * std::abs(*outcome.exact));
      if (!(std::abs(computed - *outcome.exact) <= allowed)) {
        outcome.why = apart(computed, *outcome.exact) + ", allowed " + to_text(allowed, 3);
        return;
      }
    } else if (!value.published || value.wrong) {
      outcome.why = "the reference gives no value to compare with";
      return;
    }
    if (value.published && !value.wrong &&
        !(std::abs(computed - *value.published) <= value.published_tolerance)) {
      outcome.why = "published: " + apart(computed, *value.published) + ", allowed " +
                    to_text(value.published_tolerance, 3);
      return;
    }
    outcome.verdict = value.published && value.wrong ? Verdict::published_wrong : Verdict::ok;
  }

  const Reference& reference_;
  const std::vector<Writing>& writings_;
  const VerifyOptions& options_;
  Work budget_;                              ///< of the whole reference
  const ReferenceValue* reading_ = nullptr;  ///< that the budget is spent for
  std::set<std::tuple<const ReferenceValue*, std::uint32_t, std::string>> blamed_;
  Verification out_;
  std::map<std::string, Run> runs_;
  std::vector<std::string> order_;
  std::map<std::size_t, Outcome> exact_;  ///< by number of the outcome of the event-driven engine
};

}  // namespace

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::published_wrong:
      return "published wrong";
    case Verdict::off:
      break;
  }
  return "off";
}

std::optional<double> Outcome::deviation() const {
  if (!computed) return std::nullopt;
  if (exact) return *computed - *exact;
  if (value->published) return *computed - *value->published;
  return std::nullopt;
}

int Verification::failed() const {
  return static_cast<int>(std::count_if(outcomes.begin(), outcomes.end(), [](const Outcome& outcome) {
    return outcome.verdict == Verdict::off;
  }));
}

Verification verify(const Reference& reference, const std::vector<Writing>& writings,
                    const VerifyOptions& options) {
  return Verifier(reference, writings, options).verify();
}

}  // namespace judder::analysis
