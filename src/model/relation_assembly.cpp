// Relations of a System: what each contact, constraint and joint touches, and the programs of its rows and laws.
#include <algorithm>

#include "model/builder.hpp"

namespace judder::model {
namespace {

class RelationAssembly {
 public:
  RelationAssembly(Builder& builder, const std::vector<bool>& reads) : b_(builder), reads_(reads) {}
  void run();

 private:
  Relation described(std::size_t k);
  void find_touched(const RelationDraft& r, Relation& out) const;
  void build_gap(std::size_t k, Relation& out);
  void build_rows(const RelationDraft& r, const std::vector<Node>& factors, Relation& out) const;
  void build_sliding(const RelationDraft& r, Relation& out) const;
  void keep_symbols(std::size_t k, std::vector<Node> factors);
  [[nodiscard]] bool constant(const std::vector<Node>& nodes) const;

  Builder& b_;
  System::Data& d_ = b_.data();
  const std::size_t n_ = b_.coordinates.size();
  const std::vector<bool>& reads_;  ///< by variable: the rates read it
  const std::vector<double> zeros_ = std::vector<double>(b_.graph.variable_count(), 0.0);
  std::vector<int> audit_of_ = std::vector<int>(b_.relations.size(), -1);
  std::vector<Node> gaps_;
  int tangent_ = 0;
};

bool RelationAssembly::constant(const std::vector<Node>& nodes) const {
  return std::all_of(nodes.begin(), nodes.end(), [this](Node node) { return b_.graph.is_constant(node); });
}

Relation RelationAssembly::described(std::size_t k) {
  RelationDraft& r = b_.relations[k];
  Relation out;
  out.kind = r.kind;
  out.name = r.name;
  out.place = r.where;
  out.has_normal = r.has_normal;
  out.holonomic = r.holonomic;
  out.compliant = r.compliant;
  out.tangents = b_.tangent_count[k];
  out.first_tangent = tangent_;
  tangent_ += out.tangents;
  out.smooth_friction = r.smooth && out.tangents > 0;
  out.own_push = r.own_push;
  out.impact = r.impact;
  out.impact_friction = r.impact_friction;
  out.has_tangential_restitution = r.has_tangential;
  out.direction_in_force = r.needs_direction;
  out.impact_stiffness = r.impact_stiffness.raw();
  out.impact_exponent = r.impact_exponent.raw();
  if (r.impact_stiffness.open() || r.impact_exponent.open())
    b_.for_form.impacts.push_back({k, r.impact_stiffness, r.impact_exponent});
  out.bristles = r.bristles;
  out.reads_closed = reads_[r.closed];
  out.audit = audit_of_[k];
  return out;
}

void RelationAssembly::find_touched(const RelationDraft& r, Relation& out) const {
  std::vector<bool> touched(n_, false);
  const auto touch = [&](const std::vector<Node>& entries) {
    for (std::size_t i = 0; i < entries.size(); ++i) touched[i] = touched[i] || !b_.is_zero(entries[i]);
  };
  if (r.has_normal) {
    touch(r.w);
    if (r.own_push) touch(r.push);
  }
  for (int j = 0; j < out.tangents; ++j) {
    touch(r.slip[static_cast<std::size_t>(j)].w);
    touch(r.slip[static_cast<std::size_t>(j)].drag);
  }
  for (std::size_t i = 0; i < n_; ++i) {
    if (touched[i]) out.touches.push_back(static_cast<int>(i));
  }
}

/// A gap between two places is no program (docs/decisions.md).
void RelationAssembly::build_gap(std::size_t k, Relation& out) {
  const RelationDraft& r = b_.relations[k];
  const Node gap[] = {r.gap, r.gap_rate};
  out.gap = b_.program(gap);
  if (const auto plain = b_.plain_gap(r, out, zeros_)) {
    d_.plain_gaps.push_back(*plain);
    d_.plain_gaps.back().relation = static_cast<int>(k);
  } else {
    append(gaps_, {r.gap, r.gap_rate});
    d_.with_gap.push_back(static_cast<int>(k));
  }
}

void RelationAssembly::build_rows(const RelationDraft& r, const std::vector<Node>& factors,
                                  Relation& out) const {
  const auto append_row = [&out](std::vector<Node>& to, const std::vector<Node>& row) {
    for (const int i : out.touches) to.push_back(row[static_cast<std::size_t>(i)]);
  };
  std::vector<Node> rows, law{r.base}, fixed;
  append(law, factors);
  if (r.has_normal) {
    append(rows, {r.gap_time, r.zeta});
    append_row(rows, r.w);
    if (r.own_push) append_row(rows, r.push);
    fixed = rows;
  }
  out.driven = r.has_normal && !b_.is_zero(r.gap_time);
  for (int j = 0; j < out.tangents; ++j) {
    const TangentDraft& row = r.slip[static_cast<std::size_t>(j)];
    append(rows, {row.slip, row.drive, row.zeta});
    append_row(rows, row.w);
    append(fixed, {row.drive, row.zeta});
    append_row(fixed, row.w);
    if (r.own_push) {
      append_row(rows, row.drag);
      append_row(fixed, row.drag);
    }
    append(law, {row.mu, row.mu_static});
    out.driven = out.driven || !b_.is_zero(row.drive);
  }
  out.rows_constant = constant(fixed);
  out.law_constant = constant(law);
  out.rows = b_.program(rows);
  out.law = b_.program(law);
}

/// What friction does at a slip velocity that is given: for laws as curves.
void RelationAssembly::build_sliding(const RelationDraft& r, Relation& out) const {
  out.friction = r.type;
  out.load_known = r.known_load && r.feeds.empty();
  std::vector<Node> sliding{r.slip[0].slip, r.slip[0].drive}, curve{r.base};
  // Its own list: a law whose force is part of h has no rows, and so touches nothing.
  for (std::size_t i = 0; i < n_; ++i) {
    if (!b_.is_zero(r.slip[0].w[i]) || !b_.is_zero(r.slip[0].drag[i]))
      out.slides.push_back(static_cast<int>(i));
  }
  for (const auto* row : {&r.slip[0].w, &r.slip[0].drag}) {
    for (const int i : out.slides) sliding.push_back((*row)[static_cast<std::size_t>(i)]);
  }
  append(curve, r.curve);
  out.sliding = b_.program(sliding, expr::Sides::by_value);
  out.curve = b_.program(curve, expr::Sides::by_value);
  out.curve_constant = constant(curve);
}

void RelationAssembly::keep_symbols(std::size_t k, std::vector<Node> factors) {
  const RelationDraft& r = b_.relations[k];
  WrittenLaw written;
  if (!r.curve.empty()) {
    written.friction = r.type;
    written.mu = r.curve.front();
  }
  written.restitution = r.restitution;
  written.tangential = r.tangential;
  d_.written.push_back(written);
  d_.symbols.normal.push_back({r.gap, r.gap_rate, r.zeta, r.has_normal ? r.w : std::vector<Node>(),
                               r.has_normal ? r.push : std::vector<Node>()});
  for (int j = 0; j < b_.tangent_count[k]; ++j) {
    const TangentDraft& row = r.slip[static_cast<std::size_t>(j)];
    d_.symbols.tangent.push_back({row.slip, row.drive, row.zeta, row.mu, row.mu_static, row.w, row.drag});
  }
  d_.symbols.base.push_back(r.base);
  d_.symbols.factors.push_back(std::move(factors));
  for (const TangentDraft& row : r.slip) {
    if (!b_.is_zero(row.added))
      d_.symbols.known_friction.push_back({static_cast<int>(k), row.slip, row.added});
  }
}

void RelationAssembly::run() {
  for (std::size_t a = 0; a < b_.audits.size(); ++a) {
    if (b_.audits[a].relation >= 0)
      audit_of_[static_cast<std::size_t>(b_.audits[a].relation)] = static_cast<int>(a);
  }
  for (std::size_t k = 0; k < b_.relations.size(); ++k) {
    const RelationDraft& r = b_.relations[k];
    Relation out = described(k);
    // A contact or constraint draws its friction from its own normal row.
    std::vector<Node> factors = r.factors;
    out.feeds = r.feeds;
    if (r.has_normal && out.tangents > 0) {
      out.feeds.insert(out.feeds.begin(), static_cast<int>(k));
      factors.insert(factors.begin(), b_.graph.constant(1));
    }
    find_touched(r, out);
    if (r.has_gap) build_gap(k, out);
    build_rows(r, factors, out);
    if (r.kind == RelationKind::contact) {
      const Node restitution[] = {r.restitution, r.tangential};
      out.restitution = b_.program(restitution, expr::Sides::by_value);
    }
    if (r.type != FrictionType::none && !r.slip.empty()) build_sliding(r, out);
    d_.relations.push_back(std::move(out));
    keep_symbols(k, std::move(factors));
  }
  d_.gaps = b_.program(gaps_);
}

}  // namespace

void assemble_relations(Builder& builder, const std::vector<bool>& reads) {
  RelationAssembly(builder, reads).run();
}

}  // namespace judder::model
