// What an engine with fixed steps watches in its own run.
#pragma once

#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "judder/engines/engine.hpp"

namespace judder::engines {

/// A quantity of which the largest value is kept, and how often it was above `allowed`.
class StepMonitor {
 public:
  explicit StepMonitor(std::string name) { record_.name = std::move(name); }
  void start() {
    record_.worst = 0;
    record_.time = 0;
    record_.checks = record_.broken = 0;
  }
  void note(double value, double allowed, double time) {
    if (record_.checks == 0 || value > record_.worst) {
      record_.worst = value;
      record_.time = time;
    }
    ++record_.checks;
    if (value > allowed) ++record_.broken;
  }
  [[nodiscard]] const Monitor& record() const { return record_; }
  [[nodiscard]] bool used() const { return record_.checks > 0; }
  static constexpr std::size_t kSaved = 4;
  void save(std::vector<double>& out) const {
    out.insert(out.end(), {record_.worst, record_.time, static_cast<double>(record_.checks),
                           static_cast<double>(record_.broken)});
  }
  void load(std::span<const double> saved) {
    record_.worst = saved[0];
    record_.time = saved[1];
    record_.checks = std::lround(saved[2]);
    record_.broken = std::lround(saved[3]);
  }

 private:
  Monitor record_;
};

}  // namespace judder::engines
