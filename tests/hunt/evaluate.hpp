// Values of a draft's expressions, computed without anything of the library: every switch by the value of its argument, as the language
// defines it outside of a run.
#pragma once

#include <string>
#include <vector>

#include "draft.hpp"

namespace judder::hunt {

/// Names and their values.
struct Slots {
  std::vector<std::string> names;
  std::vector<double> values;
  int add(const std::string& word, double value) {
    names.push_back(word);
    values.push_back(value);
    return static_cast<int>(names.size()) - 1;
  }
  [[nodiscard]] int find(const std::string& word) const;
};

/// By switch, the largest argument seen and the least since the last reset, for judging what is near.
struct Surfaces {
  std::vector<double> largest, present;
  void begin() { present.assign(largest.size(), -1); }
  void see(int surface, double distance);
  /// Some argument seen since begin() is so close to its surface that its side means nothing.
  [[nodiscard]] bool near(double share, double distance) const;
};

/// With parameters, definitions and tables put in and names resolved to slots; numbers the switches from `surfaces` on. `known` becomes false
/// where something is met that is not evaluated here (text, cubic tables, bump, a prime).
[[nodiscard]] Expr prepared(const Draft& draft, const Expr& e, const Slots& slots, int& surfaces,
                            bool& known);

[[nodiscard]] double evaluate(const Expr& prepared, const double* values, Surfaces* surfaces = nullptr);

/// Prepared and evaluated at once; parts that are not known count as zero, cubic tables as linear ones.
[[nodiscard]] double evaluate_once(const Draft& draft, const Expr& e, const Slots& slots);

}  // namespace judder::hunt
