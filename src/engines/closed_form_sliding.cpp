// Sliding on switches (Filippov) where it is linear.
#include <algorithm>
#include <cmath>

#include "closed_form_parts.hpp"
#include "core/dense/reduction.hpp"

namespace judder::engines {
namespace {

using model::AffineFunction;
using model::LinearStructure;

constexpr double kConstantDirection = 1e-10;  ///< of a jump of the field: relative slack for rounding

double size_of(double entry) { return std::abs(entry); }

}  // namespace

/// Whether the two sides of a sliding switch, the others on their lower sides, give its surface different rates anywhere. At the start of a slide they may not: a
/// friction that begins with zero pushes nothing yet.
bool ClosedForm::moves_own_surface(Context& c, int k) {
  double* sides = c.work.in.data() + c.layout.side();
  const AffineFunction& surface = c.structure.surface[k];
  Row jump;
  for (const int upper : {0, 1}) {
    for (int j = 0; j < c.layout.switches; ++j) {
      if (c.mode.slides(j)) sides[j] = c.motion.lower_side(j);
    }
    sides[k] += upper;
    c.motion.judge_outer_here();
    c.evaluate(values_);
    if (!collect_loads(c.structure)) return false;  // there are too many, which is said elsewhere
    Stack out;
    field(c, out);
    Row rate(out.all().front()->size(), 0.0);
    for (const AffineFunction::Slope& slope : surface.slopes) {
      if (slope.variable < n_) continue;
      const bool velocity = slope.variable < 2 * n_;
      const int at = velocity ? slope.variable - n_ : slope.variable - 2 * n_;
      add(rate, velocity ? out.acceleration[at] : out.rate[at], values_[slope.output]);
    }
    if (upper == 0) jump = rate;
    jump.resize(rate.size());
    if (upper != 0 && jump != rate) return true;
  }
  return false;
}

/// Filippov's motion on the surfaces of the sliding switches.
std::string ClosedForm::slide(Context& c, Stack& out) {
  std::vector<int> sliding;
  const auto& infos = c.system.switches();
  const bool sticks =
      std::find(c.mode.tangent.begin(), c.mode.tangent.end(), TangentStatus::stick) != c.mode.tangent.end();
  for (int k = 0; k < c.layout.switches; ++k) {
    // A surface that others hold, without friction, keeps its coefficient.
    if (c.mode.slides(k) && (sticks || !c.motion.parallel(k) || moves_own_surface(c, k)))
      sliding.push_back(k);
  }
  const int count = static_cast<int>(sliding.size());
  std::vector<int> outer;  // switches that contain a sliding one, inner before outer
  for (int k = 0; k < c.layout.switches; ++k) {
    if (c.motion.on_corners(k)) outer.push_back(k);
  }
  for (const int k : sliding) {
    if (c.mode.surface[k] == AtSurface::rests) return "the motion rests on the surface of " + infos[k].place;
    for (const int inner : infos[k].inner) {
      if (c.mode.slides(inner) || c.motion.on_corners(inner))
        return "the motion slides on " + infos[k].place + " and on a switch that stands in it";
    }
    const bool in_relations =
        std::any_of(outer.begin(), outer.end(), [&](int o) { return infos[o].in_relations; });
    if (infos[k].in_relations || in_relations)
      return "the motion slides on " + infos[k].place + ", which a contact or its law depends on";
    if (sticks && c.motion.parallel(k))
      return "the switch " + infos[k].place + " acts in parallel with sticking friction";
  }
  double* sides = c.work.in.data() + c.layout.side();
  const auto set_corner = [&](int first, int second) {
    for (const int k : sliding) sides[k] = c.motion.lower_side(k);
    if (first >= 0) sides[sliding[first]] += 1;
    if (second >= 0 && second != first) sides[sliding[second]] += 1;
    c.motion.judge_outer_here();
    c.evaluate(values_);
  };
  for (int k = -1; k < count; ++k) {
    for (int l = -1; l < count; ++l) {
      look();
      set_corner(k, l);
      if (!collect_loads(c.structure)) return "the loads of the motion on its surface are too many";
    }
  }
  set_corner(-1, -1);
  field(c, out);
  const Stack base = out;
  std::vector<Stack> direction_of(count);  // d_k in the first entry of every row
  std::vector<Row> phi(count);
  std::vector<Stack> corner(count);
  for (int k = 0; k < count; ++k) {
    set_corner(k, -1);
    field(c, corner[k]);
    const auto upper = corner[k].all();
    const auto lower = base.all();
    // The largest entry of the difference, relative to the sizes of its row and column.
    std::vector<double> column_size(lower.front()->size());
    std::vector<double> row_size(lower.size());
    for (std::size_t i = 0; i < lower.size(); ++i) {
      for (std::size_t b = 0; b < column_size.size(); ++b)
        row_size[i] += std::abs((*lower[i])[b]) + std::abs((*upper[i])[b]);
    }
    double best = 0;
    std::size_t best_row = 0;
    std::size_t best_column = 0;
    for (std::size_t b = 0; b < column_size.size(); ++b) {
      for (std::size_t i = 0; i < lower.size(); ++i) {
        if (row_size[i] == 0) continue;
        const double difference = std::abs((*upper[i])[b] - (*lower[i])[b]) / row_size[i];
        if (difference <= best) continue;
        best = difference;
        best_row = i;
        best_column = b;
      }
    }
    if (best == 0)
      return "the switch " + infos[sliding[k]].place + " does not change the motion that slides on it";
    const double pivot = (*upper[best_row])[best_column] - (*lower[best_row])[best_column];
    phi[k].resize(column_size.size());
    for (std::size_t b = 0; b < phi[k].size(); ++b)
      phi[k][b] = ((*upper[best_row])[b] - (*lower[best_row])[b]) / pivot;
    direction_of[k] = base;
    const auto d = direction_of[k].all();
    for (std::size_t i = 0; i < lower.size(); ++i) {
      const double along = (*upper[i])[best_column] - (*lower[i])[best_column];
      for (std::size_t b = 0; b < phi[k].size(); ++b) {
        const double size = std::abs((*lower[i])[b]) + std::abs((*upper[i])[b]);
        if (std::abs((*upper[i])[b] - (*lower[i])[b] - along * phi[k][b]) > kConstantDirection * size)
          return "the motion slides on " + infos[sliding[k]].place +
                 ", where the force jumps in a direction that varies";
      }
      (*d[i])[0] = along;
    }
  }
  for (int k = 0; k < count; ++k) {
    for (int l = 0; l < k; ++l) {
      set_corner(k, l);
      Stack both;
      field(c, both);
      const auto x = both.all();
      const auto a = corner[k].all();
      const auto b = corner[l].all();
      const auto o = base.all();
      for (std::size_t i = 0; i < x.size(); ++i) {
        for (std::size_t j = 0; j < x[i]->size(); ++j) {
          const double size =
              std::abs((*x[i])[j]) + std::abs((*a[i])[j]) + std::abs((*b[i])[j]) + std::abs((*o[i])[j]);
          if (std::abs((*x[i])[j] - (*a[i])[j] - (*b[i])[j] + (*o[i])[j]) > kConstantDirection * size)
            return "the motion slides on " + infos[sliding[k]].place + " and " + infos[sliding[l]].place +
                   ", whose forces multiply each other";
        }
      }
    }
  }
  set_corner(-1, -1);

  // ds/dt on the lower side, and its change per unit of ψ.
  std::vector<Row> rate(count);
  std::vector<double> matrix(count * count);
  for (int k = 0; k < count; ++k) {
    const AffineFunction& surface = c.structure.surface[sliding[k]];
    rate[k].assign(phi[k].size(), 0.0);
    for (const AffineFunction::Slope& slope : surface.slopes) {
      const double factor = values_[slope.output];
      if (slope.variable < n_) {
        rate[k][n_ + slope.variable] += factor;
      } else {
        const bool velocity = slope.variable < 2 * n_;
        const int at = velocity ? slope.variable - n_ : slope.variable - 2 * n_;
        add(rate[k], velocity ? base.acceleration[at] : base.rate[at], factor);
        for (int l = 0; l < count; ++l) {
          matrix[k * count + l] +=
              factor * (velocity ? direction_of[l].acceleration[at] : direction_of[l].rate[at])[0];
        }
      }
    }
    const Row plain = row(surface);
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      const double cosine = plain[y_ + 2 * i];
      const double sine = plain[y_ + 2 * i + 1];
      if (cosine == 0 && sine == 0) continue;
      const LoadKind kind = kinds_[i];
      rate[k][y_ + 2 * i] += kind.rate * cosine + kind.frequency * sine;
      rate[k][y_ + 2 * i + 1] += kind.rate * sine - kind.frequency * cosine;
      if (kind.power == 0) continue;
      const int lower = load_index(kind.power - 1, kind.rate, kind.frequency);
      rate[k][y_ + 2 * lower] += kind.power * cosine;
      rate[k][y_ + 2 * lower + 1] += kind.power * sine;
    }
  }
  // ψ = −(S D)⁻¹ rate, by elimination with row pivoting.
  const int length = rate.empty() ? 0 : static_cast<int>(rate.front().size());
  const int width = count + length;
  Row system;
  for (int k = 0; k < count; ++k) {
    system.insert(system.end(), matrix.begin() + k * count, matrix.begin() + (k + 1) * count);
    system.insert(system.end(), rate[k].begin(), rate[k].end());
  }
  if (const int p = dense::reduce(system.data(), count, width); p < count)
    return "the motion on " + infos[sliding[p]].place + " is not determined by its surface";
  std::vector<Row> psi(rate.size(), Row(length));
  for (int k = 0; k < count; ++k) {
    const double* const reduced = system.data() + k * width;
    for (int q = 0; q < length; ++q) psi[k][q] = reduced[count + q] / -reduced[k];
  }
  Stack sizes = out;
  for (Row* row : sizes.all()) std::transform(row->begin(), row->end(), row->begin(), size_of);
  for (int l = 0; l < count; ++l) {
    Row size = psi[l];
    std::transform(size.begin(), size.end(), size.begin(), size_of);
    Stack::pairs(out, direction_of[l], [&](Row& to, const Row& d) { add(to, psi[l], d[0]); });
    Stack::pairs(sizes, direction_of[l], [&](Row& to, const Row& d) { add(to, size, std::abs(d[0])); });
  }
  // What the surfaces hold at zero has no motion of rounding either.
  Stack::pairs(out, sizes, [](Row& to, const Row& terms) {
    for (std::size_t b = 0; b < to.size(); ++b) {
      if (std::abs(to[b]) <= kCancelled * terms[b]) to[b] = 0;
    }
  });
  c.above.resize(c.layout.switches);
  c.below.resize(c.layout.switches);
  for (int k = 0; k < count; ++k) {
    Row below = rate[k];
    for (int l = 0; l < count; ++l) {
      if (l != k) add(below, psi[l], matrix[k * count + l]);
    }
    Row above = below;
    add(above, phi[k], matrix[k * count + k]);
    c.above[sliding[k]] = std::move(above);
    c.below[sliding[k]] = std::move(below);
  }
  return {};
}

std::string ClosedForm::sliding_problem(const model::System& system) {
  const model::Layout& layout = system.layout();
  const LinearStructure& structure = system.linear();
  model::Workspace work(system);
  ClosedForm form;
  form.n_ = layout.coordinates;
  form.states_ = layout.states;
  form.y_ = layout.integrated();
  const auto evaluate = [&] {
    form.values_.resize(structure.coefficients.outputs());
    structure.coefficients.evaluate(work.in.data(), form.values_.data(), work.registers.data());
    return form.collect_loads(structure);
  };
  const auto rows = [&] {
    std::vector<Row> out;
    for (const AffineFunction& f : structure.force) out.push_back(form.row(f));
    for (const AffineFunction& f : structure.rate) out.push_back(form.row(f));
    return out;
  };
  for (int k = 0; k < layout.switches; ++k) {
    const model::SwitchInfo& info = system.switches()[k];
    if (info.time_only || !info.two_sided() || info.kind != expr::SwitchKind::jump || !info.in_motion)
      continue;
    double& side = work.in[layout.side() + k];
    const double kept = side;
    for (const double value : {0.0, 1.0}) {
      side = value;
      if (!evaluate()) return "switch in " + info.place + ": there are too many loads on its sides";
    }
    const std::vector<Row> upper = rows();
    side = 0;
    static_cast<void>(evaluate());  // known by now
    const std::vector<Row> lower = rows();
    side = kept;
    const auto jump = [&](std::size_t i, std::size_t b) { return upper[i][b] - lower[i][b]; };

    // Does the surface see the force? Slopes with respect to velocities meet M⁻¹ of the jump, those of states the jump of the rates.
    bool seen = false;
    std::vector<double> response(form.n_);
    for (std::size_t b = 0; !lower.empty() && b < lower.front().size() && !seen; ++b) {
      for (int i = 0; i < form.n_; ++i) response[i] = jump(i, b);
      system.solve_mass(work, response.data());
      double rate = 0;
      for (const AffineFunction::Slope& slope : structure.surface[k].slopes) {
        const double factor = form.values_[slope.output];
        if (slope.variable >= 2 * form.n_) rate += factor * jump(slope.variable - form.n_, b);
        if (slope.variable >= form.n_ && slope.variable < 2 * form.n_)
          rate += factor * response[slope.variable - form.n_];
      }
      seen = rate != 0;
    }
    if (!seen) continue;
    // One constant direction: all rows of the jump are multiples of one.
    std::size_t pivot_row = 0;
    std::size_t pivot_column = 0;
    double best = 0;
    for (std::size_t i = 0; i < lower.size(); ++i) {
      for (std::size_t b = 0; b < lower[i].size(); ++b) {
        const double size = std::abs(lower[i][b]) + std::abs(upper[i][b]);
        if (size == 0 || std::abs(jump(i, b)) / size <= best) continue;
        best = std::abs(jump(i, b)) / size;
        pivot_row = i;
        pivot_column = b;
      }
    }
    for (std::size_t i = 0; i < lower.size(); ++i) {
      for (std::size_t b = 0; b < lower[i].size(); ++b) {
        const double expected = jump(i, pivot_column) * (jump(pivot_row, b) / jump(pivot_row, pivot_column));
        const double size = std::abs(lower[i][b]) + std::abs(upper[i][b]) + std::abs(expected);
        if (std::abs(jump(i, b) - expected) > kConstantDirection * size)
          return "switch in " + info.place +
                 ": the force jumps in a direction that varies, so sliding on it would not be linear";
      }
    }
    // In parallel with set-valued friction the share of each is not determined linearly.
    for (int r = 0; r < layout.relations; ++r) {
      const model::Relation& relation = system.relations()[r];
      for (int j = 0; j < relation.tangents && !relation.smooth_friction; ++j) {
        const Row surface = form.row(structure.surface[k]);
        const Row slip = form.row(structure.tangent[relation.first_tangent + j].slip);
        std::size_t at = 0;
        while (at < slip.size() && slip[at] == 0) ++at;
        bool same = at < slip.size() && surface[at] != 0;
        for (std::size_t b = 0; b < slip.size() && same; ++b)
          same = surface[b] * slip[at] == slip[b] * surface[at];
        if (same)
          return "switch in " + info.place + ": it acts in parallel with the friction of '" + relation.name +
                 "'";
      }
    }
  }
  return {};
}

}  // namespace judder::engines
