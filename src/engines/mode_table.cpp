#include "mode_table.hpp"

#include <algorithm>

namespace judder::engines {
namespace {

/// Coordinates and active rows together. The table takes some 50 (n + rows)² operations per column once, and beyond this size it
/// costs more than a phase of the motion, should the mode not come back.
constexpr int kMostSize = 24;

bool all_zero(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return x == 0; });
}

}  // namespace

/// One table in the making.
class ModeTable::Builder {
 public:
  Builder(ModeTable& table, const model::System& system, model::Workspace& work, const Mode& mode,
          std::span<const int> touched, std::span<const int> pinned, ActiveRows& rows)
      : table_(table),
        system_(system),
        linked_(system.linked()),
        work_(work),
        mode_(mode),
        touched_(touched),
        pinned_(pinned),
        active_(rows),
        at_(system.layout()),
        n_(system.layout().coordinates),
        value_(linked_.coefficients.outputs()),
        load_(linked_.rows.size()),
        zeta_(rows.count()) {}

  void build() {
    linked_.coefficients.evaluate(work_.in.data(), value_.data(), work_.registers.data());
    constant_part();
    write_sources();
    write_rows();
    write_slips();
  }

 private:
  struct Slipping {
    int relation = 0;
    int tangent = 0;
    double factor = 0;  ///< −σ μ
  };

  /// Accelerations, reactions and rates that a load gives.
  std::vector<double> column(const std::vector<double>& load) {
    std::vector<double> out(at_.size), acceleration(n_), lambda(active_.count());
    active_.respond(load.data(), zeta_.data(), acceleration.data(), lambda.data());
    for (const int i : pinned_) acceleration[i] = 0;
    std::copy(acceleration.begin(), acceleration.end(), out.begin());
    for (int k = 0; k < active_.count(); ++k) {
      const ActiveRows::Row& row = active_[k];
      const int first = system_.relations()[row.relation].first_tangent;
      out[row.tangent < 0 ? at_.normal + row.relation : at_.tangent + first + row.tangent] = lambda[k];
    }
    std::copy(load.begin() + n_, load.end(), out.begin() + at_.rate);
    return out;
  }

  /// Constant forces, friction of known size, terms of the rows. What acts on a coordinate with a source belongs to the source.
  void constant_part() {
    constant_.assign(load_.size(), 0.0);
    for (std::size_t i = 0; i < load_.size(); ++i) {
      if (linked_.rows[i].constant >= 0) constant_[i] = value_[linked_.rows[i].constant];
    }
    for (const int r : touched_) {
      const model::Relation& relation = system_.relations()[r];
      const model::RelationRows& values = work_.relation[r];
      for (int j = 0; j < relation.tangents; ++j) {
        const TangentStatus status = mode_.tangent[relation.first_tangent + j];
        if (status == TangentStatus::stick || status == TangentStatus::free) continue;
        const double mu = values.tangent[j].mu;
        slipping_.push_back({r, j, status == TangentStatus::smooth ? -mu : -direction(status) * mu});
        const double known = slipping_.back().factor * values.base;
        const model::Row& drag = values.tangent[j].drag;
        for (std::size_t e = 0; e < drag.values().size(); ++e)
          constant_[drag.places()[e]] += known * drag.values()[e];
      }
    }
  }

  /// One source for each row of forces and rates that changes and acts.
  void write_sources() {
    bool varies = false;
    for (std::size_t i = 0; i < load_.size(); ++i) {
      const model::LinkedForces::Row& row = linked_.rows[i];
      const bool linked = std::any_of(row.shares.begin(), row.shares.end(),
                                      [this](const auto& share) { return value_[share.factor] != 0; });
      if (!linked && row.varying < 0) continue;
      std::fill(load_.begin(), load_.end(), 0.0);
      load_[i] = 1;
      std::vector<double> made = column(load_);
      if (all_zero(made)) continue;
      const auto number = static_cast<int>(columns_.size());
      columns_.push_back(std::move(made));
      if (linked) write_links(row, number, row.varying < 0 ? constant_[i] : 0);
      if (row.varying >= 0) table_.varied_parts_.push_back({constant_[i], number, row.varying, linked});
      varies = varies || row.varying >= 0;
      constant_[i] = 0;
    }
    table_.varying_ = varies ? &linked_.varying : nullptr;
    const expr::Program& both = linked_.varying_and_powers;
    table_.with_powers_ = both.outputs() > 0 ? &both : nullptr;
    table_.varied_.assign(std::max(linked_.varying.outputs(), both.outputs()), 0.0);
    table_.sources_.assign(columns_.size(), 0.0);
    for (int k = 0; k < active_.count(); ++k) zeta_[k] = active_.zeta(k);
    table_.fixed_ = column(constant_);
  }

  void write_links(const model::LinkedForces::Row& row, int source, double constant) {
    const int first = system_.layout().q();
    for (const model::LinkedForces::Share& share : row.shares) {
      if (value_[share.factor] == 0) continue;
      const model::LinkedForces::Link& link = linked_.links[share.link];
      const double sign = link.terms.front().second;  // ±1, drawn out
      table_.links_.push_back({value_[share.factor] * sign, value_[link.offset] * sign,
                               first + link.terms.front().first, static_cast<int>(link.terms.size()) - 1});
      for (std::size_t i = 1; i < link.terms.size(); ++i)
        table_.further_.push_back({link.terms[i].second * sign, first + link.terms[i].first});
    }
    table_.links_.back().source = source;
    table_.links_.back().constant = constant;
  }

  void write_rows() {
    std::vector<Term> terms;
    for (int target = 0; target < at_.size; ++target) {
      terms.clear();
      for (std::size_t k = 0; k < columns_.size(); ++k) {
        const double factor = columns_[k][target];
        if (factor != 0) terms.push_back({factor, static_cast<int>(k)});
      }
      if (terms.empty()) continue;
      table_.rows_.push_back(
          {table_.fixed_[target], terms.front(), target, static_cast<int>(terms.size()) - 1});
      table_.terms_.insert(table_.terms_.end(), terms.begin() + 1, terms.end());
    }
  }

  void write_slips() {
    std::vector<Term> feeds;
    for (const Slipping& row : slipping_) {
      const model::Relation& relation = system_.relations()[row.relation];
      const model::RelationRows& values = work_.relation[row.relation];
      const int target = at_.tangent + relation.first_tangent + row.tangent;
      double limit = values.base;
      bool changes = false;
      feeds.clear();
      for (std::size_t f = 0; f < relation.feeds.size(); ++f) {
        const int normal = at_.normal + relation.feeds[f];
        changes = changes || std::any_of(table_.rows_.begin(), table_.rows_.end(),
                                         [normal](const Row& other) { return other.target == normal; });
        limit += values.factors[f] * std::abs(table_.fixed_[normal]);
        feeds.push_back({values.factors[f], normal});
      }
      table_.fixed_[target] = row.factor * limit;
      if (!changes) continue;
      table_.slips_.push_back(
          {values.base, feeds.front(), row.factor, target, static_cast<int>(feeds.size()) - 1});
      table_.feeds_.insert(table_.feeds_.end(), feeds.begin() + 1, feeds.end());
    }
  }

  ModeTable& table_;
  const model::System& system_;
  const model::LinkedForces& linked_;
  model::Workspace& work_;
  const Mode& mode_;
  std::span<const int> touched_, pinned_;
  ActiveRows& active_;
  OutcomeLayout at_;
  int n_;
  std::vector<double> value_, load_, zeta_;
  std::vector<double> constant_;              ///< by row of forces and rates
  std::vector<std::vector<double>> columns_;  ///< by source
  std::vector<Slipping> slipping_;
};

void ModeTable::clear() {
  ready_ = false;
  links_.clear();
  further_.clear();
  varied_parts_.clear();
  terms_.clear();
  rows_.clear();
  feeds_.clear();
  slips_.clear();
}

bool ModeTable::build(const model::System& system, model::Workspace& work, const Mode& mode,
                      std::span<const int> touched, std::span<const int> pinned, ActiveRows& rows) {
  clear();
  const bool redundant = rows.rank() < rows.count();
  if (system.linked().rows.empty() || redundant || system.layout().coordinates + rows.count() > kMostSize)
    return false;
  Builder(*this, system, work, mode, touched, pinned, rows).build();
  bool finite = true;
  const auto check = [&finite](double x) { finite = finite && std::isfinite(x); };
  for (const double x : fixed_) check(x);
  for (const Row& row : rows_) check(row.first.factor);
  for (const Term& term : terms_) check(term.factor);
  for (const Link& link : links_) {
    check(link.factor);
    check(link.offset);
    check(link.constant);
  }
  for (const Varied& part : varied_parts_) check(part.constant);
  ready_ = finite;
  return ready_;
}

void ModeTable::begin(double* outcome) const { std::copy(fixed_.begin(), fixed_.end(), outcome); }

}  // namespace judder::engines
