#include "engines/numeric/linear.hpp"

#include "core/elementary.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace judder::engines::numeric {

void LinearMotion::build(int n, const double* a, std::span<const LoadTerm> loads) {
  n_ = n;
  chains_.clear();
  const auto chain_of = [this](const LoadTerm& term) -> Chain* {
    for (Chain& chain : chains_) {
      if (chain.rate == term.rate && chain.frequency == term.frequency) return &chain;
    }
    return nullptr;
  };
  for (const LoadTerm& term : loads) {
    Chain* chain = chain_of(term);
    if (chain == nullptr) {
      chains_.push_back({term.rate, term.frequency, 0, 0});
      chain = &chains_.back();
    }
    chain->powers = std::max(chain->powers, term.power + 1);
  }
  size_ = n;
  for (Chain& chain : chains_) {
    chain.first = size_;
    size_ += chain.powers * width(chain);
  }
  matrix_.assign(static_cast<std::size_t>(size_ * size_), 0.0);
  const auto entry = [this](int i, int j) -> double& {
    return matrix_[static_cast<std::size_t>(i * size_ + j)];
  };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) entry(i, j) = a[i * n + j];
  }
  for (const Chain& chain : chains_) {
    const int step = width(chain);
    for (int k = 0; k < chain.powers; ++k) {
      for (int part = 0; part < step; ++part) {
        const int row = chain.first + k * step + part;
        entry(row, row) = chain.rate;
        if (k > 0) entry(row, row - step) = 1;
      }
      if (step == 2) {
        const int cosine = chain.first + 2 * k;
        entry(cosine, cosine + 1) = -chain.frequency;
        entry(cosine + 1, cosine) = chain.frequency;
      }
    }
  }
  for (const LoadTerm& term : loads) {
    const Chain& chain = *chain_of(term);
    double factorial = 1;
    for (int k = 2; k <= term.power; ++k) factorial *= k;
    const int column = chain.first + term.power * width(chain);
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (!term.cosine.empty()) entry(i, column) += factorial * term.cosine[at];
      if (!term.sine.empty() && chain.frequency != 0) entry(i, column + 1) += factorial * term.sine[at];
    }
  }
}

int LinearMotion::load_state(int power, double rate, double frequency) const {
  for (const Chain& chain : chains_) {
    if (chain.rate == rate && chain.frequency == frequency && power < chain.powers)
      return chain.first + power * width(chain);
  }
  return -1;
}

void LinearMotion::start(double t, const double* x, double* augmented) const {
  for (int i = 0; i < n_; ++i) augmented[i] = x[i];
  for (const Chain& chain : chains_) {
    const double growth = chain.rate == 0 ? 1.0 : elementary::exp(chain.rate * t);
    const double cosine = chain.frequency == 0 ? 1.0 : elementary::cos(chain.frequency * t);
    const double sine = chain.frequency == 0 ? 0.0 : elementary::sin(chain.frequency * t);
    double power = growth;
    for (int k = 0; k < chain.powers; ++k) {
      if (k > 0) power = power * t / k;
      const int at = chain.first + k * width(chain);
      augmented[at] = power * cosine;
      if (chain.frequency != 0) augmented[at + 1] = power * sine;
    }
  }
}

}  // namespace judder::engines::numeric
