// The motion on surfaces: while switches slide, the field is Filippov's combination of the fields beside them.
//
// A block of sliding switches that act on each other has 2^k corners, the combinations of their sides. At each of them the equations are evaluated
// with the switches around them read there; the shares of the corners are those that keep every surface at zero.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/dense/reduction.hpp"
#include "mode_motion.hpp"

namespace judder::engines {

// Blocks of the sliding switches, and what is needed to evaluate them.
void ModeMotion::group_sliding() {
  constexpr double kLevelMargin = 0x1p-30;
  const std::vector<int>& sliding = set_->sliding;
  const auto count = sliding.size();
  for (Block& block : blocks_) block.members.clear();
  block_count_ = coupling_.group(set_->mode, sliding);
  blocks_.resize(std::max(blocks_.size(), block_count_));
  for (std::size_t k = 0; k < count; ++k)
    blocks_[coupling_.block()[k]].members.push_back(static_cast<int>(k));
  block_of_.assign(at_.size, -1);
  for (int i = 0; i < n_; ++i) block_of_[i] = coupling_.block_of_coordinate(i);
  for (int i = 0; i < layout_.states; ++i) block_of_[at_.rate + i] = coupling_.block_of_state(i);
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    if (relation.touches.empty()) continue;
    block_of_[at_.normal + r] = block_of_[relation.touches.front()];
    for (int j = 0; j < relation.tangents; ++j)
      block_of_[at_.tangent + relation.first_tangent + j] = block_of_[relation.touches.front()];
  }
  lower_.resize(count);
  for (std::size_t k = 0; k < count; ++k) {
    const bool two_sided = system_.switches()[sliding[k]].two_sided();
    lower_[k] = two_sided ? 0 : std::floor(set_->mode.side[sliding[k]] - kLevelMargin);
  }
  outer_.clear();
  outer_block_.clear();
  for (int k = 0; k < layout_.switches; ++k) {
    const model::SwitchInfo& info = system_.switches()[k];
    if (set_->mode.slides(k)) continue;
    const bool contains = std::any_of(info.inner.begin(), info.inner.end(), [this](int inner) {
      return set_->mode.slides(inner) || std::find(outer_.begin(), outer_.end(), inner) != outer_.end();
    });
    if (!contains) continue;
    outer_.push_back(k);
    outer_block_.push_back(coupling_.block_of_switch(k));
  }
  std::size_t corners = 0;
  for (const Block& block : blocks()) corners = std::max<std::size_t>(corners, block.corners());
  corner_.resize(std::max(corner_.size(), corners * at_.size));
  blend_rounding_.assign(at_.size, 0.0);
  corner_force_.resize(std::max(corner_force_.size(), corners * n_));
  corner_rate_.resize(std::max(corner_rate_.size(), corners * count));
  corner_speed_.resize(std::max(corner_speed_.size(), corners * damped_nodes_.size()));
  alpha_.assign(count, 0.5);
  beta_.assign(count, 0.5);
  newton_.resize(std::max(newton_.size(), count * (count + 1)));
  lock_outer();
}

void ModeMotion::judge_outer_here() {
  for (std::size_t b = 0; b < block_count_; ++b) {
    const std::vector<int>& members = blocks_[b].members;
    int corner = 0;
    for (std::size_t bit = 0; bit < members.size(); ++bit) {
      if (work_.in[layout_.side() + set_->sliding[members[bit]]] > lower_[members[bit]] + 0.5)
        corner |= 1 << bit;
    }
    judge_outer(corner, static_cast<int>(b));
  }
}

std::vector<double> ModeMotion::corner_sides() const {
  std::vector<double> out;
  if (set_->sliding.empty()) return out;
  out.assign(lower_.begin(), lower_.end());
  out.insert(out.end(), locked_.begin(), locked_.end());
  return out;
}

// Puts the sliding switches of every block on their sides by the bits of `corner`.
void ModeMotion::take_corner(int corner) {
  for (std::size_t b = 0; b < block_count_; ++b) take_corner(static_cast<int>(b), corner);
}

// Outer switches have one side at each corner until one of these corner sides changes, which is an event: the field is smooth between.
void ModeMotion::lock_outer() {
  locked_.clear();
  fixed_.clear();
  open_corners_.clear();
  if (outer_.empty()) return;
  int corners = 0;
  for (const Block& block : blocks()) corners = std::max(corners, block.corners());
  for (int c = 0; c < corners; ++c) {
    take_corner(c);
    for (const int k : outer_) {
      const NestedSides::Verdict verdict = nested_sides_.judge(k, set_->sliding);
      if (verdict.place == NestedSides::Place::unknown)
        open_corners_.push_back(static_cast<int>(locked_.size()));
      fixed_.push_back(verdict.place == NestedSides::Place::along ||
                       verdict.place == NestedSides::Place::constant);
      locked_.push_back(verdict.side);
      work_.in[layout_.side() + k] = verdict.side;
    }
  }
  for (int k = 0; k < layout_.switches; ++k) work_.in[layout_.side() + k] = set_->mode.side[k];
}

// Corner sides whose argument is zero at the start: the motion that slides tells to which side it goes. True: another side than was assumed.
bool ModeMotion::decide_open_corners() {
  bool changed = false;
  for (const int at : open_corners_) {
    const int width = static_cast<int>(outer_.size());
    const model::SwitchInfo& info = system_.switches()[outer_[at % width]];
    const double rate = corner_rate(at % width, at / width);
    double lower = 0;
    static_cast<void>(distance_from_level(info, surface_[0], lower));
    const double side = rate > 0 ? lower + 1 : rate < 0 ? lower : lower + info.at_zero;
    changed = changed || side != locked_[at];
    locked_[at] = side;
  }
  open_corners_.clear();
  return changed;
}

// Argument of an outer switch at a corner, and its rate along the present motion.
double ModeMotion::corner_value(int outer, int corner) {
  double value = 0;
  at_corner(outer, corner, [&] {
    system_.switches()[outer_[outer]].value.evaluate(work_.in.data(), &value, work_.registers.data());
  });
  return value;
}

double ModeMotion::corner_rate(int outer, int corner) {
  double rate = 0;
  at_corner(outer, corner, [&] { rate = surface_rate(outer_[outer]); });
  return rate;
}

// Does something with the sides of a corner of the block that an outer switch belongs to.
template <class Action>
void ModeMotion::at_corner(int outer, int corner, const Action& action) {
  double* side = work_.in.data() + layout_.side();
  kept_sides_.assign(side, side + layout_.switches);
  take_corner(outer_block_[outer], corner);
  judge_outer(corner, outer_block_[outer]);
  action();
  std::copy(kept_sides_.begin(), kept_sides_.end(), side);
}

void ModeMotion::take_corner(int block, int corner) {
  const std::vector<int>& members = blocks_[block].members;
  for (std::size_t bit = 0; bit < members.size(); ++bit)
    work_.in[layout_.side() + set_->sliding[members[bit]]] = lower_[members[bit]] + ((corner >> bit) & 1);
}

// Outer switches of a block at a corner.
void ModeMotion::judge_outer(int corner, int block) {
  for (std::size_t i = 0; i < outer_.size(); ++i) {
    if (outer_block_[i] == block)
      work_.in[layout_.side() + outer_[i]] = locked_[static_cast<std::size_t>(corner) * outer_.size() + i];
  }
}

// The vector field for every combination of sides within a block, for all blocks at once.
bool ModeMotion::evaluate_corners() {
  const std::vector<int>& sliding = set_->sliding;
  const int count = static_cast<int>(sliding.size());
  int corners = 0;
  for (const Block& block : blocks()) corners = std::max(corners, block.corners());
  for (int c = 0; c < corners; ++c) {
    take_corner(c);
    for (std::size_t b = 0; b < block_count_; ++b) {
      if (c < blocks_[b].corners()) judge_outer(c, static_cast<int>(b));
    }
    if (!evaluate_plain()) return false;
    for (int k = 0; k < count; ++k) {
      corner_rate_[c * count + k] = set_->mode.surface[sliding[k]] == AtSurface::rests
                                        ? surface_acceleration(sliding[k])
                                        : surface_rate(sliding[k]);
    }
    double* out = corner_.data() + static_cast<std::size_t>(c) * at_.size;
    std::copy_n(outcome_.data(), at_.rate, out);
    std::copy_n(work_.rate.data(), layout_.states, out + at_.rate);
    std::copy_n(work_.force.data(), n_, corner_force_.data() + static_cast<std::size_t>(c) * n_);
    for (std::size_t i = 0; i < damped_nodes_.size(); ++i)
      corner_speed_[c * damped_nodes_.size() + i] = work_.in[layout_.v() + damped_nodes_[i]];
  }
  return true;
}

// Share of a corner in the motion of a block; `without`: a member that is left out, −1: none.
double ModeMotion::weight(int block, int corner, int without) const {
  double w = 1;
  const std::vector<int>& members = blocks_[block].members;
  for (std::size_t bit = 0; bit < members.size(); ++bit) {
    if (static_cast<int>(bit) == without) continue;
    w *= ((corner >> bit) & 1) != 0 ? alpha_[members[bit]] : beta_[members[bit]];
  }
  return w;
}

double ModeMotion::block_rate(int corner, int k) const {
  return corner_rate_[corner * static_cast<int>(set_->sliding.size()) + k];
}

// The coefficients that keep all surfaces of a block at zero. The rates are multilinear in them: solved by Newton from the last ones.
bool ModeMotion::find_coefficients(int block) {
  const std::vector<int>& members = blocks_[block].members;
  const int count = static_cast<int>(members.size());
  const int corners = blocks_[block].corners();
  int free = 0;  // coefficients that the surfaces determine
  for (const int k : members) {
    const int id = set_->sliding[k];
    // What is rested on, beside a row at rest that holds it by itself, is still where no side moves it.
    bool still = set_->mode.surface[id] == AtSurface::slides || block_rate(0, k) == 0;
    for (int c = 0; c < corners; ++c) still = still && block_rate(c, k) == block_rate(0, k);
    parallel_[id] = still ? 1 : 0;
    if (still) {
      alpha_[k] = parallel_coefficient(k);
      beta_[k] = 1 - alpha_[k];
    } else {
      ++free;
    }
  }
  if (free == 0) return true;
  if (count == 1) {
    const int k = members.front();
    const double difference = block_rate(0, k) - block_rate(1, k);
    if (difference == 0) return false;
    // The smaller share by its own quotient: where one side only begins to push, it is less than rounding of one. Together they are one.
    alpha_[k] = block_rate(0, k) / difference;
    beta_[k] = -block_rate(1, k) / difference;
    if (std::abs(alpha_[k]) < std::abs(beta_[k])) {
      beta_[k] = 1 - alpha_[k];
    } else {
      alpha_[k] = 1 - beta_[k];
    }
    return true;
  }
  const int stride = count + 1;
  for (int iteration = 0; iteration < 50; ++iteration) {
    double worst = 0;
    double scale = 0;
    for (int a = 0; a < count; ++a) {
      double value = 0;
      for (int c = 0; c < corners; ++c) {
        value += weight(block, c, -1) * block_rate(c, members[a]);
        scale = std::max(scale, std::abs(block_rate(c, members[a])));
      }
      const bool fixed = parallel_[set_->sliding[members[a]]] != 0;
      newton_[a * stride + count] = fixed ? 0 : -value;
      if (!fixed) worst = std::max(worst, std::abs(value));
      for (int b = 0; b < count; ++b) {
        double slope = 0;
        for (int c = 0; c < corners; ++c)
          slope += ((c >> b) & 1 ? 1.0 : -1.0) * weight(block, c, b) * block_rate(c, members[a]);
        newton_[a * stride + b] = fixed ? (a == b ? 1 : 0) : slope;
      }
    }
    if (worst <= 4e-16 * scale) return true;
    if (dense::reduce(newton_.data(), count, stride) < count) return false;
    for (int a = 0; a < count; ++a) {
      alpha_[members[a]] += newton_[a * stride + count] / newton_[a * stride + a];
      beta_[members[a]] = 1 - alpha_[members[a]];
    }
  }
  return false;
}

bool ModeMotion::evaluate_sliding() {
  constexpr std::size_t kMostCoupled = 10;
  constexpr double kBlendRounding = 4 * std::numeric_limits<double>::epsilon();  // of field, share and sum
  constexpr double kLevelMargin =
      0x1p-30;  // the stored side of a level tells its lower side, whatever the coefficient
  const std::vector<int>& sliding = set_->sliding;
  for (const Block& block : blocks()) {
    if (block.members.size() > kMostCoupled) return false;
  }
  if (!evaluate_corners()) return false;
  for (std::size_t b = 0; b < block_count_; ++b) {
    if (!find_coefficients(static_cast<int>(b))) return false;
  }
  for (int i = 0; i < at_.size; ++i) {
    const int block = block_of_[i];
    if (block < 0) {
      outcome_[i] = corner_[i];
      continue;
    }
    double sum = 0;
    double terms = 0;
    for (int c = 0; c < blocks_[block].corners(); ++c) {
      const double term = weight(block, c, -1) * corner_[static_cast<std::size_t>(c) * at_.size + i];
      sum += term;
      terms += std::abs(term);
    }
    // What the surfaces hold at zero has no motion of rounding either.
    outcome_[i] = std::abs(sum) <= kCancelled * terms ? 0 : sum;
    blend_rounding_[i] = kBlendRounding * terms;
  }
  still_what_slides();
  std::copy_n(outcome_.begin() + at_.rate, layout_.states, work_.rate.begin());
  // Speeds of nodes without mass are rates like any others: each side has its own.
  for (std::size_t i = 0; i < damped_nodes_.size(); ++i) {
    const int block = block_of_[damped_nodes_[i]];
    double sum = block < 0 ? corner_speed_[i] : 0;
    for (int c = 0; block >= 0 && c < blocks_[block].corners(); ++c)
      sum += weight(block, c, -1) * corner_speed_[c * damped_nodes_.size() + i];
    work_.in[layout_.v() + damped_nodes_[i]] = sum;
  }
  // The forces that go with it: reactions that are not unique are shared out by them.
  for (int i = 0; i < n_; ++i) {
    const int block = block_of_[i];
    double sum = block < 0 ? corner_force_[i] : 0;
    for (int c = 0; block >= 0 && c < blocks_[block].corners(); ++c)
      sum += weight(block, c, -1) * corner_force_[static_cast<std::size_t>(c) * n_ + i];
    work_.force[i] = sum;
  }
  // The rate towards the surface from each side, with the other sliding switches at their coefficients.
  for (std::size_t b = 0; b < block_count_; ++b) {
    const std::vector<int>& members = blocks_[b].members;
    for (std::size_t bit = 0; bit < members.size(); ++bit) {
      const int k = members[bit];
      const int id = sliding[k];
      double side_rate[2] = {0, 0};
      for (int c = 0; c < blocks_[b].corners(); ++c)
        side_rate[(c >> bit) & 1] += weight(static_cast<int>(b), c, static_cast<int>(bit)) * block_rate(c, k);
      sliding_rates_[2 * id] = side_rate[0];
      sliding_rates_[2 * id + 1] = side_rate[1];
      const model::SwitchInfo& info = system_.switches()[id];
      // A share of exactly one half would be read as a surface on which nothing happens.
      const double share =
          info.differ_at_zero && alpha_[k] == info.at_zero ? std::nextafter(alpha_[k], 1.0) : alpha_[k];
      work_.in[layout_.side() + id] = lower_[k] + share;
      set_->mode.side[id] = info.two_sided()
                                ? share
                                : lower_[k] + std::clamp(alpha_[k], 2 * kLevelMargin, 1 - 2 * kLevelMargin);
    }
  }
  for (const int k : outer_) work_.in[layout_.side() + k] = system_.side_of_value(work_, k);
  powers_known_ = false;  // those were of one corner
  return open_corners_.empty() || !decide_open_corners() || evaluate_sliding();
}

// The coefficients of several surfaces are found to rounding of the largest field beside them, which can be far more than the terms of
// what they hold. A coordinate whose velocity is such a surface has no acceleration at all: what is left of one would carry it away in
// time.
void ModeMotion::still_what_slides() {
  constexpr double kLeft = 1e-12;  ///< of the largest field
  const std::vector<int>& sliding = set_->sliding;
  for (const Block& block : blocks()) {
    if (block.members.size() < 2) continue;
    for (const int k : block.members) {
      const model::SwitchInfo& info = system_.switches()[sliding[k]];
      const bool rests = set_->mode.surface[sliding[k]] == AtSurface::rests;
      if (info.sees.size() != 1 || !info.sees_states.empty() || parallel_[sliding[k]] != 0 ||
          rests != (info.rate.outputs() > 0))
        continue;
      const int i = info.sees.front();
      if (outcome_[i] == 0) continue;
      double largest = 0;
      for (int c = 0; c < block.corners(); ++c)
        largest = std::max(largest, std::abs(corner_[static_cast<std::size_t>(c) * at_.size + i]));
      if (!(std::abs(outcome_[i]) <= kLeft * largest)) continue;
      const expr::Program& program = rests ? info.rate : info.surface;
      program.evaluate(work_.in.data(), surface_.data(), work_.registers.data());
      bool alone = surface_[1] == 0;
      for (int j = 0; j < n_ && alone; ++j)
        alone = surface_[2 + j] == 0 && (j == i || surface_[2 + n_ + j] == 0);
      if (alone) outcome_[i] = 0;
    }
  }
}

// The shares of a load that a switch and friction at rest bear together are not unique where both could bear more.
ModeMotion::SharedLoad ModeMotion::shared_load(int k) {
  constexpr double kOpen = 1e-9;  ///< range of coefficients that is more than rounding
  const std::vector<int>& sliding = set_->sliding;
  const auto at = static_cast<int>(std::find(sliding.begin(), sliding.end(), k) - sliding.begin());
  const int number = coupling_.block()[at];
  const Block& block = blocks_[number];
  const auto bit = std::find(block.members.begin(), block.members.end(), at) - block.members.begin();
  // What an entry of the outcome is on both sides, the other surfaces being slid on as they are; and the size of its terms.
  const auto change = [&](int entry, double& terms) {
    double sum = 0;
    terms = 0;
    for (int c = 0; c < block.corners(); ++c) {
      const double term =
          weight(number, c, static_cast<int>(bit)) * corner_[static_cast<std::size_t>(c) * at_.size + entry];
      sum += ((c >> bit) & 1) != 0 ? term : -term;
      terms += std::abs(term);
    }
    return sum;
  };
  SharedLoad out;
  double low = 0;
  double high = 1;
  double terms = 0;
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const int tangent = relation.first_tangent + j;
      if (set_->mode.tangent[tangent] != TangentStatus::stick || block_of_[at_.tangent + tangent] != number)
        continue;
      const double slope = change(at_.tangent + tangent, terms);
      if (!(std::abs(slope) > kCancelled * terms)) continue;
      const model::RelationRows& rows = system_.rows(work_, r);
      double load = rows.base;
      for (std::size_t f = 0; f < relation.feeds.size(); ++f)
        load += rows.factors[f] * std::abs(normal()[relation.feeds[f]]);
      const double limit = rows.tangent[j].mu_static * load;
      const double force = this->tangent()[tangent];
      const double ends[2] = {alpha_[at] + (-limit - force) / slope, alpha_[at] + (limit - force) / slope};
      low = std::max(low, std::min(ends[0], ends[1]));
      high = std::min(high, std::max(ends[0], ends[1]));
      out.relation = r;
    }
  }
  if (!(high - low > kOpen)) return {};
  for (int i = 0; i < n_ && !out.moves_others; ++i)
    out.moves_others = block_of_[i] == number && std::abs(change(i, terms)) > kCancelled * terms;
  for (int i = 0; i < layout_.states && !out.moves_others; ++i)
    out.moves_others =
        block_of_[at_.rate + i] == number && std::abs(change(at_.rate + i, terms)) > kCancelled * terms;
  return out;
}

// The coefficient of a switch that acts in parallel with sticking friction: what rows of its block carry is brought as far from their
// limits as the coefficient allows, so that they hold wherever any coefficient lets them. A single row is brought as near to zero as can
// be.
double ModeMotion::parallel_coefficient(int k) {
  constexpr int kHalvings = 60;
  const int number = coupling_.block()[k];
  const Block& block = blocks_[number];
  const auto bit = std::find(block.members.begin(), block.members.end(), k) - block.members.begin();
  const int corners = block.corners();
  double best = 0.5;
  double largest = 0;
  shares_.clear();
  for (int r = 0; r < layout_.relations; ++r) {
    const model::Relation& relation = system_.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const int tangent = relation.first_tangent + j;
      if (set_->mode.tangent[tangent] != TangentStatus::stick || block_of_[at_.tangent + tangent] != number)
        continue;
      double force[2] = {0, 0};
      double terms = 0;
      for (int c = 0; c < corners; ++c) {
        const double part =
            corner_[static_cast<std::size_t>(c) * at_.size + at_.tangent + tangent] * 2 / corners;
        force[(c >> bit) & 1] += part;
        terms += std::abs(part);
      }
      const double change = force[1] - force[0];
      if (std::abs(change) > largest) {
        largest = std::abs(change);
        best = std::clamp(-force[0] / change, 0.0, 1.0);
      }
      if (std::abs(change) > kCancelled * terms) shares_.push_back({r, j, force[0], change});
    }
  }
  if (shares_.size() > 1) {
    for (Share& share : shares_) {
      const model::RelationRows& rows = system_.rows(work_, share.relation);
      double load = rows.base;
      for (std::size_t f = 0; f < system_.relations()[share.relation].feeds.size(); ++f)
        load += rows.factors[f] * std::abs(normal()[system_.relations()[share.relation].feeds[f]]);
      const double limit = rows.tangent[share.tangent].mu_static * load;
      if (!(limit > 0)) return best;
      share.force /= limit;
      share.change /= limit;
    }
    // The largest of what they carry has its least where it ceases to fall.
    double low = 0;
    double high = 1;
    for (int halving = 0; halving < kHalvings; ++halving) {
      const double middle = 0.5 * (low + high);
      double most = -1;
      double slope = 0;
      for (const Share& share : shares_) {
        const double carried = share.force + middle * share.change;
        if (!(std::abs(carried) > most)) continue;
        most = std::abs(carried);
        slope = carried > 0 ? share.change : -share.change;
      }
      (slope > 0 ? high : low) = middle;
    }
    return high == 1 && low > 0.5 ? 1 : low == 0 && high < 0.5 ? 0 : 0.5 * (low + high);
  }
  if (largest > 0) return best;
  // Where nothing sticks and its surface is met without a slope (x + x'*abs(x')/2 at the origin), the motion rests there by the combination that
  // leaves its coordinates without acceleration.
  for (const int i : system_.switches()[set_->sliding[k]].sees) {
    double acceleration[2] = {0, 0};
    for (int c = 0; c < corners; ++c)
      acceleration[(c >> bit) & 1] += corner_[static_cast<std::size_t>(c) * at_.size + i] * 2 / corners;
    const double change = acceleration[1] - acceleration[0];
    if (std::abs(change) <= largest) continue;
    largest = std::abs(change);
    best = std::clamp(-acceleration[0] / change, 0.0, 1.0);
  }
  return best;
}

}  // namespace judder::engines
