// A sink that hands on to several, so that each of them can do one thing.
//
//     ManySinks both;
//     both.add(memory);
//     both.add(folder);
//     simulate::run(system, "event", options, both);
#pragma once

#include <cstddef>
#include <vector>

#include "judder/engines/engine.hpp"
#include "judder/engines/observer.hpp"

namespace judder::simulate {

/// In the order in which they were added. The sinks must live as long.
class ManySinks final : public engines::Sink {
 public:
  /// Whether a sink is told of steps (progress, wants_state, state) as well, of which there are many more than rows.
  enum class Steps : unsigned char { leave_out, tell };

  void add(engines::Sink& sink, Steps steps = Steps::tell);

  void row(engines::RowKind kind, const engines::Mode& mode, model::Workspace& work) override;
  /// Of a single sink; several want the same rows.
  double* state_rows(std::size_t count) override;
  void event(const engines::Event& event, std::span<const double> state) override;
  void interval(const engines::Interval& interval) override;
  void progress(double time) override;
  bool wants_state() override;
  /// To those that want it.
  void state(const engines::EngineResult& so_far) override;

 private:
  struct Stepped {
    engines::Sink* sink;
    bool wants = false;
  };
  std::vector<engines::Sink*> sinks_;
  std::vector<Stepped> stepped_;
};

/// An observer that hands on to several, in the order in which they were added. They must live as long.
class ManyObservers final : public engines::Observer {
 public:
  void add(engines::Observer& observer) { observers_.push_back(&observer); }

  void point(const engines::ToldPoint& point) override;
  void impulses(const engines::ToldImpulses& impulses) override;
  void event(const engines::Event& event) override;
  [[nodiscard]] bool asks_inside() const override;
  [[nodiscard]] bool asks_along() const override;
  void along(double from, double to, engines::Along& motion) override;

 private:
  std::vector<engines::Observer*> observers_;
};

}  // namespace judder::simulate
