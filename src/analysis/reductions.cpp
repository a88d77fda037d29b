#include "judder/analysis/reductions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "judder/core/diagnostics.hpp"
#include "judder/model/columns.hpp"
#include "judder/simulate/told.hpp"

namespace judder::analysis {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Both ends, and the nodes of Gauss and Legendre with seven points between them.
constexpr std::array<double, 9> kPlace{0,   0.025446043828620738, 0.12923440720030278, 0.29707742431130142,
                                       0.5, 0.70292257568869858,  0.87076559279969722, 0.97455395617137926,
                                       1};
constexpr std::array<double, 9> kWeight{0,
                                        0.064742483084434847,
                                        0.13985269574463833,
                                        0.19091502525255947,
                                        0.20897959183673469,
                                        0.19091502525255947,
                                        0.13985269574463833,
                                        0.064742483084434847,
                                        0};
/// Weights of the barycentric form of the polynomial through them.
constexpr std::array<double, 9> kBary = [] {
  std::array<double, 9> out{};
  for (std::size_t i = 0; i < 9; ++i) {
    double product = 1;
    for (std::size_t j = 0; j < 9; ++j) {
      if (j != i) product *= kPlace[i] - kPlace[j];
    }
    out[i] = 1 / product;
  }
  return out;
}();
/// Between nodes, where the polynomial is held against the quantity.
constexpr std::array<double, 2> kCheck{0.21, 0.84};
constexpr double kFollows = 1e-6;  ///< of the range in the piece
constexpr double kRounding =
    1e-9;  ///< of the size that the quantity has had so far: what reactions may be off by
constexpr int kMostHalvings = 40'000;  ///< in one step: a long one may hold thousands of turns
constexpr int kFewerHalvings = 16,
              kLeastHalvings = 64;     ///< in later steps of what could not be followed in one
constexpr double kShortest = 0x1p-46;  ///< of a step: at a jump pieces are halved down to this
constexpr double kNegligible = 1e-13;  ///< of size times step: what a corner may be off by in an integral
constexpr double kBracket = 1.0 / 32;  ///< of a piece: a turn is searched for this far on both sides
constexpr double kHidden = 1e-9;       ///< of the range so far: what an enclosure may hold beyond the nodes
constexpr double kBetween = 0.25;      ///< of its range over the nodes: by what an input may be beyond it
constexpr double kStill =
    1e-15;  ///< of its size so far: an input that changes by less rests, and what it changes by is rounding

using Kind = Reduction::Kind;
struct Word {
  std::string_view name;
  Kind kind;
};
constexpr std::array<Word, 15> kWords{{{"max", Kind::max},
                                       {"min", Kind::min},
                                       {"range", Kind::range},
                                       {"mean", Kind::mean},
                                       {"rms", Kind::rms},
                                       {"integral", Kind::integral},
                                       {"start", Kind::start},
                                       {"end", Kind::end},
                                       {"at_max", Kind::at_max},
                                       {"at_min", Kind::at_min},
                                       {"count", Kind::count},
                                       {"first", Kind::first},
                                       {"last", Kind::last},
                                       {"impulse", Kind::impulse},
                                       {"period", Kind::period}}};

bool of_event(Kind kind) { return kind == Kind::count || kind == Kind::first || kind == Kind::last; }

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\n") + 1 - begin));
}

/// Parts between commas that stand in no bracket.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> out{""};
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c == ',' && depth == 0)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

bool event_named(const std::string& word, engines::EventKind& out) {
  for (int k = 0; k <= static_cast<int>(engines::EventKind::watch); ++k) {
    if (word != engines::name(static_cast<engines::EventKind>(k))) continue;
    out = static_cast<engines::EventKind>(k);
    return true;
  }
  return false;
}

bool parse_one(const std::string& part, Reduction& out, std::string& problem) {
  out.text = trimmed(part);
  const std::size_t bracket = out.text.find('(');
  const std::string word = trimmed(out.text.substr(0, bracket));
  const auto found =
      std::find_if(kWords.begin(), kWords.end(), [&](const Word& w) { return w.name == word; });
  if (found == kWords.end()) {
    problem = "'" + out.text + "' is nothing that can be collected; there are: ";
    for (const Word& w : kWords)
      problem += std::string(w.name) + (w.kind == Kind::period ? ""
                                        : of_event(w.kind)     ? "(EVENT), "
                                                               : "(…), ");
    return false;
  }
  out.kind = found->kind;
  const bool given = bracket != std::string::npos;
  if (given && out.text.back() != ')') {
    problem = "'" + out.text + "' lacks its closing bracket";
    return false;
  }
  const std::string inside =
      given ? trimmed(std::string_view(out.text).substr(bracket + 1, out.text.size() - bracket - 2)) : "";
  if (out.kind == Kind::period) {
    if (given) problem = "'period' is written without brackets";
    return !given;
  }
  if (inside.empty()) {
    problem = "'" + word + "' needs " +
              (of_event(out.kind)          ? "an event: " + word + "(impact) or " + word + "(impact wall)"
               : out.kind == Kind::impulse ? "a contact: impulse(wall)"
                                           : "an expression: " + word + "(x')");
    return false;
  }
  if (out.kind == Kind::impulse) {
    out.where = inside;
    return true;
  }
  if (!of_event(out.kind)) {
    out.expression = inside;
    return true;
  }
  const std::size_t space = inside.find(' ');
  if (!event_named(inside.substr(0, space), out.event)) {
    problem = "there are no events of the kind '" + inside.substr(0, space) + "' (docs/reading-a-run.md)";
    return false;
  }
  if (space != std::string::npos) out.where = trimmed(std::string_view(inside).substr(space));
  return true;
}

}  // namespace

bool parse_reductions(const std::string& text, std::vector<Reduction>& out, std::string& problem) {
  for (const std::string& part : parts_of(text)) {
    Reduction one;
    if (trimmed(part).empty()) {
      problem = "there is nothing between two commas in '" + text + "'";
      return false;
    }
    if (!parse_one(part, one, problem)) return false;
    for (const Reduction& before : out) {
      if (before.text == one.text) {
        problem = "'" + one.text + "' is asked for twice";
        return false;
      }
    }
    out.push_back(std::move(one));
  }
  return true;
}

model::Spec with_reductions(const model::Spec& spec, std::vector<Reduction>& reductions) {
  model::Spec out = spec;
  std::size_t count = 0;
  for (Reduction& one : reductions) {
    if (one.kind == Kind::impulse && one.expression.empty()) {
      // The force of a compliant contact is no reaction but a formula of the motion, and has no impacts.
      const std::string name = one.where.substr(0, one.where.find('['));
      const auto named = [&](const model::Contact& c) { return c.compliant.stated() && c.name.text == name; };
      if (std::any_of(spec.contacts.begin(), spec.contacts.end(), named)) {
        one.kind = Kind::integral;
        one.expression = "normal(" + one.where + ")";
        one.where.clear();
      }
    }
    if (one.expression.empty()) continue;
    one.column = one.expression;
    const auto known = [&](const model::OutputColumn& named) { return named.name.text == one.expression; };
    if (std::any_of(spec.output.columns.begin(), spec.output.columns.end(), known)) continue;
    const auto same = [&](const Reduction& other) { return other.expression == one.expression; };
    const auto first = std::find_if(reductions.begin(), reductions.end(), same);
    if (&*first != &one) {
      one.column = first->column;
      continue;
    }
    one.column = "collected " + std::to_string(++count);
    model::OutputColumn column;
    column.name = one.column;
    column.value = model::Value(one.expression);
    out.output.columns.push_back(std::move(column));
  }
  return out;
}

std::string reductions_problem(const model::System& system, const std::vector<Reduction>& reductions) {
  for (const Reduction& one : reductions) {
    if (one.where.empty()) continue;
    std::vector<std::string> names;
    for (const model::Relation& r : system.relations()) {
      if (one.kind != Kind::impulse || r.has_normal) names.push_back(r.name);
    }
    if (one.kind != Kind::impulse) {
      for (const model::SwitchInfo& s : system.switches()) names.push_back(s.place);
      for (const model::WatchInfo& w : system.watches()) names.push_back(w.name);
    }
    if (std::find(names.begin(), names.end(), one.where) != names.end()) continue;
    const std::string near = nearest(one.where, names);
    return "'" + one.text + "': there is no " + (one.kind == Kind::impulse ? "contact" : "place") + " '" +
           one.where + "'" + (near.empty() ? "" : "; did you mean '" + near + "'?");
  }
  return {};
}

Reducer::Reducer(const model::System& system, const std::vector<Reduction>& reductions, double after,
                 From from)
    : system_(system), work_(system), from_(from) {
  for (const Reduction& one : reductions) {
    Asked asked{one.kind, -1, one.event, one.where, -1, one.text};
    if (one.kind == Kind::impulse) {
      for (std::size_t r = 0; r < system.relations().size(); ++r) {
        if (system.relations()[r].name == one.where && system.relations()[r].has_normal)
          asked.relation = static_cast<int>(r);
      }
      Quantity reaction;
      reaction.relation = asked.relation;
      reaction.integral = reaction.of_reactions = true;
      asked.quantity = static_cast<int>(quantities_.size());
      quantities_.push_back(reaction);
    } else if (!one.expression.empty()) {
      asked.quantity = quantity_of(system, one.column);
      Quantity& q = quantities_[static_cast<std::size_t>(asked.quantity)];
      const bool end = one.kind == Kind::end;
      const bool sum = one.kind == Kind::mean || one.kind == Kind::rms || one.kind == Kind::integral ||
                       one.kind == Kind::start;  // which may lie inside a step
      q.integral = q.integral || sum;
      q.extreme = q.extreme || (!sum && !end);
    }
    reads_ends_ = reads_ends_ || one.kind == Kind::end;
    asked_.push_back(std::move(asked));
  }
  find_works();
  if (from_ == From::rows) {
    along_ = false;
    peaked_.clear();
  }
  restart(after);
}

Reducer::Reducer(const model::System& system) : system_(system), work_(system) {
  const int own = system.layout().integrated();
  for (int i = 0; i <= own; ++i) {
    Quantity q;
    q.place = i;
    q.extreme = i > 0;
    quantities_.push_back(q);
  }
  for (std::size_t c = 0; c < system.columns().size(); ++c) {
    if (system.columns()[c].mode_of >= 0) continue;
    Quantity q;
    q.column = static_cast<int>(c);
    q.extreme = true;
    quantities_.push_back(q);
  }
  find_works();
  restart(-kInfinity);
}

int Reducer::quantity_of(const model::System& system, const std::string& column) {
  Quantity q;
  for (std::size_t c = 0; c < system.columns().size(); ++c) {
    if (system.columns()[c].name != column) continue;
    q.column = static_cast<int>(c);
    q.of_reactions = system.columns()[c].needs_reactions;
  }
  for (std::size_t i = 0; i < quantities_.size(); ++i) {
    if (quantities_[i].column == q.column && quantities_[i].relation < 0) return static_cast<int>(i);
  }
  quantities_.push_back(q);
  return static_cast<int>(quantities_.size()) - 1;
}

/// Columns that change with the works that elements have done.
void Reducer::find_works() {
  for (const Quantity& q : quantities_) {
    along_ = along_ || q.extreme || q.integral;
    reads_ends_ = reads_ends_ || (!q.extreme && !q.integral);
    reads_columns_ = reads_columns_ || q.column >= 0;
  }
  const std::size_t count = quantities_.size();
  memory_.assign(count * kNodes, 0.0);
  now_.assign(count, 0.0);
  last_ = first_ = now_;
  extremes_.resize(count);
  sizes_.resize(count);
  integrals_.resize(count);
  squares_.resize(count);
  halvings_.resize(count);
  most_halvings_.resize(count);
  unfollowed_.resize(count);
  find_peaked();
  counts_.resize(asked_.size());
  firsts_ = lasts_ = impulses_ = counts_;
  if (!reads_columns_) return;
  const std::vector<char> of_works = simulate::columns_of_works(system_, work_);
  for (Quantity& q : quantities_) {
    q.of_works = q.column >= 0 && of_works[static_cast<std::size_t>(q.column)] != 0;
    reads_ends_ = reads_ends_ || q.of_works;
  }
}

/// Formulas that are enclosed, each for itself: one that is hard to follow shall not make the others be enclosed.
void Reducer::find_peaked() {
  const expr::Program& program = model::column_program(system_);
  if (!along_ || !reads_columns_ || !program.has_peaks()) return;
  for (std::size_t i = 0; i < quantities_.size(); ++i) {
    const Quantity& q = quantities_[i];
    if (q.column < 0 || (!q.extreme && !q.integral)) continue;
    const int value = system_.columns()[static_cast<std::size_t>(q.column)].value;
    if (value < 0) continue;
    expr::Program formula = program.only(value);
    if (formula.has_peaks()) peaked_.push_back({static_cast<int>(i), std::move(formula)});
  }
  least_in_.resize(work_.in.size());
  most_in_ = sizes_in_ = least_in_;
  box_.resize(work_.in.size());
  interval_registers_.resize(static_cast<std::size_t>(program.registers()));
}

void Reducer::restart(double after) { restart(after, kInfinity); }

void Reducer::restart(double after, double before) {
  after_ = after;
  before_ = before;
  begun_ = false;
  std::fill(unfollowed_.begin(), unfollowed_.end(), 0);
  std::fill(most_halvings_.begin(), most_halvings_.end(), kMostHalvings);
  begin_ = end_ = kNone;
  std::fill(extremes_.begin(), extremes_.end(), Extreme{kInfinity, kNone, -kInfinity, kNone});
  for (std::vector<double>* zero : {&sizes_, &sizes_in_, &integrals_, &squares_, &counts_, &impulses_})
    std::fill(zero->begin(), zero->end(), 0.0);
  for (std::vector<double>* none : {&firsts_, &lasts_, &last_, &first_})
    std::fill(none->begin(), none->end(), kNone);
  const model::Layout& layout = system_.layout();
  std::fill_n(work_.in.begin() + layout.dissipated(), 2 * layout.audits, 0.0);
}

void Reducer::row(engines::RowKind, const engines::Mode& mode, model::Workspace& work) {
  if (from_ != From::rows || quantities_.empty()) return;
  const double time = work.in[0];
  if (time < after_ || time > before_) return;
  const model::Layout& layout = system_.layout();
  if (reads_columns_) system_.column_values(work, work_.output.data());
  for (std::size_t i = 0; i < quantities_.size(); ++i) {
    const Quantity& q = quantities_[i];
    double& now = now_[i];
    now = kNone;
    if (q.relation >= 0) {
      now = work.in[static_cast<std::size_t>(layout.normal() + q.relation)];
    } else if (q.column >= 0) {
      const model::ColumnInfo& column = system_.columns()[static_cast<std::size_t>(q.column)];
      now = column.mode_of >= 0 ? simulate::mode_number(system_, mode, column.mode_of)
                                : work_.output[static_cast<std::size_t>(column.value)];
    }
    note(static_cast<int>(i), time, now);
    if (!begun_) continue;
    const double length = time - end_, before = q.of_reactions ? now : last_[i];
    integrals_[i] += 0.5 * length * (before + now);
    squares_[i] += 0.5 * length * (before * before + now * now);
  }
  last_ = now_;
  if (!begun_) {
    begun_ = true;
    begin_ = time;
    first_ = last_;
  }
  end_ = time;
}

void Reducer::event(const engines::Event& event, std::span<const double>) {
  if (event.time < after_ || event.time > before_) return;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const Asked& asked = asked_[i];
    if (!of_event(asked.kind) || event.kind != asked.event) continue;
    if (!asked.where.empty()) {
      const bool of_switch = event.on_switch || event.kind == engines::EventKind::switch_side ||
                             event.kind == engines::EventKind::slide_begin ||
                             event.kind == engines::EventKind::slide_end;
      const auto place = static_cast<std::size_t>(event.place);
      const std::string& name = of_switch                                 ? system_.switches()[place].place
                                : event.kind == engines::EventKind::watch ? system_.watches()[place].name
                                                                          : system_.relations()[place].name;
      if (name != asked.where) continue;
    }
    counts_[i] += 1;
    if (std::isnan(firsts_[i])) firsts_[i] = event.time;
    lasts_[i] = event.time;
  }
}

void Reducer::impulses(const engines::ToldImpulses& told) {
  if (told.in[0] < after_ || told.in[0] > before_) return;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    if (asked_[i].kind == Kind::impulse)
      impulses_[i] += told.normal[static_cast<std::size_t>(asked_[i].relation)];
  }
}

void Reducer::read(const engines::ToldPoint& told, double* out) {
  if (reads_columns_) {
    simulate::load_told(system_, told, work_);
    system_.column_values(work_, work_.output.data());
  }
  for (std::size_t i = 0; i < quantities_.size(); ++i) {
    const Quantity& q = quantities_[i];
    if (q.place >= 0) {
      out[i] = told.in[static_cast<std::size_t>(q.place)];
    } else if (q.relation >= 0) {
      out[i] = told.normal[static_cast<std::size_t>(q.relation)];
    } else if (q.column < 0) {
      out[i] = kNone;
    } else {
      const model::ColumnInfo& column = system_.columns()[static_cast<std::size_t>(q.column)];
      out[i] = column.mode_of >= 0 ? simulate::mode_number(system_, *told.mode, column.mode_of)
                                   : work_.output[static_cast<std::size_t>(column.value)];
    }
  }
}

void Reducer::note(int quantity, double time, double value) {
  Extreme& extreme = extremes_[static_cast<std::size_t>(quantity)];
  if (value < extreme.least) {
    extreme.least = value;
    extreme.least_time = time;
  }
  if (value > extreme.most) {
    extreme.most = value;
    extreme.most_time = time;
  }
}

// The ends of steps and the limits at instants. What is asked along steps has its values from there; here stand the last value of all,
// the first, and instants between which no time goes by.
void Reducer::point(const engines::ToldPoint& told) {
  if (told.kind == engines::Telling::inside || quantities_.empty()) return;
  const double time = told.in[0];
  if (!reads_ends_ && told.kind != engines::Telling::after) return;
  if (time < after_ && !reads_ends_) return;
  if (time > before_) return;
  read(told, last_.data());
  if (time < after_) return;
  if (!begun_) {
    begun_ = true;
    begin_ = time;
    first_ = last_;
  }
  end_ = time;
  for (std::size_t i = 0; i < quantities_.size(); ++i) {
    if (quantities_[i].extreme) note(static_cast<int>(i), time, last_[i]);
  }
}

void Reducer::along(double from, double to, engines::Along& motion) {
  const double begin = std::max(from, after_);
  const double end = std::min(to, before_);
  if (!(end > begin)) return;
  // It will be named in any case: what it asks for in every further step would only take time.
  for (std::size_t i = 0; gives_up_ && i < halvings_.size(); ++i) {
    if (unfollowed_[i] != 0 && halvings_[i] >= most_halvings_[i])
      most_halvings_[i] = std::max(most_halvings_[i] / kFewerHalvings, kLeastHalvings);
  }
  gives_up_ = false;
  std::fill(halvings_.begin(), halvings_.end(), 0);
  step_ = end - begin;
  if (piece(begin, end, motion)) end_ = end;
}

/// A part of a step, halved until the polynomials follow. False: nothing can be evaluated.
bool Reducer::piece(double from, double to, engines::Along& motion) {
  const std::size_t count = quantities_.size();
  if (!peaked_.empty()) {
    std::fill(least_in_.begin(), least_in_.end(), kInfinity);
    std::fill(most_in_.begin(), most_in_.end(), -kInfinity);
  }
  for (int k = 0; k < kNodes; ++k) {
    const auto node = static_cast<std::size_t>(k);
    const double time = k + 1 == kNodes ? to : from + kPlace[node] * (to - from);
    const engines::ToldPoint* const told = motion.at(time);
    if (told == nullptr) return false;
    read(*told, now_.data());
    if (!peaked_.empty()) note_inputs();
    for (std::size_t i = 0; i < count; ++i) {
      memory_[i * kNodes + node] = now_[i];
      // Before anything is halved: what is small at the beginning of a step is not to be followed for itself.
      if (std::isfinite(now_[i])) sizes_[i] = std::max(sizes_[i], std::abs(now_[i]));
    }
  }
  if (!begun_) {
    begun_ = true;
    begin_ = from;
    for (std::size_t i = 0; i < count; ++i) first_[i] = memory_[i * kNodes];
  }
  const double middle = 0.5 * (from + to);
  if (to - from > kShortest * step_ && middle > from && middle < to &&
      (hides(from, to) || !follows(from, to, motion)))
    return piece(from, middle, motion) && piece(middle, to, motion);
  take_piece(from, to, motion);
  return true;
}

/// Whether a quantity that has to be halved still may be.
bool Reducer::asks_halving(std::size_t quantity) {
  if (halvings_[quantity] < most_halvings_[quantity]) {
    ++halvings_[quantity];
    return true;
  }
  unfollowed_[quantity] = 1;
  gives_up_ = true;
  return false;
}

void Reducer::note_inputs() {
  for (std::size_t i = 0; i < least_in_.size(); ++i) {
    least_in_[i] = std::min(least_in_[i], work_.in[i]);
    most_in_[i] = std::max(most_in_[i], work_.in[i]);
    sizes_in_[i] = std::max(sizes_in_[i], std::abs(work_.in[i]));
  }
}

/// Whether a column may have values in the piece that its nodes have not shown.
bool Reducer::hides(double from, double to) {
  if (peaked_.empty()) return false;
  for (std::size_t i = 0; i < box_.size(); ++i) {
    // Between nodes an input leaves their range by part of it; what does not change at nine of them is taken for constant.
    const double range = most_in_[i] - least_in_[i];
    const double beyond = kBetween * range;
    box_[i] = range > kStill * sizes_in_[i] ? expr::Interval{least_in_[i] - beyond, most_in_[i] + beyond}
                                            : expr::Interval{work_.in[i], work_.in[i]};
  }
  box_[0] = {from, to};
  for (const Peaked& peaked : peaked_) {
    const auto i = static_cast<std::size_t>(peaked.quantity);
    const Quantity& q = quantities_[i];
    if (q.of_works || (unfollowed_[i] != 0 && halvings_[i] >= most_halvings_[i])) continue;
    bool gentle = true;
    expr::Interval enclosed;
    peaked.formula.evaluate_gentle(box_.data(), &enclosed, interval_registers_.data(), gentle);
    if (gentle) continue;
    const double* const f = &memory_[i * kNodes];
    double least = f[0], most = f[0];
    bool finite = true;
    for (int k = 0; k < kNodes; ++k) {
      least = std::min(least, f[k]);
      most = std::max(most, f[k]);
      finite = finite && std::isfinite(f[k]);
    }
    if (!finite) continue;
    const Extreme& known = extremes_[i];
    const double range = std::max(most, known.most) - std::min(least, known.least);
    if (q.extreme && !q.integral) {
      least = std::min(least, known.least);
      most = std::max(most, known.most);
    }
    const double size = std::max({sizes_[i], std::abs(least), std::abs(most)});
    const double slack = kHidden * (std::isfinite(range) ? range : most - least) + kHidden * 1e-3 * size;
    if ((enclosed.low < least - slack || enclosed.high > most + slack) && asks_halving(i)) return true;
  }
  return false;
}

bool Reducer::follows(double from, double to, engines::Along& motion) {
  // What times may be off by, as a share of the piece: close to a pole steps get as short as that.
  constexpr double kTimeRounding = 64 * std::numeric_limits<double>::epsilon();
  const double late = kTimeRounding * std::max(std::abs(from), std::abs(to)) / (to - from);
  for (const double theta : kCheck) {
    const engines::ToldPoint* const told = motion.at(from + theta * (to - from));
    if (told == nullptr) return true;
    read(*told, now_.data());
    for (std::size_t i = 0; i < quantities_.size(); ++i) {
      const Quantity& q = quantities_[i];
      if (q.of_works || (!q.extreme && !q.integral)) continue;
      const double* const f = &memory_[i * kNodes];
      double least = f[0], most = f[0];
      for (int k = 1; k < kNodes; ++k) {
        least = std::min(least, f[k]);
        most = std::max(most, f[k]);
      }
      double& size = sizes_[i];
      size = std::max({size, std::abs(least), std::abs(most)});
      const double error = std::abs(interpolate(static_cast<int>(i), theta) - now_[i]);
      if (error > (kFollows + late) * (most - least) + kRounding * size &&
          error * (to - from) > kNegligible * size * step_ && asks_halving(i))
        return false;
    }
  }
  return true;
}

void Reducer::take_piece(double from, double to, engines::Along& motion) {
  const double length = to - from;
  for (std::size_t i = 0; i < quantities_.size(); ++i) {
    const Quantity& q = quantities_[i];
    const double* const f = &memory_[i * kNodes];
    if (q.integral) {
      double sum = 0, square = 0;
      for (int k = 0; k < kNodes; ++k) {
        const double weight = kWeight[static_cast<std::size_t>(k)];
        sum += weight * f[k];
        square += weight * f[k] * f[k];
      }
      integrals_[i] += length * sum;
      squares_[i] += length * square;
    }
    if (!q.extreme || q.of_works) continue;
    double least = f[0], most = f[0];
    for (int k = 0; k < kNodes; ++k) {
      least = std::min(least, f[k]);
      most = std::max(most, f[k]);
      note(static_cast<int>(i), k + 1 == kNodes ? to : from + kPlace[static_cast<std::size_t>(k)] * length,
           f[k]);
    }
    if (!(most > least)) continue;
    find_turns(static_cast<int>(i), 1, from, to, motion);
    find_turns(static_cast<int>(i), -1, from, to, motion);
  }
}

/// Every turn of the polynomial that comes near to the extreme so far, the ones within the first and last of its parts too.
void Reducer::find_turns(int quantity, int sign, double from, double to, engines::Along& motion) {
  constexpr int kGrid = 32;
  constexpr double kMargin = 0.02;  // of the range: a turn this far below the largest so far is not looked at
  std::array<double, kGrid + 3> value{};
  value.front() = value.back() = -kInfinity;
  double least = kInfinity, most = -kInfinity;
  for (int g = 0; g <= kGrid; ++g) {
    const double here = sign * interpolate(quantity, static_cast<double>(g) / kGrid);
    value[static_cast<std::size_t>(g) + 1] = here;
    least = std::min(least, here);
    most = std::max(most, here);
  }
  for (std::size_t g = 1; g + 1 < value.size(); ++g) {
    if (value[g] < value[g - 1] || value[g] < value[g + 1]) continue;
    const Extreme& extreme = extremes_[static_cast<std::size_t>(quantity)];
    const double known = sign > 0 ? extreme.most : -extreme.least;
    if (value[g] + kMargin * (most - least) < known) continue;
    // At an end the quantity may come from a turn in the neighbouring piece, or still have one before it here.
    if (g == 1 && !(sign * end_slope(quantity, false) > 0)) continue;
    if (g == kGrid + 1 && !(sign * end_slope(quantity, true) < 0)) continue;
    // Beside a corner the polynomial may turn elsewhere than the quantity.
    double theta = static_cast<double>(g - 1) / kGrid;
    constexpr int kMostMoves = 8;
    for (int move = 0; move < kMostMoves; ++move) {
      const double at = refine(quantity, sign, from, to, theta, motion);
      const bool inside = std::abs(at - theta) < 0.999 * kBracket;
      theta = at;
      if (inside || at <= 0 || at >= 1) break;
    }
  }
}

/// By parabolas through three points with the quantity itself, golden sections where these do not help (R. P. Brent, 1973, chapter 5).
double Reducer::refine(int quantity, int sign, double from, double to, double theta, engines::Along& motion) {
  constexpr double kGolden = 0.3819660112501051;
  constexpr int kMost = 40;
  const double length = to - from;
  // −sign · quantity is to be made small.
  const auto value = [&](double at) {
    const engines::ToldPoint* const told = motion.at(from + at * length);
    if (told == nullptr) return kInfinity;
    read(*told, now_.data());
    const double out = now_[static_cast<std::size_t>(quantity)];
    note(quantity, from + at * length, out);
    return -sign * out;
  };
  double a = std::max(0.0, theta - kBracket), b = std::min(1.0, theta + kBracket);
  double x = theta, w = x, v = x, fx = value(x), fw = fx, fv = fx, step = 0, before = 0;
  for (int i = 0; i < kMost; ++i) {
    const double middle = 0.5 * (a + b);
    constexpr double kTolerance = 1e-9;  // the value is off by its square
    if (std::abs(x - middle) <= 2 * kTolerance - 0.5 * (b - a)) break;
    double p = 0, q = 0;
    if (std::abs(before) > kTolerance) {
      const double r = (x - w) * (fx - fv);
      q = (x - v) * (fx - fw);
      p = (x - v) * q - (x - w) * r;
      q = 2 * (q - r);
      if (q > 0) p = -p;
      q = std::abs(q);
    }
    const double last = before;
    if (q > 0 && std::abs(p) < std::abs(0.5 * q * last) && p > q * (a - x) && p < q * (b - x)) {
      before = step;
      step = p / q;
    } else {
      before = x < middle ? b - x : a - x;
      step = kGolden * before;
    }
    const double u = std::abs(step) >= kTolerance ? x + step : x + (step > 0 ? kTolerance : -kTolerance);
    const double fu = value(u);
    if (fu <= fx) {
      (u < x ? b : a) = x;
      v = w, fv = fw, w = x, fw = fx, x = u, fx = fu;
    } else {
      (u < x ? a : b) = u;
      if (fu <= fw || w == x) {
        v = w, fv = fw, w = u, fw = fu;
      } else if (fu <= fv || v == x || v == w) {
        v = u, fv = fu;
      }
    }
  }
  return x;
}

/// The polynomial through the nodes, in barycentric form.
double Reducer::interpolate(int quantity, double theta) const {
  const double* const f = &memory_[static_cast<std::size_t>(quantity) * kNodes];
  double above = 0, below = 0;
  for (std::size_t k = 0; k < kNodes; ++k) {
    const double distance = theta - kPlace[k];
    if (distance == 0) return f[k];
    above += kBary[k] / distance * f[k];
    below += kBary[k] / distance;
  }
  return above / below;
}

/// Of the polynomial, at the first node or at the last.
double Reducer::end_slope(int quantity, bool at_end) const {
  const double* const f = &memory_[static_cast<std::size_t>(quantity) * kNodes];
  const std::size_t end = at_end ? kNodes - 1 : 0;
  double sum = 0;
  for (std::size_t k = 0; k < kNodes; ++k) {
    if (k != end) sum += kBary[k] / kBary[end] * (f[k] - f[end]) / (kPlace[end] - kPlace[k]);
  }
  return sum;
}

bool Reducer::followed() const {
  return std::all_of(unfollowed_.begin(), unfollowed_.end(), [](char no) { return no == 0; });
}

std::string Reducer::unfollowed_text() const {
  std::string names;
  for (const Asked& asked : asked_) {
    if (asked.quantity < 0 || unfollowed_[static_cast<std::size_t>(asked.quantity)] == 0) continue;
    const bool of_ends = asked.kind == Kind::start || asked.kind == Kind::end;
    if (!of_ends) names += (names.empty() ? "" : ", ") + asked.text;
  }
  return names.empty() ? names : names + " may be off: faster than can be followed in a step";
}

void Reducer::values(std::span<double> out) {
  const double length = end_ - begin_;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const Asked& asked = asked_[i];
    const auto q = static_cast<std::size_t>(std::max(asked.quantity, 0));
    const auto known = [](double value) { return std::isinf(value) ? kNone : value; };
    double value = kNone;
    switch (asked.kind) {
      case Kind::max:
        value = known(extremes_[q].most);
        break;
      case Kind::min:
        value = known(extremes_[q].least);
        break;
      case Kind::range:
        value = known(extremes_[q].most) - known(extremes_[q].least);
        break;
      case Kind::at_max:
        value = extremes_[q].most_time;
        break;
      case Kind::at_min:
        value = extremes_[q].least_time;
        break;
      case Kind::mean:
        value = integrals_[q] / length;
        break;
      case Kind::rms:
        value = std::sqrt(squares_[q] / length);
        break;
      case Kind::integral:
        value = integrals_[q];
        break;
      case Kind::start:
        value = first_[q];
        break;
      case Kind::end:
        value = last_[q];
        break;
      case Kind::count:
        value = counts_[i];
        break;
      case Kind::first:
        value = firsts_[i];
        break;
      case Kind::last:
        value = lasts_[i];
        break;
      case Kind::impulse:
        value = integrals_[q] + impulses_[i];
        break;
      case Kind::period:
        break;
    }
    out[i] = value;
  }
}

}  // namespace judder::analysis
