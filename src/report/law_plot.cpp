#include "judder/report/law_plot.hpp"

#include <algorithm>
#include <cmath>

#include "judder/core/number.hpp"
#include "judder/io/files.hpp"
#include "judder/model/friction.hpp"
#include "judder/report/svg.hpp"

namespace judder::report {
namespace {

using model::FrictionCurve;
using model::LawNumbers;

constexpr double kPi = 3.141592653589793;
constexpr int kPoints = 600;

/// Denser towards zero, where laws change most.
double graded(double part) { return part * part; }

Panel sliding_panel(FrictionCurve& curve, double to) {
  Panel panel;
  panel.x.label = "slip velocity";
  panel.y.label = curve.load_known() ? "resistance" : "resistance / normal force";
  panel.height = 240;
  const bool set_valued = curve.type() == FrictionType::coulomb;
  Series sliding;
  sliding.label = curve.has_bristle() ? "steady sliding" : "sliding";
  for (int i = kPoints; i >= 1; --i) {
    const double v = -to * graded(static_cast<double>(i) / kPoints);
    sliding.x.push_back(v);
    sliding.y.push_back(steady_resistance(curve.type(), curve.at(v), v));
  }
  const std::size_t middle = sliding.x.size();
  if (set_valued || curve.has_bristle()) {
    // The limits from both sides of zero.
    const double tiny = 1e-9 * to;
    for (const double v : {-tiny, tiny}) {
      sliding.x.push_back(0);
      sliding.y.push_back(steady_resistance(curve.type(), curve.at(v), v));
    }
    sliding.jumps.push_back(middle + 1);
  } else {
    sliding.x.push_back(0);
    sliding.y.push_back(0);
  }
  for (int i = 1; i <= kPoints; ++i) {
    const double v = to * graded(static_cast<double>(i) / kPoints);
    sliding.x.push_back(v);
    sliding.y.push_back(steady_resistance(curve.type(), curve.at(v), v));
  }
  panel.series.push_back(sliding);
  if (set_valued) {
    const LawNumbers law = curve.at(0);
    Series rest;
    rest.label = "at rest: up to " + to_text(law.load * law.mu_static, 4);
    rest.x = {0, 0};
    rest.y = {-law.load * law.mu_static, law.load * law.mu_static};
    rest.symbol = Symbol::disc;
    rest.width = 2.5;
    panel.series.push_back(rest);
  }
  if (!set_valued && !curve.has_bristle()) {
    Series ideal;
    ideal.label = "without smoothing";
    ideal.stroke = Stroke::dashed;
    for (const double v : {-to, 0.0, 0.0, to}) {
      const double side = ideal.x.size() < 2 ? -1 : 1;
      const LawNumbers law = curve.at(v == 0 ? side * 1e-9 * to : v);
      ideal.x.push_back(v);
      ideal.y.push_back(side * law.load * law.mu + law.viscous * v);
    }
    ideal.jumps.push_back(2);
    panel.series.push_back(ideal);
  }
  return panel;
}

/// Resistance over displacement while the body goes x = A sin τ, slowly, from rest; one and a quarter turns.
Series loop(FrictionCurve& curve, double amplitude, double speed, const std::string& label) {
  Series out;
  out.label = label;
  constexpr int kSteps = 20000;
  const double rate = speed / amplitude;  // of τ
  double z = 0;
  for (int i = 0; i <= 5 * kSteps / 4; ++i) {
    const auto slip_at = [&](double step) { return amplitude * rate * std::cos(2 * kPi * step / kSteps); };
    const double v = slip_at(i);
    if (i % 20 == 0) {
      out.x.push_back(amplitude * std::sin(2 * kPi * i / kSteps));
      out.y.push_back(resistance(curve.type(), curve.at(v), v, z));
    }
    const double h = 2 * kPi / kSteps / rate;
    const double half = slip_at(i + 0.5);
    const LawNumbers law = curve.at(half);
    const double k1 = bristle_rate(curve.type(), curve.at(v), v, z);
    z += h * bristle_rate(curve.type(), law, half, z + 0.5 * h * k1);
  }
  return out;
}

Panel memory_panel(FrictionCurve& curve, double typical) {
  Panel panel;
  panel.x.label = "displacement, slowly back and forth";
  panel.y.label = curve.load_known() ? "resistance" : "resistance / normal force";
  panel.height = 240;
  const double slow = 1e-3 * typical;
  const double deflection = std::abs(steady_bristle(curve.type(), curve.at(slow), slow));
  panel.series.push_back(loop(curve, 0.5 * deflection, slow, "half the sliding deflection"));
  panel.series.push_back(loop(curve, 3 * deflection, slow, "three times"));
  return panel;
}

Figure drawn(const model::System& system, int relation, const LawPlotOptions& options, Patience* patience) {
  FrictionCurve curve(system, relation);
  curve.use(patience);
  const double typical = typical_speed(curve);
  const double to = options.to > 0 ? options.to : 5 * typical;
  Figure figure;
  figure.title = options.title;
  const model::Relation& element = system.relations()[static_cast<std::size_t>(relation)];
  figure.subtitle =
      element.place + ", " + name(element.friction) + ": " + in_words(dissipation(curve), element.friction);
  figure.panels.push_back(sliding_panel(curve, to));
  if (curve.has_bristle()) figure.panels.push_back(memory_panel(curve, typical));
  return figure;
}

}  // namespace

Figure law_figure(const model::System& system, int relation, const LawPlotOptions& options) {
  return drawn(system, relation, options, nullptr);
}

PlottedLaw plot_law(const LawPlotRequest& request) {
  PlottedLaw out;
  out.model = io::load_model(request.model);
  if (!out.model.ok()) return out;
  const model::System& system = *out.model.compiled.system;
  const model::ChosenLaw chosen = model::choose_law(system, request.law);
  out.problem = chosen.problem;
  out.help = chosen.help;
  out.no_law = chosen.none;
  if (chosen.relation < 0) return out;
  Patience patience;
  patience.start(request.model.cancel);
  Figure figure;
  try {
    figure = drawn(system, chosen.relation, {out.model.compiled.title, request.to}, &patience);
  } catch (const Abandoned&) {
    out.cancelled = true;
    return out;
  }
  std::string file = "law-";
  for (const char c : system.relations()[static_cast<std::size_t>(chosen.relation)].name)
    file += std::string_view("[],.").find(c) == std::string_view::npos ? c : '-';
  out.file = request.output / (file + ".svg");
  std::error_code error;
  if (!request.output.empty()) std::filesystem::create_directories(request.output, error);
  out.status = io::write_text_file(out.file, to_svg(figure), io::kFigureMark);
  return out;
}

}  // namespace judder::report
