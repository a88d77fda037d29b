// Work and impulses along a closed form: products of two rows, integrated on windows.
#include <algorithm>
#include <array>
#include <cmath>

#include "closed_form_parts.hpp"
#include "engines/numeric/double_double.hpp"

namespace judder::engines {
namespace {

using model::LinearStructure;
using numeric::DoubleDouble;

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

void ClosedForm::list_work(Context& c, const Stack& stack) {
  rows_.clear();
  products_.clear();
  reaction_rows_.clear();
  work_by_products_ =
      std::all_of(c.mode.sliding.begin(), c.mode.sliding.end(), [](std::uint8_t k) { return k == 0; });
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

namespace {

/// Gauss-Legendre on [0, 1].
constexpr std::array<double, 8> kNode = {0.01985507175123188, 0.10166676129318664, 0.23723379504183550,
                                         0.40828267875217511, 0.59171732124782489, 0.76276620495816450,
                                         0.89833323870681336, 0.98014492824876812};
constexpr std::array<double, 8> kWeight = {0.050614268145188129, 0.11119051722668724, 0.15685332293894363,
                                           0.18134189168918099,  0.18134189168918099, 0.15685332293894363,
                                           0.11119051722668724,  0.050614268145188129};

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

/// W of one window from the rows at the nodes of the quadrature, then of two, four, … windows.
void ClosedForm::list_forms() {
  const int size = linear_.size();
  forms_.clear();
  of_reaction_.assign(rows_.size(), 0);
  for (const ReactionRow& reaction : reaction_rows_) of_reaction_[reaction.row] = 1;
  levels_ = std::isinf(window_) || products_.empty() || size > kLargest ? 0 : kLevels;
  while (levels_ > 0 && !exponentials.finite(exponentials.natural_exponent() + levels_ - 1)) --levels_;
  if (levels_ == 0) return;
  const auto square = static_cast<std::size_t>(size * size);
  std::vector<double> first(size), second(size);
  const auto at_node = [&](int row, double theta, std::vector<double>& out) {
    for (int j = 0; j < size; ++j) {
      const double* c = taylor_.data() + (row * size + j) * kTerms;
      out[j] = polynomial(c, kTerms, theta * window_);
    }
  };
  for (const Product& product : products_) {
    auto form = std::find_if(forms_.begin(), forms_.end(),
                             [&](const Form& f) { return f.component == product.component; });
    if (form == forms_.end())
      form = forms_.insert(forms_.end(), {product.component, std::vector<double>(square * levels_)});
    for (std::size_t g = 0; g < 8; ++g) {
      at_node(product.first, kNode[g], first);
      at_node(product.second, kNode[g], second);
      const double weight = product.factor * window_ * kWeight[g];
      for (int i = 0; i < size; ++i) {
        for (int j = 0; j < size; ++j) form->matrix[i * size + j] += weight * first[i] * second[j];
      }
    }
  }
  std::vector<double> half(square);
  for (Form& form : forms_) {
    for (int level = 1; level < levels_; ++level) {
      const double* before = form.matrix.data() + (level - 1) * square;
      double* now = form.matrix.data() + level * square;
      const double* e = exponentials.at(exponentials.natural_exponent() + level - 1);
      for (int i = 0; i < size; ++i) {
        for (int j = 0; j < size; ++j) {
          double sum = 0;
          for (int k = 0; k < size; ++k) sum += before[i * size + k] * e[k * size + j];
          half[i * size + j] = sum;
        }
      }
      for (int i = 0; i < size; ++i) {
        for (int j = 0; j < size; ++j) {
          double sum = before[i * size + j];
          for (int k = 0; k < size; ++k) sum += e[k * size + i] * half[k * size + j];
          now[i * size + j] = sum;
        }
      }
    }
  }
}

void ClosedForm::add_work(const double* x, int level, double* work) const {
  const int size = linear_.size();
  for (const Form& form : forms_) {
    const double* w = form.matrix.data() + level * size * size;
    double sum = 0;
    for (int i = 0; i < size; ++i) {
      double row = 0;
      for (int j = 0; j < size; ++j) row += w[i * size + j] * x[j];
      sum += x[i] * row;
    }
    work[form.component] += sum;
  }
}

void ClosedForm::integrate(const double* x, double width, double* work, std::vector<Reaction>& reactions,
                           bool products) {
  const int size = linear_.size();
  const int count = static_cast<int>(rows_.size());
  const int terms = std::isinf(window_) ? kTerms : terms_needed(width / window_, kTerms);
  for (int i = 0; i < count; ++i) {
    if (!products && of_reaction_[i] == 0) continue;
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
    if (!products) break;
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
