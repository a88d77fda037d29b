#include "closed_form.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "engines/numeric/double_double.hpp"

namespace judder::engines {
namespace {

using model::AffineFunction;
using model::LinearStructure;
using numeric::DoubleDouble;

constexpr double kConstantDirection = 1e-10;  ///< of a jump of the field: relative slack for rounding
constexpr std::size_t kMostMargins = 512;     ///< rows that elimination may give before it is given up

template <class Visit>
void for_each_function(const LinearStructure& structure, const Visit& visit) {
  for (const AffineFunction& f : structure.force) visit(f);
  for (const AffineFunction& f : structure.rate) visit(f);
  for (const LinearStructure::Normal& row : structure.normal) {
    for (const AffineFunction* f : {&row.gap, &row.gap_time, &row.zeta}) visit(*f);
  }
  for (const LinearStructure::Tangent& row : structure.tangent) {
    for (const AffineFunction* f : {&row.slip, &row.drive, &row.zeta, &row.known, &row.at_rest}) visit(*f);
  }
  for (const AffineFunction& f : structure.base) visit(f);
  for (const AffineFunction& f : structure.surface) visit(f);
  for (const AffineFunction& f : structure.watch) visit(f);
  for (const model::QuadraticFunction& power : structure.power) {
    for (const auto& product : power.products) visit(product.other);
  }
}

bool all_zero(const std::vector<double>& row) {
  return std::all_of(row.begin(), row.end(), [](double x) { return x == 0; });
}

bool slips(TangentStatus status) { return status != TangentStatus::stick && status != TangentStatus::free; }

}  // namespace

struct ClosedForm::Context {
  const model::System& system;
  model::Workspace& work;
  ModeMotion& motion;
  const std::vector<Guard>& guards;
  const model::Layout& layout;
  const LinearStructure& structure;
  const Mode& mode;
  std::vector<Row> above, below;  ///< by switch: ds/dt on its two sides while it slides

  void evaluate(std::vector<double>& values) {
    values.resize(structure.coefficients.outputs());
    structure.coefficients.evaluate(work.in.data(), values.data(), work.registers.data());
  }
  [[nodiscard]] bool touched(int r) const {
    const model::Relation& relation = system.relations()[r];
    return mode.normal[r] != NormalStatus::open && (relation.has_normal || relation.tangents > 0);
  }
  /// |λ_N| of a feed is this times λ_N.
  [[nodiscard]] double pressed(int r) const { return mode.pressed[r] == 0 ? 1 : mode.pressed[r]; }
};

struct ClosedForm::Stack {
  std::vector<Row> acceleration, rate, normal, tangent;

  template <class Visit>
  static void pairs(Stack& a, const Stack& b, const Visit& visit) {
    const auto lists = [&](std::vector<Row>& x, const std::vector<Row>& y) {
      for (std::size_t i = 0; i < x.size(); ++i) visit(x[i], y[i]);
    };
    lists(a.acceleration, b.acceleration);
    lists(a.rate, b.rate);
    lists(a.normal, b.normal);
    lists(a.tangent, b.tangent);
  }
  [[nodiscard]] std::vector<const Row*> all() const {
    std::vector<const Row*> out;
    for (const auto* list : {&acceleration, &rate, &normal, &tangent}) {
      for (const Row& row : *list) out.push_back(&row);
    }
    return out;
  }
  [[nodiscard]] std::vector<Row*> all() {
    std::vector<Row*> out;
    for (auto* list : {&acceleration, &rate, &normal, &tangent}) {
      for (Row& row : *list) out.push_back(&row);
    }
    return out;
  }
};

int ClosedForm::load_index(int power, double rate, double frequency) {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i].power == power && kinds_[i].rate == rate && kinds_[i].frequency == frequency) return static_cast<int>(i);
  }
  kinds_.push_back({power, rate, frequency});
  return static_cast<int>(kinds_.size()) - 1;
}

/// Every load that occurs with a coefficient, and the lower powers that its derivative brings.
void ClosedForm::collect_loads(const LinearStructure& structure) {
  static_cast<void>(load_index(0, 0, 0));  // the constant 1
  for_each_function(structure, [this](const AffineFunction& f) {
    for (const AffineFunction::Load& load : f.loads) {
      const double frequency = values_[load.frequency];
      if (values_[load.cosine] == 0 && (values_[load.sine] == 0 || frequency == 0)) continue;
      for (int power = 0; power <= load.power; ++power) static_cast<void>(load_index(power, values_[load.rate], std::abs(frequency)));
    }
  });
}

ClosedForm::Row ClosedForm::row(const AffineFunction& function) const {
  Row out(y_ + 2 * kinds_.size());
  for (const AffineFunction::Slope& slope : function.slopes) {
    if (slope.variable < y_) out[slope.variable] += values_[slope.output];
  }
  for (const AffineFunction::Load& load : function.loads) {
    const double frequency = values_[load.frequency];
    const double cosine = values_[load.cosine];
    const double sine = frequency == 0 ? 0 : frequency < 0 ? -values_[load.sine] : values_[load.sine];
    if (cosine == 0 && sine == 0) continue;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i].power != load.power || kinds_[i].rate != values_[load.rate] || kinds_[i].frequency != std::abs(frequency)) continue;
      out[y_ + 2 * i] += cosine;
      out[y_ + 2 * i + 1] += sine;
    }
  }
  return out;
}

void ClosedForm::add(Row& to, const Row& from, double factor) const {
  if (factor == 0) return;
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
}

/// Accelerations, rates and reactions at the present coefficients.
void ClosedForm::field(Context& c, Stack& out) {
  const LinearStructure& s = c.structure;
  const int basis = y_ + 2 * static_cast<int>(kinds_.size());
  std::vector<Row> force;
  for (const AffineFunction& f : s.force) force.push_back(row(f));
  out.rate.clear();
  for (const AffineFunction& f : s.rate) out.rate.push_back(row(f));
  for (int r = 0; r < c.layout.relations; ++r) {
    if (!c.touched(r)) continue;
    const model::Relation& relation = c.system.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      const TangentStatus status = c.mode.tangent[number];
      if (!slips(status)) continue;
      const Row known = row(s.tangent[number].known);
      const double direction_of_slip = status == TangentStatus::smooth ? 1 : direction(status);
      for (int i = 0; i < n_; ++i) add(force[i], known, -direction_of_slip * values_[s.tangent[number].drag[i]]);
    }
  }
  const int active = c.motion.active();
  std::vector<Row> zeta;
  for (int k = 0; k < active; ++k) {
    const int r = c.motion.active_relation(k);
    const int j = c.motion.active_tangent(k);
    zeta.push_back(row(j < 0 ? s.normal[r].zeta : s.tangent[c.system.relations()[r].first_tangent + j].zeta));
  }
  const Row nothing(basis);
  out.acceleration.assign(n_, nothing);
  out.normal.assign(c.layout.relations, nothing);
  out.tangent.assign(c.layout.tangents, nothing);
  std::vector<double> push(n_), term(active), acceleration(n_), lambda(active);
  for (int b = 0; b < basis; ++b) {
    bool any = false;
    for (int i = 0; i < n_; ++i) {
      push[i] = force[i][b];
      any = any || push[i] != 0;
    }
    for (int k = 0; k < active; ++k) {
      term[k] = zeta[k][b];
      any = any || term[k] != 0;
    }
    if (!any) continue;
    c.motion.respond(push.data(), term.data(), acceleration.data(), lambda.data());
    for (int i = 0; i < n_; ++i) out.acceleration[i][b] = acceleration[i];
    for (int k = 0; k < active; ++k) {
      const int r = c.motion.active_relation(k);
      const int j = c.motion.active_tangent(k);
      (j < 0 ? out.normal[r] : out.tangent[c.system.relations()[r].first_tangent + j])[b] = lambda[k];
    }
  }
  for (int r = 0; r < c.layout.relations; ++r) {
    if (!c.touched(r)) continue;
    const model::Relation& relation = c.system.relations()[r];
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      const TangentStatus status = c.mode.tangent[number];
      if (!slips(status)) continue;
      const double direction_of_slip = status == TangentStatus::smooth ? 1 : direction(status);
      const LinearStructure::Tangent& tangent = s.tangent[number];
      add(out.tangent[number], row(tangent.known), -direction_of_slip);
      for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
        const int fed = relation.feeds[f];
        add(out.tangent[number], out.normal[fed], -direction_of_slip * values_[tangent.fed[f]] * c.pressed(fed));
      }
    }
  }
}

/// Filippov's motion on the surfaces of the sliding switches.
std::string ClosedForm::slide(Context& c, Stack& out) {
  std::vector<int> sliding;
  for (int k = 0; k < c.layout.switches; ++k) {
    if (c.mode.sliding[k] != 0) sliding.push_back(k);
  }
  const int count = static_cast<int>(sliding.size());
  const auto& infos = c.system.switches();
  for (const int k : sliding) {
    if (infos[k].in_relations) return "the motion slides on " + infos[k].place + ", which a contact or its law depends on";
    if (c.motion.parallel(k)) return "the switch " + infos[k].place + " acts in parallel with sticking friction";
  }
  double* sides = c.work.in.data() + c.layout.side();
  const auto set_corner = [&](int first, int second) {
    for (const int k : sliding) sides[k] = 0;
    if (first >= 0) sides[sliding[first]] = 1;
    if (second >= 0) sides[sliding[second]] = 1;
    c.evaluate(values_);
  };
  for (int k = -1; k < count; ++k) {
    for (int l = -1; l < count; ++l) {
      set_corner(k, l);
      collect_loads(c.structure);
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
      for (std::size_t b = 0; b < column_size.size(); ++b) row_size[i] += std::abs((*lower[i])[b]) + std::abs((*upper[i])[b]);
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
    if (best == 0) return "the switch " + infos[sliding[k]].place + " does not change the motion that slides on it";
    const double pivot = (*upper[best_row])[best_column] - (*lower[best_row])[best_column];
    phi[k].resize(column_size.size());
    for (std::size_t b = 0; b < phi[k].size(); ++b) phi[k][b] = ((*upper[best_row])[b] - (*lower[best_row])[b]) / pivot;
    direction_of[k] = base;
    const auto d = direction_of[k].all();
    for (std::size_t i = 0; i < lower.size(); ++i) {
      const double along = (*upper[i])[best_column] - (*lower[i])[best_column];
      for (std::size_t b = 0; b < phi[k].size(); ++b) {
        const double size = std::abs((*lower[i])[b]) + std::abs((*upper[i])[b]);
        if (std::abs((*upper[i])[b] - (*lower[i])[b] - along * phi[k][b]) > kConstantDirection * size)
          return "the motion slides on " + infos[sliding[k]].place + ", where the force jumps in a direction that varies";
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
          const double size = std::abs((*x[i])[j]) + std::abs((*a[i])[j]) + std::abs((*b[i])[j]) + std::abs((*o[i])[j]);
          if (std::abs((*x[i])[j] - (*a[i])[j] - (*b[i])[j] + (*o[i])[j]) > kConstantDirection * size)
            return "the motion slides on " + infos[sliding[k]].place + " and " + infos[sliding[l]].place + ", whose forces multiply each other";
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
          matrix[k * count + l] += factor * (velocity ? direction_of[l].acceleration[at] : direction_of[l].rate[at])[0];
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
  std::vector<Row> psi = rate;
  std::vector<double> lu = matrix;
  for (int p = 0; p < count; ++p) {
    int best = p;
    for (int r = p + 1; r < count; ++r) {
      if (std::abs(lu[r * count + p]) > std::abs(lu[best * count + p])) best = r;
    }
    if (lu[best * count + p] == 0) return "the motion on " + infos[sliding[p]].place + " is not determined by its surface";
    for (int q = 0; q < count; ++q) std::swap(lu[p * count + q], lu[best * count + q]);
    std::swap(psi[p], psi[best]);
    for (int r = 0; r < count; ++r) {
      if (r == p) continue;
      const double ratio = lu[r * count + p] / lu[p * count + p];
      for (int q = p; q < count; ++q) lu[r * count + q] -= ratio * lu[p * count + q];
      add(psi[r], psi[p], -ratio);
    }
  }
  for (int k = 0; k < count; ++k) {
    for (double& entry : psi[k]) entry /= -lu[k * count + k];
  }
  for (int l = 0; l < count; ++l) {
    Stack::pairs(out, direction_of[l], [&](Row& to, const Row& d) { add(to, psi[l], d[0]); });
  }
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

/// Â from the accelerations and rates.
void ClosedForm::assemble(const Stack& stack) {
  std::vector<double> a(y_ * y_);
  for (int i = 0; i < n_; ++i) {
    a[i * y_ + n_ + i] = 1;
    for (int j = 0; j < y_; ++j) a[(n_ + i) * y_ + j] = stack.acceleration[i][j];
  }
  for (int i = 0; i < states_; ++i) {
    for (int j = 0; j < y_; ++j) a[(2 * n_ + i) * y_ + j] = stack.rate[i][j];
  }
  std::vector<numeric::LoadTerm> loads;
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    numeric::LoadTerm term{kinds_[k].power, kinds_[k].rate, kinds_[k].frequency};
    term.cosine.assign(y_, 0.0);
    term.sine.assign(y_, 0.0);
    for (int i = 0; i < n_; ++i) {
      term.cosine[n_ + i] = stack.acceleration[i][y_ + 2 * k];
      term.sine[n_ + i] = stack.acceleration[i][y_ + 2 * k + 1];
    }
    for (int i = 0; i < states_; ++i) {
      term.cosine[2 * n_ + i] = stack.rate[i][y_ + 2 * k];
      term.sine[2 * n_ + i] = stack.rate[i][y_ + 2 * k + 1];
    }
    loads.push_back(std::move(term));
  }
  linear_.build(y_, a.data(), loads);
  place_.clear();
  for (const LoadKind& kind : kinds_) {
    const int at = linear_.load_state(kind.power, kind.rate, kind.frequency);
    place_.push_back(at);
    place_.push_back(kind.frequency == 0 ? -1 : at + 1);
  }
  exponentials.build(linear_.size(), linear_.matrix());
  window_ = exponentials.nilpotent() ? std::numeric_limits<double>::infinity() : std::ldexp(1.0, exponentials.natural_exponent());
}

ClosedForm::Row ClosedForm::augmented(const Row& row) const {
  Row out(linear_.size());
  std::copy_n(row.begin(), y_, out.begin());
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    double factorial = 1;
    for (int i = 2; i <= kinds_[k].power; ++i) factorial *= i;
    for (std::size_t part = 0; part < 2; ++part) {
      const int at = place_[2 * k + part];
      if (at >= 0) out[at] += factorial * row[y_ + 2 * k + part];
    }
  }
  return out;
}

/// Reactions are admissible if all rows are ≥ 0 for some choice of their undetermined parts; those are eliminated one after the other.
void ClosedForm::list_margins(Context& c, const Stack& stack, int guard, std::vector<Row>& rows) {
  struct Condition {
    Row row;
    std::vector<double> free;  ///< coefficients of the undetermined parts
  };
  const int nullity = c.motion.nullity();
  const int active = c.motion.active();
  std::vector<std::vector<double>> ways(nullity, std::vector<double>(active));
  for (int w = 0; w < nullity; ++w) c.motion.null_reactions(w, ways[w].data());
  const auto free_part = [&](int relation, int tangent) {
    std::vector<double> out(nullity);
    for (int k = 0; k < active; ++k) {
      if (c.motion.active_relation(k) != relation || c.motion.active_tangent(k) != tangent) continue;
      for (int w = 0; w < nullity; ++w) out[w] = ways[w][k];
    }
    return out;
  };
  std::vector<Condition> conditions;
  for (int r = 0; r < c.layout.relations; ++r) {
    if (!c.touched(r)) continue;
    const model::Relation& relation = c.system.relations()[r];
    if (c.mode.normal[r] == NormalStatus::closed) conditions.push_back({stack.normal[r], free_part(r, -1)});
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      if (c.mode.tangent[number] != TangentStatus::stick) continue;
      Condition limit{row(c.structure.tangent[number].at_rest), std::vector<double>(nullity)};
      for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
        const int fed = relation.feeds[f];
        const double factor = values_[c.structure.tangent[number].fed_rest[f]] * c.pressed(fed);
        add(limit.row, stack.normal[fed], factor);
        const std::vector<double> part = free_part(fed, -1);
        for (int w = 0; w < nullity; ++w) limit.free[w] += factor * part[w];
      }
      const std::vector<double> part = free_part(r, j);
      for (const double sign : {-1.0, 1.0}) {
        Condition cone = limit;
        add(cone.row, stack.tangent[number], sign);
        for (int w = 0; w < nullity; ++w) cone.free[w] += sign * part[w];
        conditions.push_back(std::move(cone));
      }
    }
  }
  for (int w = 0; w < nullity; ++w) {
    double largest = 0;
    for (const Condition& condition : conditions) largest = std::max(largest, std::abs(condition.free[w]));
    const auto sign = [&](const Condition& condition) {
      const double x = condition.free[w];
      return std::abs(x) <= 1e-12 * largest ? 0 : x > 0 ? 1 : -1;
    };
    std::vector<Condition> next;
    for (const Condition& condition : conditions) {
      if (sign(condition) == 0) next.push_back(condition);
    }
    for (const Condition& up : conditions) {
      if (sign(up) <= 0) continue;
      for (const Condition& down : conditions) {
        if (sign(down) >= 0) continue;
        const double total = up.free[w] - down.free[w];
        Condition both{Row(up.row.size()), std::vector<double>(nullity)};
        add(both.row, up.row, -down.free[w] / total);
        add(both.row, down.row, up.free[w] / total);
        for (int v = 0; v < nullity; ++v) both.free[v] = (up.free[w] * down.free[v] - down.free[w] * up.free[v]) / total;
        next.push_back(std::move(both));
      }
    }
    conditions = std::move(next);
    if (conditions.size() > kMostMargins) return;  // reported by the caller: no row for the guard
  }
  for (Condition& condition : conditions) {
    functions_.push_back({guard, false});
    rows.push_back(std::move(condition.row));
  }
}

std::string ClosedForm::list_functions(Context& c, const Stack& stack) {
  const LinearStructure& s = c.structure;
  std::vector<Row> rows;
  functions_.clear();
  const auto take = [&](int guard, Row row, bool rising = false) {
    functions_.push_back({guard, rising});
    rows.push_back(std::move(row));
  };
  const auto scaled = [this](const Row& from, double factor) {
    Row out(from.size());
    add(out, from, factor);
    return out;
  };
  const auto limit = [&](int r, int number, bool at_rest) {
    Row out = row(at_rest ? s.tangent[number].at_rest : s.base[r]);
    const std::vector<int>& feeds = c.system.relations()[r].feeds;
    for (std::size_t f = 0; f < feeds.size(); ++f) {
      add(out, stack.normal[feeds[f]], values_[at_rest ? s.tangent[number].fed_rest[f] : s.factors[r][f]] * c.pressed(feeds[f]));
    }
    return out;
  };
  for (std::size_t g = 0; g < c.guards.size(); ++g) {
    const Guard& guard = c.guards[g];
    const int index = static_cast<int>(g);
    const int place = guard.place;
    const auto number = [&] { return c.system.relations()[place].first_tangent + guard.tangent; };
    switch (guard.kind) {
      case GuardKind::gap: take(index, row(s.normal[place].gap)); break;
      case GuardKind::reaction: take(index, stack.normal[place]); break;
      case GuardKind::pressed: take(index, scaled(stack.normal[place], guard.sign)); break;
      case GuardKind::cone_plus:
      case GuardKind::cone_minus: {
        Row cone = limit(place, number(), true);
        add(cone, stack.tangent[number()], guard.kind == GuardKind::cone_plus ? -1 : 1);
        take(index, std::move(cone));
        break;
      }
      case GuardKind::slip: take(index, scaled(row(s.tangent[number()].slip), guard.sign)); break;
      case GuardKind::joint_normal: take(index, limit(place, -1, false)); break;
      case GuardKind::jam: break;  // constant in a linear system
      case GuardKind::margin: {
        const std::size_t before = rows.size();
        list_margins(c, stack, index, rows);
        if (rows.size() == before && c.motion.nullity() > 1) return "too many contacts share their reactions";
        break;
      }
      case GuardKind::side: take(index, scaled(row(s.surface[place]), guard.sign)); break;
      case GuardKind::level_below:
      case GuardKind::level_above: {
        const bool below = guard.kind == GuardKind::level_below;
        const model::SwitchInfo& info = c.system.switches()[place];
        const auto level = static_cast<long>(c.mode.side[place]) + (below ? 0 : 1);
        const double bound = info.whole ? static_cast<double>(level) : info.levels[level];
        Row distance = scaled(row(s.surface[place]), below ? 1 : -1);
        distance[y_] += below ? -bound : bound;  // the first load is the constant 1
        take(index, std::move(distance));
        break;
      }
      case GuardKind::slide_above: take(index, scaled(c.above[place], -1)); break;
      case GuardKind::slide_below: take(index, c.below[place]); break;
      case GuardKind::watch: {
        const AffineFunction& f = s.watch[place];
        Row watch = row(f);
        for (const AffineFunction::Slope& slope : f.slopes) {
          int at = slope.variable - y_;
          if (at < 0) continue;
          const double factor = values_[slope.output];
          if (at < n_) {
            add(watch, stack.acceleration[at], factor);
            continue;
          }
          at -= n_;
          add(watch, at < c.layout.relations ? stack.normal[at] : stack.tangent[at - c.layout.relations], factor);
        }
        const int wanted = c.system.watches()[place].direction;
        if (wanted <= 0) take(index, watch);
        if (wanted >= 0) take(index, scaled(watch, -1), true);
        break;
      }
    }
  }
  std::vector<double> all;
  for (const Row& r : rows) {
    const Row wide = augmented(r);
    if (!std::all_of(wide.begin(), wide.end(), [](double x) { return std::isfinite(x); })) return "a coefficient is not a finite number";
    all.insert(all.end(), wide.begin(), wide.end());
  }
  if (!search.build(exponentials, static_cast<int>(rows.size()), all.data())) return "a load is a polynomial of too high a degree";
  return {};
}

int ClosedForm::integral_row(const Row& row) {
  Row wide = augmented(row);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i] == wide) return static_cast<int>(i);
  }
  rows_.push_back(std::move(wide));
  return static_cast<int>(rows_.size()) - 1;
}

void ClosedForm::list_work(Context& c, const Stack& stack) {
  rows_.clear();
  products_.clear();
  reaction_rows_.clear();
  work_by_products_ = std::all_of(c.mode.sliding.begin(), c.mode.sliding.end(), [](std::uint8_t k) { return k == 0; });
  const int basis = y_ + 2 * static_cast<int>(kinds_.size());
  const auto product = [&](int component, const Row& first, const Row& second, double factor) {
    if (all_zero(first) || all_zero(second) || factor == 0) return;
    products_.push_back({component, integral_row(first), integral_row(second), factor});
  };
  const auto unit = [basis](int at) {
    Row out(basis);
    out[at] = 1;
    return out;
  };
  const auto along = [&](const std::vector<int>& direction_outputs) {
    Row out(basis);
    for (int i = 0; i < n_; ++i) out[n_ + i] += values_[direction_outputs[i]];
    return out;
  };
  const auto& audits = c.system.audits();
  const int elements = static_cast<int>(audits.size());
  for (int e = 0; e < elements && work_by_products_; ++e) {
    const model::AuditInfo& element = audits[e];
    if (element.power >= 0) {
      for (const auto& term : c.structure.power[element.power].products) {
        product(element.dissipative ? e : elements + e, unit(term.variable < 0 ? y_ : term.variable), row(term.other),
                element.dissipative ? -1 : 1);
      }
    }
    const int r = element.relation;
    if (r < 0 || !c.touched(r)) continue;
    const model::Relation& relation = c.system.relations()[r];
    const LinearStructure::Normal& normal = c.structure.normal[r];
    if (relation.has_normal) {
      if (relation.own_push) {
        product(elements + e, stack.normal[r], along(normal.push), 1);
      } else {
        product(elements + e, stack.normal[r], row(normal.gap_time), -1);
      }
    }
    for (int j = 0; j < relation.tangents; ++j) {
      const int number = relation.first_tangent + j;
      const LinearStructure::Tangent& tangent = c.structure.tangent[number];
      const bool sticks = c.mode.tangent[number] == TangentStatus::stick;
      const Row slip = sticks ? Row(basis) : row(tangent.slip);
      product(e, stack.tangent[number], slip, -1);
      if (relation.own_push) {
        Row excess = along(tangent.drag);
        add(excess, slip, -1);
        product(elements + e, stack.tangent[number], excess, 1);
      } else {
        product(elements + e, stack.tangent[number], row(tangent.drive), -1);
      }
    }
  }
  for (int r = 0; r < c.layout.relations && !c.motion.redundant(); ++r) {
    if (c.mode.normal[r] == NormalStatus::closed) reaction_rows_.push_back({r, integral_row(stack.normal[r])});
  }
  // cᵀÂᵏ/k!, in 106 bits as for the search.
  const int size = linear_.size();
  taylor_.assign(rows_.size() * size * kTerms, 0.0);
  std::vector<DoubleDouble> present(size), next(size);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    for (int j = 0; j < size; ++j) present[j] = {rows_[i][j], 0};
    for (int k = 0; k < kTerms; ++k) {
      for (int j = 0; j < size; ++j) taylor_[(i * size + j) * kTerms + k] = present[j].high;
      for (int j = 0; j < size; ++j) {
        DoubleDouble sum;
        for (int l = 0; l < size; ++l) {
          const double entry = linear_.matrix()[l * size + j];
          if (entry != 0) sum = sum + present[l] * DoubleDouble{entry, 0};
        }
        next[j] = sum / (k + 1);
      }
      std::swap(present, next);
    }
  }
  terms_.assign(rows_.size() * kTerms, 0.0);
  nodes_.assign(rows_.size() * 8, 0.0);
}

std::string ClosedForm::build(const model::System& system, model::Workspace& work, ModeMotion& motion, const std::vector<Guard>& guards) {
  const model::Layout& layout = system.layout();
  const Mode mode = motion.mode();
  Context context{system, work, motion, guards, layout, system.linear(), mode, {}, {}};
  n_ = layout.coordinates;
  states_ = layout.states;
  y_ = layout.integrated();
  kinds_.clear();
  Stack stack;
  const bool sliding = std::any_of(mode.sliding.begin(), mode.sliding.end(), [](std::uint8_t k) { return k != 0; });
  if (sliding) {
    const std::string problem = slide(context, stack);
    for (int k = 0; k < layout.switches; ++k) work.in[layout.side() + k] = mode.side[k];
    if (!problem.empty()) return problem;
  } else {
    context.evaluate(values_);
    collect_loads(context.structure);
    field(context, stack);
  }
  for (const Row* row : std::as_const(stack).all()) {
    if (!std::all_of(row->begin(), row->end(), [](double x) { return std::isfinite(x); })) return "a coefficient is not a finite number";
  }
  assemble(stack);
  const std::string problem = list_functions(context, stack);
  if (!problem.empty()) return problem;
  list_work(context, stack);
  return {};
}

namespace {

/// Gauss-Legendre on [0, 1].
constexpr std::array<double, 8> kNode = {0.01985507175123188, 0.10166676129318664, 0.23723379504183550, 0.40828267875217511,
                                         0.59171732124782489, 0.76276620495816450, 0.89833323870681336, 0.98014492824876812};
constexpr std::array<double, 8> kWeight = {0.050614268145188129, 0.11119051722668724, 0.15685332293894363, 0.18134189168918099,
                                           0.18134189168918099,  0.15685332293894363, 0.11119051722668724, 0.050614268145188129};

/// By number of terms: the share of the natural time up to which the next, share^k/k!, is below rounding.
const std::array<double, 24> kShare = [] {
  std::array<double, 24> table{};
  double factorial = 1;
  for (std::size_t k = 1; k < table.size(); ++k) {
    factorial *= static_cast<double>(k);
    table[k] = std::pow(2e-18 * factorial, 1 / static_cast<double>(k));
  }
  return table;
}();

/// Terms that matter on a window of this share of the natural time.
int terms_needed(double share, int most) {
  int terms = 2;
  while (terms < most && kShare[static_cast<std::size_t>(terms)] < share) ++terms;
  return terms;
}

double polynomial(const double* c, int terms, double theta) {
  double value = c[terms - 1];
  for (int k = terms - 2; k >= 0; --k) value = value * theta + c[k];
  return value;
}

}  // namespace

void ClosedForm::integrate(const double* x, double width, double* work, std::vector<Reaction>& reactions) {
  const int size = linear_.size();
  const int count = static_cast<int>(rows_.size());
  const int terms = std::isinf(window_) ? kTerms : terms_needed(width / window_, kTerms);
  for (int i = 0; i < count; ++i) {
    double* c = terms_.data() + i * kTerms;
    std::fill_n(c, terms, 0.0);
    for (int j = 0; j < size; ++j) {
      const double* column = taylor_.data() + (i * size + j) * kTerms;
      const double xj = x[j];
      for (int k = 0; k < terms; ++k) c[k] += column[k] * xj;
    }
    double power = 1;
    for (int k = 0; k < terms; ++k, power *= width) c[k] *= power;
    double* values = nodes_.data() + i * 8;
    std::fill_n(values, 8, c[terms - 1]);
    for (int k = terms - 2; k >= 0; --k) {
      for (std::size_t g = 0; g < 8; ++g) values[g] = values[g] * kNode[g] + c[k];
    }
  }
  for (const Product& product : products_) {
    const double* first = nodes_.data() + product.first * 8;
    const double* second = nodes_.data() + product.second * 8;
    double sum = 0;
    for (std::size_t g = 0; g < 8; ++g) sum += kWeight[g] * first[g] * second[g];
    work[product.component] += product.factor * width * sum;
  }
  reactions.clear();
  for (const ReactionRow& reaction : reaction_rows_) {
    const double* values = nodes_.data() + reaction.row * 8;
    const double* c = terms_.data() + reaction.row * kTerms;
    double sum = 0;
    std::size_t best = 0;
    for (std::size_t g = 0; g < 8; ++g) {
      sum += kWeight[g] * values[g];
      if (values[g] > values[best]) best = g;
    }
    const double end = polynomial(c, terms, 1);
    double peak = std::max({values[best], c[0], end});
    if (peak > c[0] && peak > end) {
      // A maximum inside: Newton on the slope between the neighbouring nodes.
      const double low = best == 0 ? 0 : kNode[best - 1];
      const double high = best == 7 ? 1 : kNode[best + 1];
      double theta = kNode[best];
      for (int round = 0; round < 6; ++round) {
        double slope = 0;
        double curve = 0;
        for (int k = terms - 1; k >= 1; --k) slope = slope * theta + k * c[k];
        for (int k = terms - 1; k >= 2; --k) curve = curve * theta + k * (k - 1) * c[k];
        if (curve == 0) break;
        theta = std::clamp(theta - slope / curve, low, high);
      }
      peak = std::max(peak, polynomial(c, terms, theta));
    }
    reactions.push_back({reaction.relation, width * sum, peak});
  }
}

}  // namespace judder::engines
