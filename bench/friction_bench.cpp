// What stiff bristles cost: a block pulled over a surface by a spring, sixty seconds of stick and slip, bristles up to a million times stiffer than
// the spring. The set-valued law is the limit; its run stands beside them. Printed: time, steps, evaluations of the equations of motion.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "gallery.hpp"
#include "judder/core/number.hpp"
#include "judder/io/reader.hpp"
#include "judder/simulate/simulate.hpp"
#include "measure.hpp"

namespace {

using namespace judder;
using namespace judder::bench;

Model block(const std::string& law) {
  const io::ModelFile file = io::read_model_text(
      "format = 1\n[coordinates]\nX = 0\n[energy]\nkinetic = \"X'^2/2\"\npotential = \"(X - 0.1*t)^2/2\"\n"
      "[[friction]]\nname = \"surface\"\nslip = \"X'\"\nnormal = 1\nlaw = { " +
      law + "static = 1.5, dynamic = 1, velocity = 0.1, viscous = 0.004 }\n[run]\nuntil = 60\n");
  model::Compiled compiled = model::compile(file.spec);
  if (!compiled.system) {
    std::cerr << render(compiled.diagnostics, file.name, file.text);
    std::exit(1);
  }
  Model out{std::move(*compiled.system), engines::options_of(compiled.run)};
  out.options.tolerance = 1e-7;
  out.options.samples = 2;
  return out;
}

void report(const std::string& name, const Model& model) {
  simulate::NullSink sink;
  engines::EngineResult result;
  const Rounds rounds({[&](long n) {
                        for (long i = 0; i < n; ++i)
                          result = simulate::run(model.system, "event", model.options, sink);
                      }},
                      11);
  figure(name, rounds.seconds(0),
         std::string(judder::name(result.status.reason)) + ", " + std::to_string(result.steps) + " steps, " +
             std::to_string(result.evaluations) + " evaluations");
}

}  // namespace

int main() {
  std::printf("  %-44s %12s\n", "a block under a spring, 60 s of stick and slip", "time");
  report("set-valued (Stribeck)", block(""));
  for (const char* ratio : {"1e2", "1e4", "1e6"}) {
    const double stiffness = std::strtod(ratio, nullptr);
    const std::string damping = "\"" + to_text(std::sqrt(stiffness)) + "*exp(-(speed/0.01)^2)\"";
    const std::string numbers = "stiffness = " + std::string(ratio) + ", damping = " + damping + ", ";
    report(std::string("lugre, stiffness ratio ") + ratio, block("type = \"lugre\", " + numbers));
    report(std::string("elastoplastic, stiffness ratio ") + ratio,
           block("type = \"elastoplastic\", breakaway = " + to_text(0.5 / stiffness) + ", " + numbers));
  }
  return 0;
}
