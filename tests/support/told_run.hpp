// A run that no engine makes: rows and events of a falling body, told by hand.
#pragma once

#include <string>
#include <vector>

#include "run_model.hpp"

namespace judder {

class ToldRun {
 public:
  ToldRun()
      : model_(
            text_model("[coordinates]\ny = 1\n[energy]\nkinetic = \"y'^2/2\"\npotential = \"9.81*y\"\n"
                       "[[contact]]\nname = \"floor\"\ngap = \"y\"\nimpact = { restitution = 0.5 }\n"
                       "[output.columns]\nroot = \"sqrt(y)\"\nfoot = \"mode(floor)\"\n[run]\nuntil = 1\n")),
        work_(model_.system) {
    mode_.normal.resize(1);
    mode_.tangent.resize(static_cast<std::size_t>(model_.system.relations()[0].tangents));
    std::copy(model_.system.start().begin(), model_.system.start().end(), work_.in.begin());
  }

  [[nodiscard]] const model::System& system() const { return model_.system; }
  [[nodiscard]] const engines::EngineOptions& options() const { return model_.options; }

  void row(engines::Sink& sink, double time, double y, bool closed = false,
           engines::RowKind kind = engines::RowKind::sample) {
    const auto q = static_cast<std::size_t>(model_.system.layout().q());
    work_.in[0] = time;
    work_.in[q] = y;
    work_.in[q + 1] = -9.81 * time;
    mode_.normal[0] = closed ? engines::NormalStatus::closed : engines::NormalStatus::open;
    sink.row(kind, mode_, work_);
  }

  void impact(engines::Sink& sink, double time, double impulse, double gain = 0) {
    engines::Event event;
    event.time = time;
    event.normal_impulse = impulse;
    event.energy_gain = gain;
    const std::vector<double> state{0, impulse};
    sink.event(event, state);
  }

 private:
  TestModel model_;
  model::Workspace work_;
  engines::Mode mode_;
};

}  // namespace judder
