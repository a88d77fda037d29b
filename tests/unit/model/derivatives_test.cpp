// Rows, rates and Jacobians against finite differences: the derivatives of formulas against those of numbers.
#include <functional>

#include "model_support.hpp"

namespace judder::model {
namespace {

/// A machine with everything: moving frame, states, switches, a contact, a constraint, a joint, laws of the
/// slip speed.
Spec workshop() {
  Spec spec;
  spec.parameters.push_back(parameter("k", 30));
  spec.parameters.push_back(parameter("soft", "k/10"));
  spec.coordinates.push_back({.name = "x", .start = 0.4});
  spec.coordinates.push_back({.name = "y", .start = 2});
  spec.coordinates.push_back({.name = "p", .start = 0.3});
  spec.states.push_back({.name = "w", .start = 0.2, .rate = "-w + x' + 0.1*sin(x*t)"});
  spec.states.push_back({.name = "u", .start = 0.1, .rate = "w' - u^3 + soft*y/10"});
  spec.definitions.push_back({"frame", "0.2*sin(3*t)"});
  spec.energy.kinetic = "0.5*((x + frame)'^2 + y'^2) + 0.5*(1 + 0.3*cos(p)*x^2)*p'^2 + 0.1*x'*p'*sin(y)";
  spec.energy.potential = "k/2*(x - 0.3*p)^2 + 3*y + soft*cos(p + w) + 0.2*abs(x)*y^2";
  spec.energy.dissipation = "0.3/2*(x' - frame')^2 + 0.1*p'^4";
  Force motor;
  motor.name = "motor";
  motor.along = "p' + 0.2*x*y'";
  motor.value = "max(w, u)*exp(-t) - 0.4*p'*abs(p')";
  spec.forces.push_back(motor);
  Contact foot;
  foot.name = "foot";
  foot.gap = "y - 0.5*sin(p) - 0.1*cos(2*t)*x";
  foot.slip = {"(x + 0.5*cos(p))' + 0.1*w*y' - frame'"};
  foot.friction.given = true;
  foot.friction.static_coefficient = 0.5;
  foot.friction.dynamic = 0.3;
  foot.friction.velocity = 0.2;
  foot.friction.viscous = "0.1*(1 + speed)";
  spec.contacts.push_back(foot);
  Constraint rail;
  rail.name = "rail";
  rail.velocity = "p'*(1 + x^2) + y'*t - 0*w";
  spec.constraints.push_back(rail);
  Joint pad;
  pad.name = "pad";
  pad.slip = {"x' - y'*p"};
  pad.normal = "2 + y^2/10 + 0.3*normal(foot) + x^2*abs(normal(rail))";
  pad.law = coulomb("0.2/(1 + speed) + 0.01*w^2");
  spec.joints.push_back(pad);
  return spec;
}

double relative(double found, double expected) {
  return std::abs(found - expected) / std::max({1.0, std::abs(found), std::abs(expected)});
}

/// df/dx by central differences of order 4.
double slope(const std::function<double(double)>& f, double x) {
  const double h = 1e-3;
  return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h);
}

TEST(Derivatives, JacobianOfTheMotionAgreesWithDifferences) {
  CompileOptions options;
  options.free = {"k"};
  const System system = compiled_system(workshop(), options);
  const Layout& layout = system.layout();
  EXPECT_EQ(layout.free_parameters, 1);
  const int rows = layout.coordinates + layout.states, columns = layout.integrated() + 1;
  Workspace work(system);
  std::vector<double> jacobian(static_cast<std::size_t>(rows * columns));
  for (int i = 0; i < count(2000); ++i) {
    RandomState random(static_cast<unsigned>(i));
    random.draw(system, work, 0.8);
    system.jacobian(work, jacobian.data());
    for (int c = 0; c < columns; ++c) {
      const auto place =
          static_cast<std::size_t>(c < layout.integrated() ? layout.q() + c : layout.free_parameter());
      const double at = work.in[place];
      for (int r = 0; r < rows; ++r) {
        const double expected = slope(
            [&](double x) {
              work.in[place] = x;
              EXPECT_TRUE(system.motion(work));
              return r < layout.coordinates ? work.force[static_cast<std::size_t>(r)]
                                            : work.rate[static_cast<std::size_t>(r - layout.coordinates)];
            },
            at);
        work.in[place] = at;
        EXPECT_LT(relative(jacobian[static_cast<std::size_t>(r * columns + c)], expected), 1e-7)
            << "seed " << i << ", row " << r << ", column " << c;
      }
    }
  }
}

/// d/dt along q̇ = v, ż = rate with v̇ = a.
double along_motion(const System& system, Workspace& work, const std::vector<double>& a,
                    const std::function<double()>& f) {
  EXPECT_TRUE(system.motion(work));
  const Layout& layout = system.layout();
  const std::vector<double> in = work.in, rate = work.rate;
  const double result = slope(
      [&](double s) {
        work.in = in;
        work.in[0] += s;
        for (int i = 0; i < layout.coordinates; ++i) {
          const double v = in[static_cast<std::size_t>(layout.v() + i)],
                       acceleration = a[static_cast<std::size_t>(i)];
          work.in[static_cast<std::size_t>(layout.q() + i)] += s * v + s * s / 2 * acceleration;
          work.in[static_cast<std::size_t>(layout.v() + i)] += s * acceleration;
        }
        for (int i = 0; i < layout.states; ++i)
          work.in[static_cast<std::size_t>(layout.z() + i)] += s * rate[static_cast<std::size_t>(i)];
        return f();
      },
      0);
  work.in = in;
  return result;
}

TEST(Derivatives, GapAndSlipRatesFollowTheirDefinitions) {
  const System system = compiled_system(workshop());
  Workspace work(system);
  const auto n = static_cast<std::size_t>(system.layout().coordinates);
  for (int i = 0; i < count(5000); ++i) {
    RandomState random(static_cast<unsigned>(i));
    random.draw(system, work, 0.8);
    const std::vector<double> a{random.uniform(-3, 3), random.uniform(-3, 3), random.uniform(-3, 3)};
    for (int k = 0; k < system.layout().relations; ++k) {
      const Relation& r = system.relations()[static_cast<std::size_t>(k)];
      const RelationRows rows = system.rows(work, k);
      const std::string where = "seed " + std::to_string(i) + ", " + r.name;
      const double* v = work.in.data() + system.layout().v();
      if (r.has_normal) {
        const std::vector<double> w = rows.w.dense(n);
        double rate = rows.gap_time, acceleration = rows.zeta_n;
        for (std::size_t j = 0; j < n; ++j) rate += w[j] * v[j], acceleration += w[j] * a[j];
        EXPECT_LT(relative(rate, rows.gap_rate), 1e-13) << where;
        if (r.holonomic) {
          EXPECT_LT(relative(rows.gap_rate,
                             along_motion(system, work, a, [&] { return system.rows(work, k).gap; })),
                    1e-8)
              << where;
        }
        EXPECT_LT(relative(acceleration,
                           along_motion(system, work, a, [&] { return system.rows(work, k).gap_rate; })),
                  1e-8)
            << where;
      }
      for (int j = 0; j < r.tangents; ++j) {
        const RelationRows again = system.rows(work, k);
        const std::vector<double> w = again.tangent[j].w.dense(n);
        double slip = again.tangent[j].drive, acceleration = again.tangent[j].zeta;
        for (std::size_t c = 0; c < n; ++c) slip += w[c] * v[c], acceleration += w[c] * a[c];
        EXPECT_LT(relative(slip, again.tangent[j].slip), 1e-13) << where;
        EXPECT_LT(relative(acceleration, along_motion(system, work, a,
                                                      [&] { return system.rows(work, k).tangent[j].slip; })),
                  1e-8)
            << where;
      }
    }
  }
}

TEST(Derivatives, SurfaceOfASwitchHasItsGradient) {
  const System system = compiled_system(workshop());
  const Layout& layout = system.layout();
  Workspace work(system);
  ASSERT_FALSE(system.switches().empty());
  std::vector<double> surface(static_cast<std::size_t>(2 + layout.integrated()));
  RandomState random(11);
  random.draw(system, work, 0.8);
  for (const SwitchInfo& info : system.switches()) {
    info.surface.evaluate(work.in.data(), surface.data(), work.registers.data());
    double value = 0;
    info.value.evaluate(work.in.data(), &value, work.registers.data());
    EXPECT_EQ(value, surface[0]);
    for (std::size_t c = 0; c < surface.size() - 1; ++c) {
      const double at = work.in[c];
      const double expected = slope(
          [&](double x) {
            work.in[c] = x;
            info.value.evaluate(work.in.data(), &value, work.registers.data());
            return value;
          },
          at);
      work.in[c] = at;
      EXPECT_LT(relative(surface[c + 1], expected), 1e-8) << info.place << ", input " << c;
    }
  }
}

// Lagrange's equations by numbers alone: d/dt ∂L/∂v − ∂L/∂q = Q with v̇ = M⁻¹ h, from T and V that the
// System reports.
TEST(Derivatives, AccelerationsSatisfyLagrangesEquations) {
  Spec spec = workshop();
  spec.energy.dissipation = Value();
  spec.forces.clear();
  spec.contacts.clear();
  spec.joints.clear();
  spec.constraints.clear();
  spec.states[0].rate = "0.1*sin(x*t)";
  const System system = compiled_system(spec);
  Workspace work(system);
  const auto lagrangian = [&] {
    double t, v, e;
    system.energies(work, t, v, e);
    return t - v;
  };
  for (int i = 0; i < count(2000); ++i) {
    RandomState random(static_cast<unsigned>(i));
    random.draw(system, work, 0.8);
    ASSERT_TRUE(system.motion(work));
    std::vector<double> a = work.force;
    system.solve_mass(work, a.data());
    for (int c = 0; c < 3; ++c) {
      const auto partial = [&](int base) {
        const auto place = static_cast<std::size_t>(base + c);
        const double at = work.in[place];
        const double result = slope([&](double x) { return work.in[place] = x, lagrangian(); }, at);
        work.in[place] = at;
        return result;
      };
      const double momentum_rate =
          along_motion(system, work, a, [&] { return partial(system.layout().v()); });
      EXPECT_LT(relative(momentum_rate, partial(system.layout().q())), 1e-6)
          << "seed " << i << ", coordinate " << c;
    }
  }
}

}  // namespace
}  // namespace judder::model
