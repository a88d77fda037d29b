// What the tests of the model layer share: specs of small systems, random states, reading of workspaces.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "count.hpp"
#include "judder/core/diagnostics.hpp"
#include "judder/model/compile.hpp"

namespace judder::model {

/// All messages, for failure texts.
inline std::string messages(const Compiled& compiled) { return render(compiled.diagnostics, "model", ""); }

inline System compiled_system(const Spec& spec, const CompileOptions& options = {}) {
  Compiled compiled = compile(spec, options);
  if (!compiled.system) throw std::runtime_error(messages(compiled));
  return std::move(*compiled.system);
}

/// One random state of a system: t, q, v, z uniform in ±reach around the start; sides by value, directions
/// as the rows slip.
class RandomState {
 public:
  explicit RandomState(unsigned seed) : random_(seed) {}

  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }

  void draw(const System& system, Workspace& work, double reach = 1) {
    const Layout& layout = system.layout();
    work.in = system.start();
    work.in[0] += uniform(0, reach);
    for (int i = 0; i < layout.integrated(); ++i)
      work.in[static_cast<std::size_t>(layout.q() + i)] += uniform(-reach, reach);
    settle(system, work);
  }

  /// Sides and directions that fit the present values.
  static void settle(const System& system, Workspace& work) {
    const Layout& layout = system.layout();
    system.sides_by_value(work.in, work);
    for (const Relation& r : system.relations()) {
      const int k = static_cast<int>(&r - system.relations().data());
      for (int j = 0; j < r.tangents; ++j) {
        const double slip = system.rows(work, k).tangent[j].slip;
        work.in[static_cast<std::size_t>(layout.direction() + r.first_tangent + j)] = slip > 0   ? 1
                                                                                      : slip < 0 ? -1
                                                                                                 : 0;
      }
    }
  }

 private:
  std::mt19937_64 random_;
};

inline double& position(const System& system, Workspace& work, int i) {
  return work.in[static_cast<std::size_t>(system.layout().q() + i)];
}
inline double& velocity(const System& system, Workspace& work, int i) {
  return work.in[static_cast<std::size_t>(system.layout().v() + i)];
}
inline double& state(const System& system, Workspace& work, int i) {
  return work.in[static_cast<std::size_t>(system.layout().z() + i)];
}

inline void expect_close(double found, double expected, double tolerance, const std::string& what) {
  EXPECT_LE(std::abs(found - expected), tolerance * std::max({1.0, std::abs(found), std::abs(expected)}))
      << what << ": " << found << " instead of " << expected;
}

// --- small systems ---

inline Spec bouncing_ball() {
  Spec spec;
  spec.coordinates.push_back({.name = "h", .start = 1});
  spec.energy.kinetic = "h'^2/2";
  spec.energy.potential = "9.81*h";
  Contact ground;
  ground.name = "ground";
  ground.gap = "h";
  ground.impact.restitution = 0.9;
  spec.contacts.push_back(ground);
  spec.run.until = 9;
  return spec;
}

inline FrictionLaw coulomb(Value mu) {
  FrictionLaw law;
  law.given = true;
  law.mu = std::move(mu);
  return law;
}

inline Parameter parameter(const char* name, Value value) {
  Parameter p;
  p.name = name;
  p.value = std::move(value);
  return p;
}

/// Zabuga 2017, chapter 3.
inline Spec press() {
  Spec spec;
  for (const auto& [name, value] : std::vector<std::pair<const char*, double>>{{"mc", 0.1},
                                                                               {"mp", 1.0},
                                                                               {"l", 0.1},
                                                                               {"c", 2000},
                                                                               {"n", 1},
                                                                               {"mu", 0.4},
                                                                               {"q0", 0.5},
                                                                               {"g", 9.81}}) {
    spec.parameters.push_back(parameter(name, value));
  }
  spec.coordinates.push_back({.name = "xi", .velocity = 6});
  spec.coordinates.push_back({.name = "eta", .start = 0.04});
  spec.coordinates.push_back({.name = "y", .start = "l"});
  spec.energy.kinetic = "mc/2*(xi'^2 + eta'^2) + mp/2*(xi'^2 + (eta' + y')^2)";
  spec.energy.potential = "mc*g*eta + mp*g*(eta + y) + c/2*(y - l)^2";
  spec.energy.dissipation = "n*y'^2";
  Joint piston;
  piston.name = "piston";
  piston.slip = {"y'"};
  piston.normal = "q0";
  piston.law = coulomb(1);
  spec.joints.push_back(piston);
  Contact plane;
  plane.name = "plane";
  plane.gap = "eta";
  plane.slip = {"xi'"};
  plane.friction = coulomb("mu");
  spec.contacts.push_back(plane);
  spec.run.until = 3;
  return spec;
}

/// One coordinate x of mass 1 with a joint called "pad".
inline Spec padded_mass(FrictionLaw law, Value normal = 2, Value slip = "x'") {
  Spec spec;
  spec.coordinates.push_back({.name = "x", .start = 0, .velocity = 1});
  spec.energy.kinetic = "x'^2/2";
  Joint pad;
  pad.name = "pad";
  pad.slip = {std::move(slip)};
  pad.normal = std::move(normal);
  pad.law = std::move(law);
  spec.joints.push_back(pad);
  return spec;
}

}  // namespace judder::model
