#include "judder/analysis/rest_survey.hpp"

#include <algorithm>
#include <cmath>

#include "judder/core/patience.hpp"

namespace judder::analysis {
namespace {

/// Where a name stands in a list, or nothing.
std::optional<std::size_t> place_of(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

/// "UT least" is the name and −1; "UT most" and 1.
std::pair<std::string, int> end_of_range(const std::string& field) {
  for (const auto& [word, side] : {std::pair<std::string, int>{" least", -1}, {" most", 1}}) {
    if (field.size() > word.size() && field.ends_with(word))
      return {field.substr(0, field.size() - word.size()), side};
  }
  return {field, 0};
}

RestReading of_range(const std::vector<RestRange>& ranges, const std::string& field) {
  const auto [name, side] = end_of_range(field);
  for (const RestRange& range : ranges) {
    if (range.name != name || side == 0) continue;
    const double end = side < 0 ? range.low : range.high;
    if (!std::isfinite(end)) return {{}, std::string("infinite"), {}};
    return {end, {}, {}};
  }
  return {{}, {}, "a rest has no field '" + field + "'"};
}

RestReading of_eigenvalue(const std::vector<std::complex<double>>& values, const std::string& field) {
  if (values.empty()) return {{}, {}, "there are no eigenvalues at this rest"};
  return {field == "growth" ? values.front().real() : std::abs(values.front().imag()), {}, {}};
}

RestReading of_search(const RestSurvey& survey, const std::string& words, int number,
                      const std::string& field) {
  const RestSearch& search = *survey.search;
  int count = 0;
  for (const FoundRest& rest : search.rests) {
    if (status_words(rest) != words || ++count != number || field == "count") continue;
    if (const auto i = place_of(search.names, field)) return {rest.state.x[*i], {}, {}};
    if (field == "stability") return {{}, std::string(name(rest.stability)), {}};
    if (field == "growth" || field == "frequency") return of_eigenvalue(rest.eigenvalues, field);
    if (field == "dimension") return {static_cast<double>(rest.dimension), {}, {}};
    return of_range(rest.family, field);
  }
  if (field == "count") return {static_cast<double>(count), {}, {}};
  return {{}, {}, "there are " + std::to_string(count) + " rests '" + words + "'"};
}

constexpr std::size_t kMostExperiments = 40;

/// Pushes every rest that a search has found.
void push_found(const model::System& system, const model::Spec& spec, const model::CompileOptions& compile,
                const RestSurveyOptions& how, RestSearch& search) {
  const bool bends = std::any_of(system.relations().begin(), system.relations().end(),
                                 [](const auto& r) { return r.has_normal && !r.rows_constant; });
  std::size_t experiments = 0;
  for (FoundRest& rest : search.rests) {
    if (!rest.near || rest.near->n == 0 || experiments++ >= kMostExperiments) continue;
    ExperimentOptions push;
    push.cancel = how.rests.cancel;
    push.displacements = !bends;
    rest.experiment = experiment(spec, compile, *rest.near, rest.state, push);
  }
}

}  // namespace

double largest_restitution(const model::System& system) {
  double most = 0;
  model::Workspace work(system);
  for (std::size_t k = 0; k < system.relations().size(); ++k) {
    if (system.relations()[k].kind != model::RelationKind::contact || system.relations()[k].compliant)
      continue;
    double e = 0, tangential = 0;
    system.restitution(work, static_cast<int>(k), 0, e, tangential);
    most = std::max({most, std::abs(e), std::abs(tangential)});
    if (!system.relations()[k].impact_friction) most = std::max(most, 1.0);
  }
  return most;
}

std::string status_words(const RestProblem& rest, const RestState& state) {
  std::string out;
  for (std::size_t k = 0; k < state.status.size(); ++k) {
    if (state.status[k] == RestStatus::held) continue;
    out += (out.empty() ? "" : ", ") + rest.relations[k].name + " " + name(state.status[k]);
  }
  return out.empty() ? "free" : out;
}

std::string status_words(const FoundRest& rest) {
  std::string out;
  for (const auto& [place, word] : rest.words) out += (out.empty() ? "" : ", ") + place + " " + word;
  return out.empty() ? "free" : out;
}

void survey_rests(const model::System& system, const model::Spec& spec, const model::CompileOptions& compile,
                  const model::RunOptions& run, const RestSurveyOptions& how, RestSurvey& out,
                  EquilibriaProblem& problem) {
  Patience patience;
  patience.start(how.rests.cancel);
  EquilibriaOptions options = how.rests;
  if (!options.at) options.at = run.from;
  if (std::isfinite(run.until) && run.until > run.from) options.horizon = run.until - run.from;
  out.time = *options.at;
  const auto rest = rest_problem(system, options, problem);
  if (!rest) {
    if (!problem.not_affine) return;
    problem = {};
    RestSearchOptions search;
    search.at = options.at;
    search.cancel = options.cancel;
    search.near = how.perturb;
    out.search = search_rests(system, search, problem);
    if (out.search && how.perturb) push_found(system, spec, compile, how, *out.search);
    return;
  }
  out.rest = *rest;
  out.klarbring = klarbring_numbers(*rest);
  out.found = equilibria(*rest, options);
  const auto forces = how.forces ? named_forces(spec, compile, *rest) : std::vector<NamedForce>{};
  const double restitution = largest_restitution(system);
  std::size_t experiments = 0;
  for (RestFamily& family : out.found.families) {
    patience.look();
    RestSurvey::Family made;
    const auto take = [&](const std::string& where, const RestState& state) {
      RestSurvey::Judged judged{where, state, judge(*rest, state, forces, restitution), {}};
      if (how.perturb && experiments++ < kMostExperiments) {
        ExperimentOptions push;
        push.curves = how.curves;
        push.cancel = options.cancel;
        judged.experiment = experiment(spec, compile, *rest, state, push);
      }
      made.judged.push_back(std::move(judged));
    };
    take("inside", family.inside);
    for (const RestFace& face : family.faces) take(face.meaning, face.state);
    made.family = std::move(family);
    out.families.push_back(std::move(made));
  }
  out.found.families.clear();
}

RestReading read_rest(const RestSurvey& survey, const std::string& words, int number,
                      const std::string& field) {
  if (survey.search) return of_search(survey, words, number, field);
  int count = 0, families = 0;
  for (const RestSurvey::Family& each : survey.families) {
    families += status_words(survey.rest, each.family.inside) == words ? 1 : 0;
    for (const RestSurvey::Judged& judged : each.judged) {
      if (status_words(survey.rest, judged.state) != words || ++count != number || field == "count") continue;
      const RestJudgement& j = judged.judgement;
      const auto number_of = [](std::size_t n) { return RestReading{static_cast<double>(n), {}, {}}; };
      if (const auto i = place_of(survey.rest.coordinates, field)) return {judged.state.x[*i], {}, {}};
      if (const auto i = place_of(survey.rest.states, field))
        return {judged.state.x[survey.rest.n + *i], {}, {}};
      if (field == "stability") return {{}, std::string(name(j.stability)), {}};
      if (field == "basis") return {{}, std::string(name(j.basis)), {}};
      if (field == "margin") return {j.margin, {}, {}};
      if (field == "critical mu")
        return j.critical_mu ? RestReading{j.critical_mu, {}, {}}
                             : RestReading{{}, {}, "there is no critical mu"};
      if (field == "growth" || field == "frequency") return of_eigenvalue(j.eigenvalues, field);
      if (field == "dimension") return number_of(each.family.dimension);
      if (field == "vertices") return number_of(each.family.vertices.size());
      if (field == "rays") return number_of(each.family.rays.size());
      if (field == "faces") return number_of(each.family.faces.size());
      return of_range(each.family.ranges, field);
    }
  }
  if (field == "count") return {static_cast<double>(families), {}, {}};
  return {{}, {}, "there are " + std::to_string(count) + " rests '" + words + "'"};
}

}  // namespace judder::analysis
