#include "enclosure.hpp"

#include <algorithm>
#include <limits>

namespace judder::engines {

void Enclosure::take(std::span<const double> in) {
  in_.resize(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in_[i] = {in[i], in[i]};
}

void Enclosure::blur(int first, int end) {
  for (int i = first; i < end; ++i)
    widen(i, std::numeric_limits<double>::epsilon() * std::max(std::abs(in_[i].low), std::abs(in_[i].high)));
}

void Enclosure::evaluate(const expr::Program& program) {
  out_.resize(std::max<std::size_t>(out_.size(), program.outputs()));
  registers_.resize(std::max<std::size_t>(registers_.size(), program.registers()));
  program.evaluate_interval(in_.data(), out_.data(), registers_.data());
}

}  // namespace judder::engines
