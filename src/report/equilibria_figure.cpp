#include "judder/report/equilibria_figure.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "judder/core/number.hpp"

namespace judder::report {
namespace {

using analysis::RestState;
using analysis::RestStatus;
using analysis::RestSurvey;
using Point = std::pair<double, double>;

/// Around the points, counter-clockwise (Andrew's chains).
std::vector<Point> hull(std::vector<Point> points) {
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  if (points.size() < 3) return points;
  std::vector<Point> out;
  const auto chain = [&](const auto& from, const auto& to, std::size_t keep) {
    for (auto p = from; p != to; ++p) {
      while (out.size() >= keep + 2) {
        const Point &a = out[out.size() - 2], &b = out.back();
        if ((b.first - a.first) * (p->second - a.second) - (b.second - a.second) * (p->first - a.first) > 0)
          break;
        out.pop_back();
      }
      out.push_back(*p);
    }
  };
  chain(points.begin(), points.end(), 0);
  const std::size_t lower = out.size() - 1;
  out.pop_back();
  chain(points.rbegin(), points.rend(), lower);
  out.pop_back();
  return out;
}

double reach_of(const RestSurvey& survey, std::size_t k) {
  double most = 0;
  for (const RestSurvey::Family& each : survey.families) {
    for (const RestState& vertex : each.family.vertices)
      most = std::max({most, std::abs(vertex.normal[k]), std::abs(vertex.tangent[k])});
    for (const RestSurvey::Judged& judged : each.judged)
      most = std::max({most, std::abs(judged.state.normal[k]), std::abs(judged.state.tangent[k])});
  }
  return most > 0 ? most : 1;
}

Panel reaction_plane(const RestSurvey& survey, std::size_t k) {
  const analysis::RestProblem::Relation& relation = survey.rest.relations[k];
  const double mu = relation.tangents[0].mu, top = 1.3 * reach_of(survey, k);
  Panel panel;
  panel.x.label = "tangent(" + relation.name + ")";
  panel.y.label = "normal(" + relation.name + ")";
  panel.y.from = 0;
  panel.y.to = top;
  panel.height = 300;
  panel.same_scale = mu > 0.05 && mu < 5;
  Series cone;
  cone.label = "cone of friction, mu = " + to_text(mu, 4);
  cone.x = {0, mu * top, -mu * top, 0};
  cone.y = {0, top, top, 0};
  cone.filled = true;
  cone.stroke = Stroke::dashed;
  cone.width = 1;
  cone.colour = 7;
  panel.series.push_back(std::move(cone));
  int number = 0;
  for (const RestSurvey::Family& each : survey.families) {
    ++number;
    const RestStatus status = each.family.inside.status[k];
    if (status == RestStatus::detached) continue;
    std::vector<Point> points;
    for (const RestState& vertex : each.family.vertices)
      points.emplace_back(vertex.tangent[k], vertex.normal[k]);
    if (points.empty()) points.emplace_back(each.family.inside.tangent[k], each.family.inside.normal[k]);
    const std::vector<Point> ends = points;
    for (const RestState& ray : each.family.rays) {
      const double size = std::max(std::abs(ray.tangent[k]), std::abs(ray.normal[k]));
      if (size == 0) continue;
      for (const Point& from : ends) {
        // Up to the frame.
        const double length = ray.normal[k] > 0 ? (top - from.second) / ray.normal[k] : top / size;
        points.emplace_back(from.first + length * ray.tangent[k], from.second + length * ray.normal[k]);
      }
    }
    Series admissible;
    admissible.label = "family " + std::to_string(number) + ": " + analysis::name(status);
    admissible.colour = number - 1;
    const std::vector<Point> around = hull(points);
    for (const Point& p : around) {
      admissible.x.push_back(p.first);
      admissible.y.push_back(p.second);
    }
    admissible.filled = around.size() > 2;
    if (admissible.filled) {
      admissible.x.push_back(around.front().first);
      admissible.y.push_back(around.front().second);
    }
    admissible.width = 2.6;
    if (around.size() == 1) admissible.symbol = Symbol::disc;
    panel.series.push_back(admissible);
    Series marks;
    marks.colour = number - 1;
    marks.stroke = Stroke::none;
    marks.symbol = Symbol::circle;
    marks.radius = 4;
    for (const RestState& vertex : each.family.vertices) {
      marks.x.push_back(vertex.tangent[k]);
      marks.y.push_back(vertex.normal[k]);
    }
    if (around.size() > 1 && marks.x.size() <= 64) panel.series.push_back(std::move(marks));
  }
  // The line of balance through families of one dimension.
  for (const RestSurvey::Family& each : survey.families) {
    if (each.family.dimension != 1 || each.family.inside.status[k] == RestStatus::detached ||
        survey.rest.relations.size() != 1)
      continue;
    const RestState& a = each.family.inside;
    const RestState& b = each.family.vertices.empty() ? a : each.family.vertices.front();
    const double dt = a.tangent[k] - b.tangent[k], dn = a.normal[k] - b.normal[k];
    if (dn == 0) continue;
    Series line;
    line.label = "balance of forces";
    line.stroke = Stroke::dotted;
    line.width = 1;
    line.colour = 6;
    for (const double y : {0.0, top}) {
      line.x.push_back(a.tangent[k] + dt / dn * (y - a.normal[k]));
      line.y.push_back(y);
    }
    panel.series.push_back(std::move(line));
    break;
  }
  return panel;
}

/// Reactions of contact k after pushes along the coordinates, with their ends.
void add_paths(const RestSurvey& survey, std::size_t k, Panel& panel) {
  const std::size_t n = survey.rest.n;
  constexpr int kMostPaths = 4;
  int paths = 0;
  for (const RestSurvey::Family& each : survey.families) {
    for (const RestSurvey::Judged& judged : each.judged) {
      if (!judged.experiment || judged.state.normal[k] <= 0) continue;
      for (const auto& curve : judged.experiment->curves) {
        Series path;
        for (const std::vector<double>& row : curve.rows) {
          path.x.push_back(row[1 + n + 2 * k + 1]);
          path.y.push_back(row[1 + n + 2 * k]);
        }
        if (path.x.empty() || paths == kMostPaths) continue;
        ++paths;
        path.label = curve.what;
        path.width = 1;
        path.colour = paths + 1;
        Series end;
        end.stroke = Stroke::none;
        end.symbol = Symbol::diamond;
        end.colour = paths + 1;
        end.radius = 4;
        end.x = {path.x.back()};
        end.y = {path.y.back()};
        panel.series.push_back(std::move(path));
        panel.series.push_back(std::move(end));
      }
    }
  }
}

/// How far each coordinate that moves at all goes from the rest.
Panel offsets(const RestSurvey& survey, const RestSurvey::Judged& judged, const std::string& words) {
  Panel panel;
  panel.x.label = "t";
  panel.x.tight = true;
  panel.y.label = "offset from " + words;
  panel.height = 170;
  for (const auto& curve : judged.experiment->curves) {
    std::size_t most = 0;
    double far = -1;
    for (std::size_t i = 0; i < survey.rest.n; ++i) {
      for (const std::vector<double>& row : curve.rows) {
        if (std::abs(row[1 + i] - judged.state.x[i]) <= far) continue;
        far = std::abs(row[1 + i] - judged.state.x[i]);
        most = i;
      }
    }
    Series series;
    series.label = survey.rest.coordinates[most] + " after " + curve.what;
    for (const std::vector<double>& row : curve.rows) {
      series.x.push_back(row[0]);
      series.y.push_back(row[1 + most] - judged.state.x[most]);
    }
    panel.series.push_back(std::move(series));
  }
  return panel;
}

}  // namespace

Figure equilibria_figure(const RestSurvey& survey, const std::string& title) {
  Figure figure;
  figure.title = title;
  if (survey.search) return figure;
  figure.subtitle = "rest states at t = " + to_text(survey.time, 6);
  constexpr std::size_t kMostPanels = 6;
  for (std::size_t k = 0; k < survey.rest.relations.size() && figure.panels.size() < kMostPanels; ++k) {
    const auto& relation = survey.rest.relations[k];
    if (!relation.has_normal || relation.tangents.empty()) continue;
    figure.panels.push_back(reaction_plane(survey, k));
    add_paths(survey, k, figure.panels.back());
  }
  for (const RestSurvey::Family& each : survey.families) {
    for (const RestSurvey::Judged& judged : each.judged) {
      if (judged.experiment && !judged.experiment->curves.empty() && figure.panels.size() < kMostPanels)
        figure.panels.push_back(offsets(survey, judged, analysis::status_words(survey.rest, judged.state)));
    }
  }
  return figure;
}

}  // namespace judder::report
