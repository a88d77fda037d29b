#include "judder/io/equilibria.hpp"

#include <algorithm>
#include <cmath>

#include "io/json_values.hpp"
#include "io/text_table.hpp"
#include "judder/core/number.hpp"
#include "judder/io/csv.hpp"

namespace judder::io {
namespace {

using analysis::RestRange;
using analysis::RestState;
using analysis::RestSurvey;
using Json = nlohmann::ordered_json;

/// Rounding of a linear program is not shown.
std::string short_number(double x, double size) { return to_text(std::abs(x) <= 1e-13 * size ? 0 : x, 7); }

std::string counted(std::size_t count, const char* one, const char* several) {
  return std::to_string(count) + " " + (count == 1 ? one : several);
}

std::string range_text(const RestRange& range) {
  const double size = std::max(std::isfinite(range.low) ? std::abs(range.low) : 1,
                               std::isfinite(range.high) ? std::abs(range.high) : 1);
  const bool point =
      std::isfinite(range.low) && std::abs(range.high - range.low) <= 1e-12 * std::max(size, 1e-300);
  const std::string name = in_line(range.name);
  if (point) return name + " = " + short_number(range.low, 1);
  if (!std::isfinite(range.low) && !std::isfinite(range.high)) return name + " any";
  if (!std::isfinite(range.low)) return name + " up to " + short_number(range.high, size);
  if (!std::isfinite(range.high)) return name + " from " + short_number(range.low, size);
  return name + " from " + short_number(range.low, size) + " to " + short_number(range.high, size);
}

std::string statuses(const RestSurvey& survey, const RestState& state) {
  return in_line(analysis::status_words(survey.rest, state));
}

std::string verdict(const analysis::RestJudgement& judgement) {
  std::string out = analysis::name(judgement.stability);
  if (judgement.stability != analysis::Stability::open)
    out += std::string(" (") + analysis::name(judgement.basis) + ")";
  return judgement.ambiguous ? out + ", ambiguous" : out;
}

std::string place_text(const RestSurvey& survey, const RestState& state) {
  std::string out;
  double size = 0;
  for (const double x : state.x) size = std::max(size, std::abs(x));
  constexpr std::size_t kMost = 6;
  for (std::size_t i = 0; i < state.x.size() && i < kMost; ++i) {
    const std::string& name =
        i < survey.rest.n ? survey.rest.coordinates[i] : survey.rest.states[i - survey.rest.n];
    out += (i == 0 ? "" : ", ") + in_line(name) + " = " + short_number(state.x[i], size);
  }
  return state.x.size() > kMost ? out + ", …" : out;
}

std::string reactions_text(const RestSurvey& survey, const RestState& state) {
  std::string out;
  for (std::size_t k = 0; k < state.status.size(); ++k) {
    if (state.normal[k] == 0 && state.tangent[k] == 0) continue;
    const std::string name = in_line(survey.rest.relations[k].name);
    if (survey.rest.relations[k].has_normal)
      out += (out.empty() ? "" : ", ") + ("normal(" + name + ") = ") + to_text(state.normal[k], 7);
    if (!survey.rest.relations[k].tangents.empty())
      out += (out.empty() ? "" : ", ") + ("tangent(" + name + ") = ") + to_text(state.tangent[k], 7);
  }
  return out;
}

std::string margin_text(const analysis::RestJudgement& judgement) {
  if (std::isinf(judgement.margin)) return "no change of the load ends it";
  std::string out = std::string("load margin ") + (judgement.margin_is_bound ? "at least " : "") +
                    to_text(judgement.margin, 6);
  if (!judgement.margin_at.empty()) out += ", then " + in_line(judgement.margin_at);
  for (const analysis::ForceMargin& force : judgement.forces)
    out += "; " + in_line(force.name) + " by " + (force.less == 0 ? "0" : "-" + to_text(force.less, 5)) +
           " to " + (force.more == 0 ? "0" : "+" + to_text(force.more, 5));
  return out;
}

std::string eigenvalue_text(const std::vector<std::complex<double>>& values) {
  std::string out;
  constexpr std::size_t kMost = 6;
  double size = 0;
  for (const auto& each : values) size = std::max(size, std::abs(each));
  for (std::size_t i = 0; i < values.size() && i < kMost; ++i) {
    const auto rounded = [size](double x) { return std::abs(x) < 1e-12 * size ? 0 : x; };
    const double re = rounded(values[i].real()), im = rounded(values[i].imag());
    out += (i == 0 ? "" : ", ") + to_text(re, 5) +
           (im == 0 ? "" : (im > 0 ? " + " : " - ") + to_text(std::abs(im), 5) + "i");
  }
  return values.size() > kMost ? out + ", …" : out;
}

void experiment_text(const analysis::Experiment& e, std::string& out) {
  out += std::string("    experiment: ") + analysis::name(e.stability) + ", " + in_line(e.why) + "\n";
  // The worst of each kind and size; JSON has all of them.
  TextTable table({"disturbance", "size", "largest", "last", "at rest", "farthest after"}, {1, 2, 3});
  std::vector<const analysis::Push*> left;
  for (const analysis::Push& push : e.pushes) left.push_back(&push);
  std::size_t lost = 0;
  while (!left.empty()) {
    const analysis::Push& first = *left.front();
    const analysis::Push* worst = nullptr;
    double last = 0;
    std::size_t still = 0, count = 0;
    const auto same = [&](const analysis::Push* push) {
      return push->kind == first.kind && push->size == first.size;
    };
    for (const analysis::Push* push : left) {
      if (!same(push)) continue;
      if (!push->problem.empty()) {
        ++lost;
        continue;
      }
      ++count;
      still += push->at_rest ? 1 : 0;
      last = std::max(last, push->last);
      if (worst == nullptr || push->largest > worst->largest) worst = push;
    }
    if (worst != nullptr)
      table.add({analysis::name(first.kind), to_text(first.size, 3), to_text(worst->largest, 4),
                 to_text(last, 4), std::to_string(still) + " of " + std::to_string(count), worst->what});
    const double size = first.size;
    const analysis::Push::Kind kind = first.kind;
    std::erase_if(left, [&](const analysis::Push* push) { return push->kind == kind && push->size == size; });
  }
  std::string text = table.text();
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = text.find('\n', from);
    out += "      " + text.substr(from, end - from + 1);
    from = end + 1;
  }
  if (lost > 0)
    out += "      " + std::to_string(lost) + " pushes could not be followed to the end; --json says why\n";
}

void judged_text(const RestSurvey& survey, const RestSurvey::Judged& judged, std::string& out) {
  out += "  " + in_line(judged.where) + ": " + statuses(survey, judged.state) + "\n";
  out += "    at " + place_text(survey, judged.state);
  const std::string reactions = reactions_text(survey, judged.state);
  out += (reactions.empty() ? "" : "; " + reactions) + "\n";
  const analysis::RestJudgement& j = judged.judgement;
  out += "    " + verdict(j) + ": " + in_line(j.why) + "\n";
  out += "    " + margin_text(j) + "\n";
  if (!j.eigenvalues.empty()) out += "    eigenvalues " + eigenvalue_text(j.eigenvalues) + "\n";
  if (j.critical_scale) {
    out += std::string("    ") + (j.flutter ? "flutter" : "divergence") + " sets in ";
    out += j.critical_mu ? "at the coefficient " + to_text(*j.critical_mu, 8)
                         : "where the coefficients of what slides are " + to_text(*j.critical_scale, 8) +
                               " times theirs";
    out += "\n";
  }
  for (const std::string& mode : j.other_modes) out += "    may also begin: " + in_line(mode) + "\n";
  if (judged.experiment) experiment_text(*judged.experiment, out);
}

std::string search_text(const RestSurvey& survey) {
  const analysis::RestSearch& search = *survey.search;
  std::string out =
      "at t = " + to_text(survey.time, 9) + ": " + counted(search.rests.size(), "rest state", "rest states") +
      " found from " + std::to_string(search.starts) + " starts for each of " +
      std::to_string(search.choices) +
      " choices of statuses\nThe model is not affine at rest: there may be others (a search proves nothing)";
  if (search.left_out > 0)
    out += "; " + std::to_string(search.left_out) + " places were left as they are at the start";
  out += "\n";
  std::size_t number = 0;
  for (const analysis::FoundRest& rest : search.rests) {
    out += "\n" + std::to_string(++number) + "  " + (rest.pseudo ? "pseudo-equilibrium" : "rest");
    for (const auto& [place, word] : rest.words)
      out += (&place == &rest.words.front().first ? ": " : ", ") + in_line(place) + " " + in_line(word);
    out += "\n  at";
    for (std::size_t i = 0; i < rest.state.x.size(); ++i) {
      const bool family = !rest.family.empty();
      out += i == 0 ? " " : ", ";
      out += in_line(family ? range_text(rest.family[i])
                            : search.names[i] + " = " + to_text(rest.state.x[i], 9));
    }
    for (const double share : rest.share) out += "; share of the upper side " + to_text(share, 6);
    if (rest.dimension > 0) {
      out += "\n  a family of dimension " + std::to_string(rest.dimension);
      for (std::size_t i = rest.state.x.size(); i < rest.family.size(); ++i)
        out += ", " + in_line(range_text(rest.family[i]));
      if (rest.dimension > 1) out += " (local extremes)";
      if (!rest.whole) out += " (lost on the way: it may be larger)";
    }
    for (const analysis::FoundRest::End& end : rest.ends) {
      out += "\n  to " + in_line(end.meaning) + " at";
      for (std::size_t i = 0; i < end.state.x.size(); ++i)
        out += (i == 0 ? " " : ", ") + in_line(search.names[i]) + " = " + to_text(end.state.x[i], 9);
    }
    out += std::string("\n  ") + analysis::name(rest.stability) + ": " + in_line(rest.why) + "\n";
    if (!rest.eigenvalues.empty()) out += "  eigenvalues " + eigenvalue_text(rest.eigenvalues) + "\n";
    if (rest.experiment) experiment_text(*rest.experiment, out);
  }
  return out;
}

Json state_json(const RestSurvey& survey, const RestState& state) {
  Json out = Json::object(), x = Json::object(), status = Json::object(), normal = Json::object(),
       tangent = Json::object(), gap = Json::object(), reserve = Json::object();
  for (std::size_t i = 0; i < state.x.size(); ++i)
    x[i < survey.rest.n ? survey.rest.coordinates[i] : survey.rest.states[i - survey.rest.n]] =
        json_number(state.x[i]);
  for (std::size_t k = 0; k < state.status.size(); ++k) {
    const analysis::RestProblem::Relation& relation = survey.rest.relations[k];
    status[relation.name] = analysis::name(state.status[k]);
    if (relation.has_normal) normal[relation.name] = json_number(state.normal[k]);
    if (relation.unilateral) gap[relation.name] = json_number(state.gap[k]);
    if (relation.tangents.empty()) continue;
    tangent[relation.name] = json_number(state.tangent[k]);
    reserve[relation.name] = json_number(state.reserve[k]);
  }
  out["x"] = x;
  out["status"] = status;
  out["normal"] = normal;
  out["tangent"] = tangent;
  out["gap"] = gap;
  out["reserve"] = reserve;
  return out;
}

Json complex_json(const std::vector<std::complex<double>>& values) {
  return list_of(values, [](const auto& value) {
    return Json::array({json_number(value.real()), json_number(value.imag())});
  });
}

Json experiment_json(const analysis::Experiment& e) {
  return object("stability", analysis::name(e.stability), "why", e.why, "pushes",
                list_of(e.pushes, [](const analysis::Push& push) {
                  return object("kind", analysis::name(push.kind), "what", push.what, "size",
                                json_number(push.size), "largest", json_number(push.largest), "last",
                                json_number(push.last), "at_rest", push.at_rest, "problem", push.problem);
                }));
}

Json judged_json(const RestSurvey& survey, const RestSurvey::Judged& judged) {
  Json out = state_json(survey, judged.state);
  const analysis::RestJudgement& j = judged.judgement;
  out["where"] = judged.where;
  out["stability"] = analysis::name(j.stability);
  out["basis"] = analysis::name(j.basis);
  out["why"] = j.why;
  out["margin"] = json_number(j.margin);
  out["margin_at"] = j.margin_at;
  out["margin_is_bound"] = j.margin_is_bound;
  out["forces"] = list_of(j.forces, [](const analysis::ForceMargin& force) {
    return object("name", force.name, "less", json_number(force.less), "more", json_number(force.more));
  });
  out["eigenvalues"] = complex_json(j.eigenvalues);
  out["critical_mu"] = json_number(j.critical_mu);
  out["critical_scale"] = json_number(j.critical_scale);
  out["flutter"] = j.flutter;
  out["ambiguous"] = j.ambiguous;
  out["other_modes"] = j.other_modes;
  if (!judged.experiment) return out;
  out["experiment"] = experiment_json(*judged.experiment);
  return out;
}

Json ranges_json(const std::vector<RestRange>& ranges) {
  return list_of(ranges, [](const RestRange& range) {
    return object("name", range.name, "low", json_number(range.low), "high", json_number(range.high));
  });
}

}  // namespace

std::string equilibria_text(const RestSurvey& survey) {
  if (survey.search) return search_text(survey);
  const analysis::Equilibria& found = survey.found;
  std::string out = "at t = " + to_text(survey.time, 9) + ": ";
  const bool all = found.choices != std::numeric_limits<std::size_t>::max();
  if (found.choices > 1) {
    out += (all ? std::to_string(found.choices) : std::string("more than 1e18")) + " choices of statuses, " +
           std::to_string(found.feasible) + " with rest states, ";
  }
  out += survey.families.empty()
             ? std::string("no rest states")
             : std::to_string(survey.families.size()) +
                   (survey.families.size() == 1 ? " family or state" : " families and states");
  out += "\n";
  if (found.left_out > 0)
    out += "not searched: " + std::to_string(found.left_out) + " parts, after " +
           std::to_string(found.looked_at) + " linear programs; there may be more rest states\n";
  for (const std::string& line : found.floating)
    out += "no spring, contact or friction holds the direction " + in_line(line) + "\n";
  if (survey.klarbring) {
    const analysis::KlarbringNumbers& k = *survey.klarbring;
    const analysis::TypeChange change = analysis::type_change(k);
    out += "Klarbring's particle: A = " + short_number(k.A(), std::abs(k.KT * k.FN) + std::abs(k.W * k.FT)) +
           ", mu = " + to_text(k.mu, 6) + ", KT/W = " + to_text(k.KT / k.W, 6) +
           "; families change type at mu = " + to_text(change.mu, 6) + " and at the tangential load " +
           to_text(change.pull, 6) + "\n";
  }
  if (survey.klarbring &&
      std::abs(survey.klarbring->A()) <= 1e-9 * std::abs(survey.klarbring->KT * survey.klarbring->FN)) {
    const analysis::TipReturn back = analysis::tip_return(*survey.klarbring);
    using Kind = analysis::TipReturn::Kind;
    out += "passing the tip of the cone it ";
    if (back.kind == Kind::returns)
      out += "comes back there with " + to_text(back.ratio, 8) + " times its speed after " +
             to_text(back.duration, 8) + ", " +
             counted(static_cast<std::size_t>(back.landings), "landing", "landings");
    else if (back.kind == Kind::rests)
      out += "comes to rest within " + to_text(back.farthest, 6) + " times its speed after " +
             to_text(back.duration, 8);
    else
      out += "ends in hops for ever, of " + to_text(back.duration, 8) + " each and " +
             to_text(back.ratio, 8) + " of the size of the one before";
    out += "\n";
  }
  std::size_t number = 0;
  for (const RestSurvey::Family& each : survey.families) {
    const analysis::RestFamily& family = each.family;
    out += "\n" + std::to_string(++number) + "  " + statuses(survey, family.inside) + ": ";
    if (family.dimension == 0) {
      out += "one state\n";
    } else {
      const bool bounded = family.rays.empty() && family.lines.empty();
      out += "dimension " + std::to_string(family.dimension) + (bounded ? "" : ", unbounded") + ", " +
             counted(family.vertices.size(), "vertex", "vertices") + ", " +
             counted(family.rays.size(), "ray", "rays") +
             (family.lines.empty() ? "" : ", " + counted(family.lines.size(), "line", "lines")) +
             (family.complete ? "" : " (the list was cut)") + "\n";
      for (const RestRange& range : family.ranges) out += "  " + range_text(range) + "\n";
    }
    for (const RestSurvey::Judged& judged : each.judged) {
      judged_text(survey, judged, out);
      if (!survey.klarbring || judged.state.normal.empty() || !(judged.state.normal[0] > 0)) continue;
      const analysis::StopBeforeTip stop =
          analysis::stop_before_tip(*survey.klarbring, judged.state.normal[0]);
      const char* const towards = survey.klarbring->mirrored ? "-" : "+";
      const char* const away = survey.klarbring->mirrored ? "+" : "-";
      out += std::string("    a push along the wall stops before the tip of the cone below ") + towards +
             to_text(stop.forward, 6);
      out += std::isinf(stop.backward)
                 ? std::string(", and always the other way\n")
                 : std::string(", and the other way below ") + away + to_text(stop.backward, 6) + "\n";
    }
  }
  return out;
}

std::string equilibria_json(const RestSurvey& survey, const std::string& model) {
  Json out = object("model", model, "time", json_number(survey.time), "affine", !survey.search.has_value());
  if (survey.search) {
    const analysis::RestSearch& search = *survey.search;
    out["choices"] = search.choices;
    out["left_out"] = search.left_out;
    out["starts"] = search.starts;
    out["complete"] = false;
    out["rests"] = list_of(search.rests, [&](const analysis::FoundRest& rest) {
      Json x = Json::object(), words = Json::object();
      for (std::size_t i = 0; i < rest.state.x.size(); ++i) x[search.names[i]] = json_number(rest.state.x[i]);
      for (const auto& [place, word] : rest.words) words[place] = word;
      Json made = object("x", x, "words", words, "pseudo", rest.pseudo, "share", rest.share, "residual",
                         json_number(rest.residual), "stability", analysis::name(rest.stability), "why",
                         rest.why, "eigenvalues", complex_json(rest.eigenvalues), "dimension", rest.dimension,
                         "family", ranges_json(rest.family), "whole", rest.whole, "ends",
                         list_of(rest.ends, [&](const analysis::FoundRest::End& end) {
                           Json at = Json::object();
                           for (std::size_t i = 0; i < end.state.x.size(); ++i)
                             at[search.names[i]] = json_number(end.state.x[i]);
                           return object("meaning", end.meaning, "x", at);
                         }));
      if (rest.experiment) made["experiment"] = experiment_json(*rest.experiment);
      return made;
    });
    return json_text(std::move(out));
  }
  const analysis::Equilibria& found = survey.found;
  out["choices"] = found.choices;
  out["feasible"] = found.feasible;
  out["left_out"] = found.left_out;
  out["complete"] = found.left_out == 0;
  out["floating"] = found.floating;
  if (survey.klarbring) {
    const analysis::KlarbringNumbers& k = *survey.klarbring;
    out["klarbring"] = object("A", json_number(k.A()), "m", k.m, "KN", k.KN, "W", k.W, "KT", k.KT, "FN", k.FN,
                              "FT", k.FT, "mu", k.mu, "mirrored", k.mirrored);
  }
  out["families"] = list_of(survey.families, [&](const RestSurvey::Family& each) {
    const auto states = [&](const std::vector<RestState>& all) {
      return list_of(all, [&](const RestState& state) { return state_json(survey, state); });
    };
    return object(
        "dimension", each.family.dimension, "ranges", ranges_json(each.family.ranges), "vertices",
        states(each.family.vertices), "rays", states(each.family.rays), "lines", each.family.lines,
        "complete", each.family.complete, "states",
        list_of(each.judged, [&](const RestSurvey::Judged& judged) { return judged_json(survey, judged); }));
  });
  return json_text(std::move(out));
}

std::string family_changes_text(const analysis::FamilyChanges& found, const analysis::Sweep& sweep) {
  const std::string name = in_line(sweep.name);
  std::string out =
      name + " from " + to_text(sweep.from, 9) + " to " + to_text(sweep.to, 9) + ", " +
      std::to_string(found.values) + " values looked at: " +
      (found.changes.empty() ? "families do not change"
                             : counted(found.changes.size(), "change", "changes")) +
      "; what comes and goes between them is seen where its margin dips towards zero, and no proof\n";
  if (found.cut)
    out += "there were too many changes to look at all of them: give a shorter range, or fewer values\n";
  const auto list = [&](const char* side, const std::vector<std::string>& families) {
    for (const std::string& family : families) out += std::string("  ") + side + in_line(family) + "\n";
    if (families.empty()) out += std::string("  ") + side + "no rest states\n";
  };
  for (const analysis::FamilyChange& change : found.changes) {
    out += "\nat " + name + " = " + to_text(change.value, 8) + "\n";
    list("before  ", change.below);
    for (const std::vector<std::string>& between : change.together) list("there   ", between);
    list("behind  ", change.above);
  }
  return out;
}

std::string family_changes_json(const analysis::FamilyChanges& found, const analysis::Sweep& sweep) {
  return json_text(
      object("parameter", sweep.name, "from", json_number(sweep.from), "to", json_number(sweep.to), "values",
             sweep.count, "looked_at", found.values, "cut", found.cut, "changes",
             list_of(found.changes, [](const analysis::FamilyChange& change) {
               return object("value", json_number(change.value), "first", json_number(change.first), "last",
                             json_number(change.last), "before", change.below, "together", change.together,
                             "behind", change.above);
             })));
}

std::string equilibria_csv(const RestSurvey& survey) {
  std::string text;
  CsvWriter csv(text);
  if (survey.search) {
    csv.text("rest");
    for (const std::string& name : survey.search->names) csv.text(name);
    csv.end_record();
    double number = 0;
    for (const analysis::FoundRest& rest : survey.search->rests) {
      csv.number(++number);
      for (const double x : rest.state.x) csv.number(x);
      csv.end_record();
    }
    return text;
  }
  csv.text("family").text("point");
  for (const std::string& name : survey.rest.coordinates) csv.text(name);
  for (const std::string& name : survey.rest.states) csv.text(name);
  for (const auto& relation : survey.rest.relations)
    csv.text("status(" + relation.name + ")")
        .text("normal(" + relation.name + ")")
        .text("tangent(" + relation.name + ")")
        .text("gap(" + relation.name + ")");
  csv.end_record();
  double number = 0;
  for (const RestSurvey::Family& each : survey.families) {
    ++number;
    const auto add = [&](const std::string& what, const RestState& state) {
      csv.number(number).text(what);
      for (const double x : state.x) csv.number(x);
      for (std::size_t k = 0; k < state.status.size(); ++k)
        csv.text(analysis::name(state.status[k]))
            .number(state.normal[k])
            .number(state.tangent[k])
            .number(state.gap[k]);
      csv.end_record();
    };
    for (const RestSurvey::Judged& judged : each.judged)
      add(each.family.dimension == 0 ? "rest" : judged.where == "inside" ? "inside" : "side", judged.state);
    for (const RestState& vertex : each.family.vertices) {
      if (each.family.dimension > 0) add("vertex", vertex);
    }
    for (const RestState& ray : each.family.rays) add("ray", ray);
  }
  return text;
}

}  // namespace judder::io
