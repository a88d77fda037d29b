// Work and impulses along a closed form: products of two rows, integrated on windows.
#include <algorithm>
#include <array>
#include <cmath>

#include "closed_form_parts.hpp"
#include "core/double_double.hpp"
#include "engines/numeric/packed_matrix.hpp"
#include "engines/numeric/pair.hpp"
#include "engines/numeric/power_of_two.hpp"

namespace judder::engines {
namespace {

using model::LinearStructure;

bool all_zero(const std::vector<double>& row) {
  return std::all_of(row.begin(), row.end(), [](double x) { return x == 0; });
}

}  // namespace

int ClosedForm::integral_row(const Row& row) {
  Row wide = augmented(row);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i] == wide) return static_cast<int>(i);
  }
  rows_.push_back(std::move(wide));
  return static_cast<int>(rows_.size()) - 1;
}

std::string ClosedForm::list_work(Context& c, const Stack& stack) {
  rows_.clear();
  products_.clear();
  reaction_rows_.clear();
  work_by_products_ = true;
  for (int k = 0; k < c.layout.switches; ++k) work_by_products_ = work_by_products_ && !c.mode.slides(k);
  const int basis = y_ + 2 * static_cast<int>(kinds_.size());
  // Found late: how many rows there are depends on which of them are alike.
  const auto fits = [&] { return bytes() <= kMostBytes; };
  const auto product = [&](int component, const Row& first, const Row& second, double factor) {
    look();
    if (!fits()) return;
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
        product(element.dissipative ? e : elements + e, unit(term.variable < 0 ? y_ : term.variable),
                row(term.other), element.dissipative ? -1 : 1);
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
    if (c.mode.normal[r] == NormalStatus::closed)
      reaction_rows_.push_back({r, integral_row(stack.normal[r])});
  }
  if (!fits()) return "the works of its elements are integrals of too many functions to be kept";
  // cᵀÂᵏ/k!, in 106 bits as for the search.
  const int size = linear_.size();
  first_entry_.assign(1, 0);
  entry_state_.clear();
  taylor_.clear();
  row_terms_.clear();
  std::vector<double> terms(size * kTerms);
  std::vector<DoubleDouble> present(size), next(size);
  for (const Row& wide : rows_) {
    look();
    for (int j = 0; j < size; ++j) present[j] = {wide[j], 0};
    int used = 1;
    for (int k = 0; k < kTerms; ++k) {
      for (int j = 0; j < size; ++j) {
        terms[j * kTerms + k] = present[j].high;
        if (present[j].high != 0) used = k + 1;
      }
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
    row_terms_.push_back(used);
    for (int j = 0; j < size; ++j) {
      const double* entry = terms.data() + j * kTerms;
      if (std::all_of(entry, entry + kTerms, [](double x) { return x == 0; })) continue;
      entry_state_.push_back(j);
      taylor_.insert(taylor_.end(), entry, entry + kTerms);
    }
    first_entry_.push_back(static_cast<int>(entry_state_.size()));
  }
  terms_.assign(rows_.size() * kTerms, 0.0);
  nodes_.assign(rows_.size() * 8, 0.0);
  chosen_.assign(size, 0.0);
  expanded_.assign(rows_.size(), 0);
  return {};
}

namespace {

/// Gauss-Legendre on [0, 1].
constexpr std::array<double, 8> kNode = {0.01985507175123188, 0.10166676129318664, 0.23723379504183550,
                                         0.40828267875217511, 0.59171732124782489, 0.76276620495816450,
                                         0.89833323870681336, 0.98014492824876812};
constexpr std::array<double, 8> kWeight = {0.050614268145188129, 0.11119051722668724, 0.15685332293894363,
                                           0.18134189168918099,  0.18134189168918099, 0.15685332293894363,
                                           0.11119051722668724,  0.050614268145188129};

double polynomial(const double* c, int terms, double theta) {
  double value = c[terms - 1];
  for (int k = terms - 2; k >= 0; --k) value = value * theta + c[k];
  return value;
}

}  // namespace

/// W of the shortest piece from the rows at the nodes of the quadrature, then of two, four, … of them.
void ClosedForm::list_forms() {
  const int size = linear_.size();
  forms_.clear();
  impulses_.clear();
  levels_ = std::isinf(window_) || rows_.empty() || size > kLargest ? 0 : kLevels;
  while (levels_ > 0 && !exponentials.finite(last_piece())) --levels_;
  if (levels_ == 0) return;
  const double shortest = std::ldexp(1.0, first_piece());
  const auto square = static_cast<std::size_t>(size * size);
  std::vector<double> first(size), second(size);
  const auto at_node = [&](int row, double theta, std::vector<double>& out) {
    std::fill(out.begin(), out.end(), 0.0);
    for (int e = first_entry_[row]; e < first_entry_[row + 1]; ++e)
      out[entry_state_[e]] = polynomial(taylor_.data() + e * kTerms, kTerms, theta * shortest);
  };
  std::vector<std::vector<double>> whole;  // by form, the present level row by row
  for (const Product& product : products_) {
    auto form = std::find_if(forms_.begin(), forms_.end(),
                             [&](const Form& f) { return f.component == product.component; });
    if (form == forms_.end()) {
      form = forms_.insert(forms_.end(), {product.component, {}, {}});
      whole.emplace_back(square);
    }
    look();
    std::vector<double>& matrix = whole[form - forms_.begin()];
    for (std::size_t g = 0; g < 8; ++g) {
      at_node(product.first, kNode[g], first);
      at_node(product.second, kNode[g], second);
      const double weight = product.factor * shortest * kWeight[g];
      for (int i = 0; i < size; ++i) {
        for (int j = 0; j < size; ++j) matrix[i * size + j] += weight * first[i] * second[j];
      }
    }
  }
  for (const Product& product : products_) {
    Form& form = *std::find_if(forms_.begin(), forms_.end(),
                               [&](const Form& f) { return f.component == product.component; });
    for (const int row : {product.first, product.second}) {
      for (int e = first_entry_[row]; e < first_entry_[row + 1]; ++e) {
        if (std::find(form.states.begin(), form.states.end(), entry_state_[e]) == form.states.end())
          form.states.push_back(entry_state_[e]);
      }
    }
  }
  std::vector<double> half(square), next(square), part(square);
  for (std::size_t f = 0; f < forms_.size(); ++f) {
    std::vector<double>& now = whole[f];
    Form& form = forms_[f];
    std::sort(form.states.begin(), form.states.end());
    const auto width = static_cast<int>(form.states.size());
    form.matrix.resize(numeric::packed_size(width) * levels_);
    for (int level = 0; level < levels_; ++level) {
      look();
      for (int i = 0; i < width; ++i) {
        for (int j = 0; j < width; ++j) part[i * width + j] = now[form.states[i] * size + form.states[j]];
      }
      numeric::pack(width, part.data(), form.matrix.data() + level * numeric::packed_size(width));
      const double* e = exponentials.at(first_piece() + level);
      for (int i = 0; i < size; ++i) {
        for (int j = 0; j < size; ++j) {
          double sum = 0;
          for (int k = 0; k < size; ++k) sum += now[i * size + k] * e[k * size + j];
          half[i * size + j] = sum;
        }
      }
      for (int i = 0; i < size; ++i) {
        for (int j = 0; j < size; ++j) {
          double sum = now[i * size + j];
          for (int k = 0; k < size; ++k) sum += e[k * size + i] * half[k * size + j];
          next[i * size + j] = sum;
        }
      }
      std::swap(now, next);
    }
  }
  form_work_.assign(forms_.size(), 0.0);
  list_impulses();
}

void ClosedForm::list_impulses() {
  const int size = linear_.size();
  const double shortest = std::ldexp(1.0, first_piece());
  const double* growth = exponentials.natural_envelope();
  for (const ReactionRow& reaction : reaction_rows_) {
    look();
    Impulse impulse;
    impulse.rows.resize(size * levels_);
    impulse.slope.resize(size);
    impulse.bend.resize(size);
    for (int e = first_entry_[reaction.row]; e < first_entry_[reaction.row + 1]; ++e) {
      const int j = entry_state_[e];
      const double* c = taylor_.data() + e * kTerms;
      double sum = 0;
      for (int k = kTerms - 1; k >= 0; --k) sum = sum * shortest + c[k] / (k + 1);
      impulse.rows[j] = sum * shortest;
      impulse.slope[j] = c[1];
      for (int i = 0; i < size; ++i) impulse.bend[i] += 6 * std::abs(c[3]) * growth[j * size + i];
    }
    for (int level = 1; level < levels_; ++level) {
      const double* before = impulse.rows.data() + (level - 1) * size;
      const double* e = exponentials.at(first_piece() + level - 1);
      for (int j = 0; j < size; ++j) {
        double sum = before[j];
        for (int i = 0; i < size; ++i) sum += before[i] * e[i * size + j];
        impulse.rows[level * size + j] = sum;
      }
    }
    impulses_.push_back(std::move(impulse));
  }
}

/// Terms that matter on a window of this width.
int ClosedForm::terms_needed(double width) const {
  if (std::isinf(window_)) return kTerms;
  return numeric::exponential_terms(width / window_, kTerms);
}

/// A row on a window from x: its polynomial in θ ∈ [0, 1], and its values at the nodes.
void ClosedForm::expand(int row, const double* x, double width, int most) {
  constexpr std::size_t kPairs = kTerms / 2;
  static_assert(kTerms % 2 == 0);
  const int terms = std::min(most, row_terms_[row]);
  expanded_[row] = terms;
  const std::size_t pairs = static_cast<std::size_t>(terms + 1) / 2;
  std::array<numeric::Pair, kPairs> sum{};
  for (int e = first_entry_[row]; e < first_entry_[row + 1]; ++e) {
    const double* column = taylor_.data() + e * kTerms;
    const numeric::Pair factor = numeric::both(x[entry_state_[e]]);
    for (std::size_t k = 0; k < pairs; ++k) sum[k] += numeric::load_pair(column + 2 * k) * factor;
  }
  double* c = terms_.data() + row * kTerms;
  for (std::size_t k = 0; k < pairs; ++k) numeric::store_pair(sum[k], c + 2 * k);
  double power = width;
  for (int k = 1; k < terms; ++k, power *= width) c[k] *= power;
  std::array<numeric::Pair, 4> value, node;
  for (std::size_t g = 0; g < 4; ++g) {
    value[g] = numeric::both(c[terms - 1]);
    node[g] = numeric::load_pair(kNode.data() + 2 * g);
  }
  for (int k = terms - 2; k >= 0; --k) {
    const numeric::Pair next = numeric::both(c[k]);
    for (std::size_t g = 0; g < 4; ++g) value[g] = value[g] * node[g] + next;
  }
  for (std::size_t g = 0; g < 4; ++g) numeric::store_pair(value[g], nodes_.data() + row * 8 + 2 * g);
}

/// The largest value of an expanded row on its window.
double ClosedForm::peak(int row) const {
  const int terms = expanded_[row];
  const double* values = nodes_.data() + row * 8;
  const double* c = terms_.data() + row * kTerms;
  std::size_t best = 0;
  for (std::size_t g = 1; g < 8; ++g) {
    if (values[g] > values[best]) best = g;
  }
  const double end = polynomial(c, terms, 1);
  const double largest = std::max({values[best], c[0], end});
  if (!(largest > c[0] && largest > end)) return largest;
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
  return std::max(largest, polynomial(c, terms, theta));
}

bool ClosedForm::integrate_piece(int p, const double* x, const double* next, double scale, double* work,
                                 std::vector<Reaction>& reactions) {
  constexpr double kLostTerms = 64;          // terms by what is left of them
  constexpr double kSmallShare = 1. / 4096;  // of the scale that terms may reach, whatever is left of them
  const int size = linear_.size();
  const auto level = static_cast<std::size_t>(p - first_piece());
  for (std::size_t f = 0; f < forms_.size(); ++f) {
    const Form& form = forms_[f];
    const auto count = static_cast<int>(form.states.size());
    for (int i = 0; i < count; ++i) chosen_[i] = x[form.states[i]];
    double terms = 0;
    form_work_[f] = numeric::quadratic_form(count, form.matrix.data() + level * numeric::packed_size(count),
                                            chosen_.data(), terms);
    if (!(terms <= std::max(kLostTerms * std::abs(form_work_[f]), kSmallShare * scale))) return false;
  }
  for (std::size_t f = 0; f < forms_.size(); ++f) work[forms_[f].component] += form_work_[f];
  reactions.clear();
  const double width = numeric::power_of_two(p);
  for (std::size_t i = 0; i < reaction_rows_.size(); ++i) {
    const Impulse& impulse = impulses_[i];
    const double* weights = impulse.rows.data() + level * size;
    const double* row = rows_[reaction_rows_[i].row].data();
    double sum = 0, start = 0, end = 0, slope = 0, last_slope = 0, bend = 0;
    for (int j = 0; j < size; ++j) {
      sum += weights[j] * x[j];
      start += row[j] * x[j];
      end += row[j] * next[j];
      slope += impulse.slope[j] * x[j];
      last_slope += impulse.slope[j] * next[j];
      bend += impulse.bend[j] * std::abs(x[j]);
    }
    double largest = std::max(start, end);
    // The slope is that of the line between its ends but for bend·h²/8: one sign leaves the largest value at an end.
    if (!(slope * last_slope >= 0 &&
          std::min(std::abs(slope), std::abs(last_slope)) >= 0.125 * bend * width * width)) {
      expand(reaction_rows_[i].row, x, width, terms_needed(width));
      largest = std::max(largest, peak(reaction_rows_[i].row));
    }
    reactions.push_back({reaction_rows_[i].relation, sum, largest});
  }
  return true;
}

void ClosedForm::integrate(const double* x, double width, double* work, std::vector<Reaction>& reactions) {
  const int terms = terms_needed(width);
  for (std::size_t i = 0; i < rows_.size(); ++i) expand(static_cast<int>(i), x, width, terms);
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
    double sum = 0;
    for (std::size_t g = 0; g < 8; ++g) sum += kWeight[g] * values[g];
    reactions.push_back({reaction.relation, width * sum, peak(reaction.row)});
  }
}

}  // namespace judder::engines
