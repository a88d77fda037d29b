#include "judder/model/describe.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "judder/core/number.hpp"
#include "judder/core/printable.hpp"
#include "judder/model/friction.hpp"
#include "judder/model/large_matrices.hpp"

namespace judder::model {
namespace {

struct Lines {
  std::string text;
  void heading(const std::string& title) { text += (text.empty() ? "" : "\n") + title + "\n"; }
  void table(const std::vector<std::pair<std::string, std::string>>& rows) {
    std::size_t width = 0;
    for (const auto& [left, right] : rows) width = std::max(width, length(left));
    for (const auto& [left, right] : rows)
      text += "  " + left + std::string(width - length(left), ' ') + "  " + right + "\n";
  }
  static std::size_t length(const std::string& s) {  // characters, not bytes
    return static_cast<std::size_t>(std::count_if(
        s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
  }
};

using Rows = std::vector<std::pair<std::string, std::string>>;

std::string vector_text(const System& system, expr::Texts& text, const std::vector<expr::Node>& w) {
  std::string out;
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (system.graph().is_constant(w[i]) && system.graph().value(w[i]) == 0) continue;
    out += (out.empty() ? "" : ", ") + system.coordinate_names()[i] + ": " + text(w[i]);
  }
  return out.empty() ? "0" : out;
}

std::string law_words(const System& system, expr::Texts& text, std::size_t k) {
  const Relation& r = system.relations()[k];
  std::string out;
  for (int j = 0; j < r.tangents; ++j) {
    const auto& row = system.symbols().tangent[static_cast<std::size_t>(r.first_tangent + j)];
    if (j > 0) continue;
    if (r.smooth_friction) return "smooth, tangent = -load*(" + text(row.mu) + ")";
    out = "coefficient " + text(row.mu);
    if (!(row.mu == row.mu_static)) out += ", at rest " + text(row.mu_static);
  }
  return out;
}

double compliance(const System& system, const Workspace& work, const Row& w) {
  std::vector<double> x = w.dense(system.coordinate_names().size());
  system.solve_mass(work, x.data());
  double sum = 0;
  for (std::size_t k = 0; k < w.values().size(); ++k)
    sum += w.values()[k] * x[static_cast<std::size_t>(w.places()[k])];
  return sum;
}

std::string modes_at_start(const Relation& r, const RelationRows& rows, bool closed) {
  if (r.tangents == 0) {
    if (r.kind == RelationKind::contact && r.has_normal)
      return !closed ? "open" : rows.gap_rate < 0 ? "impact" : "closed or open";
    return r.kind == RelationKind::constraint ? "held" : "always acting";
  }
  std::string out;
  if (r.kind == RelationKind::contact && r.has_normal) {
    if (!closed) return "open";
    if (rows.gap_rate < 0) return "impact";
    out = "open, ";
  }
  if (r.smooth_friction) return out + "closed";
  if (r.tangents > 1) return out + "stick, slip";
  const double slip = rows.tangent[0].slip;
  return out + (slip > 0 ? "slip+" : slip < 0 ? "slip-" : "stick, slip+, slip-");
}

}  // namespace

namespace {

void describe(const Compiled& compiled, Patience& patience, Lines& out) {
  const System& system = *compiled.system;
  const Symbols& s = system.symbols();
  const expr::Graph& graph = system.graph();
  const auto& names = system.coordinate_names();
  const std::size_t n = names.size();
  expr::Texts text(graph);
  text.use(&patience);
  const auto zero = [&](expr::Node node) { return graph.is_constant(node) && graph.value(node) == 0; };
  Workspace work(system);
  const bool numbers = system.motion(work);
  if (!compiled.title.empty()) out.text = printable_name(compiled.title, 200) + "\n";

  Rows rows;
  if (n > 0) {
    out.heading("Coordinates at the start (t = " + to_text(system.start()[0]) + ")");
    for (std::size_t i = 0; i < n; ++i) {
      const auto q = static_cast<std::size_t>(system.layout().q()) + i,
                 v = static_cast<std::size_t>(system.layout().v()) + i;
      rows.push_back({names[i], to_text(system.start()[q], 8) + ", velocity " +
                                    to_text(system.start()[v], 8) +
                                    (system.massless()[i] ? ", massless" : "")});
    }
    out.table(rows);

    out.heading(std::string("Mass matrix M") + (system.mass_constant() ? " (constant)" : ""));
    rows.clear();
    if (const LargeMatrices* const large = large_matrices(system))
      rows.push_back({"M, " + std::to_string(n) + " x " + std::to_string(n),
                      std::to_string(large->mass.value.size()) + " entries as in its file"});
    for (std::size_t i = 0; i < n && !s.mass.empty(); ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        if (!zero(s.mass[i * n + j]))
          rows.push_back({"M[" + names[i] + ", " + names[j] + "]", text(s.mass[i * n + j])});
      }
    }
    out.table(rows);

    out.heading("Forces h (M*acceleration = h + reactions)");
    rows.clear();
    if (large_matrices(system) != nullptr)
      rows.push_back({"h - K q - C v", "with the matrices of the file, and beside them:"});
    for (std::size_t i = 0; i < n; ++i) rows.push_back({"h[" + names[i] + "]", text(s.force[i])});
    out.table(rows);

    out.heading("Energy");
    rows = {{"kinetic", text(s.kinetic)}, {"potential", text(s.potential)}};
    out.table(rows);
  }
  if (!s.rate.empty()) {
    out.heading("States");
    rows.clear();
    for (std::size_t i = 0; i < s.rate.size(); ++i)
      rows.push_back({system.state_names()[i] + "'", text(s.rate[i])});
    out.table(rows);
  }

  std::optional<FrictionCurve> curve;  // one workspace for all of them
  std::size_t known_friction = 0;      // in the order of the relations
  for (std::size_t k = 0; k < system.relations().size(); ++k) {
    patience.look();
    const Relation& r = system.relations()[k];
    std::string title = r.place;
    title[0] = static_cast<char>(title[0] - 'a' + 'A');
    out.heading(title + (r.compliant ? " (compliant)" : ""));
    rows.clear();
    const RelationRows& values = system.rows(work, static_cast<int>(k));
    const bool closed = system.start()[static_cast<std::size_t>(system.layout().closed()) + k] != 0;
    if (r.kind != RelationKind::joint) {
      rows.push_back({r.kind == RelationKind::contact ? "gap"
                      : r.holonomic                   ? "zero"
                                                      : "velocity",
                      text(s.normal[k].gap)});
      if (r.holonomic) rows.push_back({"rate", text(s.normal[k].gap_rate)});
    }
    if (r.has_normal) {
      rows.push_back({"w_N", vector_text(system, text, s.normal[k].w)});
      if (r.own_push) rows.push_back({"push", vector_text(system, text, s.normal[k].push)});
      if (!zero(s.normal[k].zeta)) rows.push_back({"ζ_N", text(s.normal[k].zeta)});
      if (numbers) rows.push_back({"w_N·M⁻¹w_N", to_text(compliance(system, work, values.w), 6)});
    }
    if (!r.has_normal) {
      std::string load = text(s.base[k]);
      if (!r.feeds.empty() && zero(s.base[k])) load.clear();
      for (std::size_t f = 0; f < r.feeds.size(); ++f) {
        const Relation& feed = system.relations()[static_cast<std::size_t>(r.feeds[f])];
        const std::string size = (feed.kind == RelationKind::contact ? "normal(" : "abs(normal(") +
                                 feed.name + (feed.kind == RelationKind::contact ? ")" : "))");
        const std::string factor = text(s.factors[k][f]);
        load += (load.empty() ? "" : " + ") + (factor == "1" ? size : "(" + factor + ")*" + size);
      }
      rows.push_back({"normal", load});
    }
    for (int j = 0; j < r.tangents; ++j) {
      const auto& row = s.tangent[static_cast<std::size_t>(r.first_tangent + j)];
      const std::string number = r.tangents > 1 ? std::to_string(j + 1) : "";
      rows.push_back({"slip" + number, text(row.slip)});
      rows.push_back({"w_T" + number, vector_text(system, text, row.w)});
      if (r.own_push) rows.push_back({"drag" + number, vector_text(system, text, row.drag)});
      if (!zero(row.zeta)) rows.push_back({"ζ_T" + number, text(row.zeta)});
      if (numbers)
        rows.push_back(
            {"w_T" + number + "·M⁻¹w_T" + number, to_text(compliance(system, work, values.tangent[j].w), 6)});
    }
    if (r.tangents > 0) rows.push_back({"friction", law_words(system, text, k)});
    for (; known_friction < s.known_friction.size() &&
           s.known_friction[known_friction].relation == static_cast<int>(k);
         ++known_friction) {
      const auto& known = s.known_friction[known_friction];
      if (r.tangents == 0) rows.push_back({"slip", text(known.slip)});
      rows.push_back({"in h", "tangent " + text(known.tangent)});
    }
    if (r.friction != FrictionType::none) {
      if (curve) {
        curve->take(static_cast<int>(k));
      } else {
        curve.emplace(system, static_cast<int>(k));
        curve->use(&patience);
      }
      rows.push_back({"energy", in_words(dissipation(*curve), r.friction)});
    }
    if (r.kind == RelationKind::contact && r.has_normal) {
      double e = 0, tangential = 0;
      system.restitution(work, static_cast<int>(k), std::max(0.0, -values.gap_rate), e, tangential);
      rows.push_back(
          {"impact", std::string(name(r.impact)) + ", restitution " + to_text(e, 6) +
                         (r.has_tangential_restitution ? ", tangential " + to_text(tangential, 6) : "") +
                         (r.impact_friction ? "" : ", without friction")});
    }
    if (numbers) rows.push_back({"at the start", modes_at_start(r, values, closed)});
    out.table(rows);
  }

  if (!system.switches().empty()) {
    out.heading("Switches");
    rows.clear();
    for (std::size_t k = 0; k < system.switches().size(); ++k) {
      const SwitchInfo& info = system.switches()[k];
      std::string words = info.kind == expr::SwitchKind::jump   ? "jump"
                          : info.kind == expr::SwitchKind::kink ? "kink"
                                                                : "smooth";
      if (info.time_only) words += ", timetable";
      const std::string form = info.two_sided()
                                   ? text(s.surface[k]) + " = 0"
                                   : text(s.surface[k]) + " at " +
                                         (info.whole ? std::string("whole numbers")
                                                     : std::to_string(info.levels.size()) + " levels");
      rows.push_back({info.place, form + "  (" + words + ")"});
    }
    out.table(rows);
  }
  if (!system.instants().empty()) {
    out.heading("Known instants");
    std::string line = " ";
    constexpr std::size_t kShown = 20;
    for (std::size_t i = 0; i < std::min(system.instants().size(), kShown); ++i)
      line += " " + to_text(system.instants()[i]);
    if (system.instants().size() > kShown)
      line += " … (" + std::to_string(system.instants().size()) + " in all)";
    out.text += line + "\n";
  }
  if (!system.audits().empty()) {
    out.heading("Energy audit");
    rows.clear();
    for (const AuditInfo& a : system.audits()) {
      std::string words = a.relation >= 0 ? "reactions"
                          : a.of_jumps    ? "lost where massless coordinates jump"
                                          : "";
      if (a.power >= 0)
        words += std::string(words.empty() ? "" : " and ") +
                 (a.dissipative ? "dissipated power" : "supplied power");
      rows.push_back({a.name, words});
    }
    out.table(rows);
  }
}

}  // namespace

std::string describe(const Compiled& compiled, const std::atomic<bool>* cancel) {
  if (!compiled.system) return {};
  Patience patience;
  patience.start(cancel);
  Lines out;
  try {
    describe(compiled, patience, out);
  } catch (const Abandoned&) {
  }
  return out.text;
}

}  // namespace judder::model
