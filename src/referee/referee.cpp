#include "judder/referee/referee.hpp"

#include "bench.hpp"

namespace judder::referee {

Referee::Referee(const model::System& system, const Options& options)
    : bench_(std::make_unique<Bench>(system, options)) {}
Referee::~Referee() = default;
Referee::Referee(Referee&&) noexcept = default;

void Referee::restart(const Options& options) { bench_->restart(options); }

void Referee::point(const Point& point) { bench_->point(point); }
void Referee::impulse(const Impulse& impulse) { bench_->impulse(impulse); }

bool Referee::asks_inside() const { return bench_->asks_inside(); }

bool Referee::silent() {
  bench_->finish();
  return bench_->findings.empty();
}

Verdict Referee::verdict() {
  bench_->finish();
  return bench_->verdict();
}

}  // namespace judder::referee
