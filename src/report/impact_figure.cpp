#include "judder/report/impact_figure.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "judder/core/number.hpp"

namespace judder::report {
namespace {

using analysis::Impacts;
using analysis::LawImpact;

struct Box {
  double left = 0, right = 0, low = 0, high = 0;
  void take(double x, double y) {
    left = std::min(left, x);
    right = std::max(right, x);
    low = std::min(low, y);
    high = std::max(high, y);
  }
};

/// The part of a x + b y + c = 0 inside the box; empty where it passes by.
Series clipped_line(double a, double b, double c, const Box& box, std::string label, Stroke stroke,
                    int colour) {
  Series line;
  line.label = std::move(label);
  line.stroke = stroke;
  line.colour = colour;
  line.width = 1.2;
  std::vector<std::pair<double, double>> points;
  const auto add = [&](double x, double y) {
    const double slack = 1e-9 * (box.right - box.left + box.high - box.low);
    if (x < box.left - slack || x > box.right + slack || y < box.low - slack || y > box.high + slack) return;
    points.emplace_back(x, y);
  };
  if (b != 0) {
    for (const double x : {box.left, box.right}) add(x, -(a * x + c) / b);
  }
  if (a != 0) {
    for (const double y : {box.low, box.high}) add(-(b * y + c) / a, y);
  }
  std::sort(points.begin(), points.end());
  if (points.size() < 2) return line;
  for (const auto& [x, y] : {points.front(), points.back()}) {
    line.x.push_back(x);
    line.y.push_back(y);
  }
  return line;
}

/// From the origin over the pieces of the path, or straight to its end where the law knows no path.
Series path_of(const Impacts& impacts, const LawImpact& law, std::size_t contact) {
  Series series;
  series.x.push_back(0);
  series.y.push_back(0);
  if (static_cast<int>(contact) == impacts.path_contact && !law.path.empty()) {
    for (const contact::PathPiece& piece : law.path) {
      series.x.push_back(piece.normal_impulse);
      series.y.push_back(piece.tangential_impulse);
    }
  } else {
    series.x.push_back(law.contacts[contact].normal_impulse);
    series.y.push_back(law.contacts[contact].tangential_impulse.front());
    series.stroke = Stroke::dotted;
  }
  return series;
}

/// Laws that end at one place are drawn around each other, the first the widest, so that none is covered.
void widen(std::vector<Series>& ends, const Box& box) {
  constexpr double kRadius = 3.2, kWider = 2.8, kNear = 0.02;  // of the size of the panel
  for (std::size_t i = 0; i < ends.size(); ++i) {
    ends[i].radius = kRadius;
    for (std::size_t j = i + 1; j < ends.size(); ++j) {
      if (std::abs(ends[i].x[0] - ends[j].x[0]) < kNear * (box.right - box.left) / 2 &&
          std::abs(ends[i].y[0] - ends[j].y[0]) < kNear * (box.high - box.low))
        ends[i].radius += kWider;
    }
  }
}

constexpr std::array<Symbol, 4> kEnds = {Symbol::square, Symbol::diamond, Symbol::disc, Symbol::triangle_up};
constexpr int kPathColour = 0;

}  // namespace

std::optional<Figure> impact_figure(const Impacts& impacts, const std::string& title) {
  Figure figure;
  figure.title = title;
  for (std::size_t c = 0; c < impacts.contacts.size(); ++c) {
    const analysis::CollidingContact& contact = impacts.contacts[c];
    if (contact.slip_before.empty()) continue;
    std::vector<Series> paths, ends;
    Series common;  // the laws that follow the path end on the same one, at different places
    Box box;
    for (std::size_t l = 0; l < impacts.laws.size(); ++l) {
      const LawImpact& law = impacts.laws[l];
      if (!law.ok() || law.contacts[c].normal_impulse == 0) continue;
      Series path = path_of(impacts, law, c);
      for (std::size_t i = 0; i < path.x.size(); ++i) box.take(path.x[i], path.y[i]);
      Series end;
      end.label = law.law;
      end.x = {path.x.back()};
      end.y = {path.y.back()};
      end.stroke = Stroke::none;
      end.symbol = kEnds[l % kEnds.size()];
      end.colour = static_cast<int>(l) + 1;
      ends.push_back(std::move(end));
      path.colour = static_cast<int>(l) + 1;
      if (law.path.empty()) {
        paths.push_back(std::move(path));
      } else if (common.x.empty() || path.x.back() > common.x.back()) {
        common = std::move(path);
      }
    }
    if (!common.x.empty()) {
      common.label = "impulse path";
      common.colour = kPathColour;
      common.width = 2.5;
      paths.push_back(std::move(common));
    }
    if (paths.empty() || !(box.right > 0)) continue;
    const double reach = 1.15 * box.right;
    const double height = std::max({box.high, -box.low, 0.15 * reach});
    box = {0, reach, std::min(1.3 * box.low, -0.25 * height), std::max(1.3 * box.high, 0.25 * height)};

    Panel panel;
    panel.height = 360;
    panel.x.label = "I_N of '" + contact.name + "'";
    panel.y.label = "I_T";
    panel.x.from = box.left;
    panel.x.to = box.right;
    panel.y.from = box.low;
    panel.y.to = box.high;
    Series cone;
    cone.label = "cone, mu = " + to_text(contact.mu, 4);
    cone.filled = true;
    cone.stroke = Stroke::dotted;
    cone.colour = 7;
    cone.width = 1;
    // A wide cone leaves the picture through its top and bottom.
    const auto edge = [&](double y) {
      return contact.mu > 0 ? std::min(reach, std::abs(y) / contact.mu) : reach;
    };
    const double top = edge(box.high), bottom = edge(box.low);
    cone.x = {0, top, reach, reach, bottom, 0};
    cone.y = {0,
              contact.mu * top,
              std::min(contact.mu * reach, box.high),
              std::max(-contact.mu * reach, box.low),
              -contact.mu * bottom,
              0};
    panel.series.push_back(std::move(cone));
    if (impacts.path && static_cast<int>(c) == impacts.path_contact) {
      const contact::PathProblem& p = *impacts.path;
      Series stick =
          clipped_line(p.A_TN, p.A_TT, p.tangent_before, box, "sticking (slip 0)", Stroke::dashed, 5);
      Series compression =
          clipped_line(p.A_NN, p.A_NT, p.normal_before, box, "maximum compression", Stroke::dashed, 6);
      if (!stick.x.empty()) panel.series.push_back(std::move(stick));
      if (!compression.x.empty()) panel.series.push_back(std::move(compression));
    }
    for (Series& path : paths) panel.series.push_back(std::move(path));
    widen(ends, box);
    for (Series& end : ends) panel.series.push_back(std::move(end));
    figure.panels.push_back(std::move(panel));
  }
  if (figure.panels.empty()) return std::nullopt;
  const bool tangential = impacts.outcome == analysis::ImpactsOutcome::tangential;
  figure.subtitle = tangential ? "tangential impact" : "impulse paths by law";
  return figure;
}

}  // namespace judder::report
