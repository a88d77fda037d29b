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

void Enclosure::make_room(const expr::Program& program) {
  out_.resize(std::max<std::size_t>(out_.size(), program.outputs()));
  registers_.resize(std::max<std::size_t>(registers_.size(), program.registers()));
}

void Enclosure::evaluate(const expr::Program& program) {
  make_room(program);
  program.evaluate_interval(in_.data(), out_.data(), registers_.data());
}

bool Enclosure::evaluate_gentle(const expr::Program& program) {
  make_room(program);
  bool gentle = true;
  program.evaluate_gentle(in_.data(), out_.data(), registers_.data(), gentle);
  return gentle;
}

}  // namespace judder::engines
