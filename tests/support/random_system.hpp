// Random mechanical systems with contacts and friction joints, and the same system written in other ways.
//
//     M q̈ + C q̇ + K q = f + a cos(ω t + φ) ,   gap_i = w_i·q + d_i ,   slip_i = w_Ti·q̇
//
// A system can be written with its coordinates permuted, its contacts listed in another order, and in other units: none of it changes the
// mechanics, so none of it may change the motion.
#pragma once

#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "judder/core/number.hpp"
#include "judder/model/spec.hpp"

namespace judder {

struct RandomContact {
  std::vector<double> normal, tangent;  ///< w, w_T
  double offset = 0;                    ///< d ≥ 0: the gap at q = 0
  double friction = 0;                  ///< 0: none
  double restitution = 0;
};

struct RandomJoint {
  std::vector<double> slip;
  double normal = 1;  ///< N
  double coefficient = 0.3;
};

/// How a system is written down.
struct Writing {
  std::vector<int> coordinates{};         ///< new order; empty: as it is
  std::vector<int> contacts{};            ///< new order; empty: as it is
  double length = 1, mass = 1, time = 1;  ///< one metre is `length` of the new units, and so on
  bool columns = true;                    ///< output columns with reactions
};

struct RandomSystem {
  int n = 0;
  std::vector<double> mass, damping, stiffness;  ///< n × n
  std::vector<double> load, amplitude, phase;    ///< n
  double frequency = 0;
  std::vector<double> start, velocity;
  std::vector<RandomContact> contacts;
  std::vector<RandomJoint> joints;
  double until = 4;

  [[nodiscard]] bool supplied() const {
    for (const double a : amplitude) {
      if (a != 0) return true;
    }
    return false;
  }
  [[nodiscard]] model::Spec spec(const Writing& writing = {}) const;
};

namespace detail {

inline std::string linear(const std::vector<double>& row, const std::vector<std::string>& names,
                          const char* prime, double offset = 0) {
  std::string out = to_text(offset);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] != 0) out += " + (" + to_text(row[i]) + ")*" + names[i] + prime;
  }
  return out;
}

}  // namespace detail

inline model::Spec RandomSystem::spec(const Writing& writing) const {
  std::vector<int> order = writing.coordinates;
  if (order.empty()) {
    order.resize(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
  }
  std::vector<int> listed = writing.contacts;
  if (listed.empty()) {
    listed.resize(contacts.size());
    std::iota(listed.begin(), listed.end(), 0);
  }
  const double speed = writing.length / writing.time;
  const double force = writing.mass * writing.length / (writing.time * writing.time);
  std::vector<std::string> names;
  for (int i = 0; i < n; ++i) names.push_back("q" + std::to_string(i));
  model::Spec spec;
  const auto matrix = [&](const std::vector<double>& values, double unit) {
    model::Matrix out;
    out.given = true;
    for (const int i : order) {
      std::vector<model::Value> row;
      for (const int j : order) row.emplace_back(values[static_cast<std::size_t>(i * n + j)] * unit);
      out.rows.push_back(row);
    }
    return out;
  };
  for (const int i : order) {
    const auto k = static_cast<std::size_t>(i);
    model::Coordinate coordinate;
    coordinate.name = names[k];
    coordinate.start = start[k] * writing.length;
    coordinate.velocity = velocity[k] * speed;
    spec.coordinates.push_back(coordinate);
    model::Force f;
    f.name = "load" + std::to_string(i);
    f.along = names[k] + "'";
    std::string value = to_text(load[k] * force);
    if (amplitude[k] != 0) {
      value += " + (" + to_text(amplitude[k] * force) + ")*cos((" + to_text(frequency / writing.time) +
               ")*t + " + to_text(phase[k]) + ")";
    }
    f.value = value;
    // A constant load has a potential, so that the energy shows what friction and impacts take.
    if (amplitude[k] != 0) {
      spec.forces.push_back(f);
    } else {
      const std::string term = "-(" + value + ")*" + names[k];
      spec.energy.potential =
          spec.energy.potential.given ? spec.energy.potential.text.text + " " + term : term;
    }
  }
  spec.matrices.mass = matrix(mass, writing.mass);
  spec.matrices.damping = matrix(damping, writing.mass / writing.time);
  spec.matrices.stiffness = matrix(stiffness, writing.mass / (writing.time * writing.time));
  for (const int i : listed) {
    const RandomContact& c = contacts[static_cast<std::size_t>(i)];
    model::Contact out;
    out.name = "c" + std::to_string(i);
    out.gap = detail::linear(c.normal, names, "", c.offset * writing.length);
    if (c.friction > 0) {
      out.slip = {detail::linear(c.tangent, names, "'")};
      out.friction.given = true;
      out.friction.mu = c.friction;
    }
    out.impact.restitution = c.restitution;
    spec.contacts.push_back(out);
  }
  for (std::size_t i = 0; i < joints.size(); ++i) {
    model::Joint out;
    out.name = "j" + std::to_string(i);
    out.slip = {detail::linear(joints[i].slip, names, "'")};
    out.normal = joints[i].normal * force;
    out.law.given = true;
    out.law.mu = joints[i].coefficient;
    spec.joints.push_back(out);
  }
  spec.run.until = until * writing.time;
  if (writing.columns) {
    const auto column = [&](const std::string& name, const std::string& value) {
      spec.output.columns.push_back({name, value});
    };
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      const std::string c = "c" + std::to_string(i);
      column("gap " + c, "gap(" + c + ")");
      column("N " + c, "normal(" + c + ")");
      column("mode " + c, "mode(" + c + ")");
      if (contacts[i].friction > 0) {
        column("T " + c, "tangent(" + c + ")");
        column("slip " + c, "slip(" + c + ")");
      }
    }
    for (std::size_t i = 0; i < joints.size(); ++i) {
      const std::string j = "j" + std::to_string(i);
      column("T " + j, "tangent(" + j + ")");
      column("slip " + j, "slip(" + j + ")");
      column("mode " + j, "mode(" + j + ")");
    }
    column("E", "energy()");
    column("balance", "balance()");
  }
  return spec;
}

/// 2 to 6 coordinates, 1 to 4 contacts and joints. Contacts with friction have restitution 0, so that no impact can create energy.
inline RandomSystem random_system(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const auto whole = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  RandomSystem s;
  s.n = whole(2, 6);
  const auto n = static_cast<std::size_t>(s.n);
  const auto positive = [&](double diagonal, double coupling) {
    std::vector<double> out(n * n, 0.0);
    std::vector<double> b(n * n);
    for (double& x : b) x = coupling * uniform(-1, 1);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < n; ++k) out[i * n + j] += b[i * n + k] * b[j * n + k];
      }
      out[i * n + i] += diagonal * uniform(0.5, 1.5);
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) out[i * n + j] = out[j * n + i];
    }
    return out;
  };
  s.mass = positive(1, 0.3);
  s.stiffness = positive(uniform(1, 20), 0.5);
  s.damping = positive(0.05, uniform(0, 0.3));
  s.frequency = uniform(0.5, 4);
  const bool driven = whole(0, 1) == 1;
  for (std::size_t i = 0; i < n; ++i) {
    s.load.push_back(uniform(-1, 1));
    s.amplitude.push_back(driven ? uniform(-2, 2) : 0);
    s.phase.push_back(uniform(0, 6));
    s.start.push_back(0);
    s.velocity.push_back(uniform(-1, 1));
  }
  const auto row = [&] {
    std::vector<double> out(n, 0.0);
    const int entries = whole(1, std::min(s.n, 3));
    for (int e = 0; e < entries; ++e)
      out[static_cast<std::size_t>(whole(0, s.n - 1))] = uniform(0.3, 1) * (whole(0, 1) == 1 ? 1 : -1);
    if (entries == 1) {
      for (double& x : out) x = x > 0 ? 1 : x < 0 ? -1 : 0;
    }
    return out;
  };
  const int elements = whole(1, 4);
  for (int e = 0; e < elements; ++e) {
    if (whole(0, 2) == 0) {
      s.joints.push_back({row(), uniform(0.2, 2), uniform(0.1, 0.8)});
      continue;
    }
    RandomContact c;
    c.normal = row();
    c.tangent = row();
    c.offset = uniform(0.05, 0.4);
    c.friction = whole(0, 1) == 1 ? uniform(0.05, 0.4) : 0;
    c.restitution = c.friction > 0 ? 0 : uniform(0, 0.9);
    s.contacts.push_back(c);
  }
  return s;
}

}  // namespace judder
