// Tails of accumulations that are being replaced.
//
// Where hops have become so small that closed contacts move everything as they would, the contacts are closed at once; the rest of the hops would last until
// `end`, and is listed there as one event with its number of impacts so far, the time that remained and its impulse. Until then a contact of the same block that
// strikes may open them again: it cuts the tail. When a pattern has become such a tail is for others to say (accumulation.hpp); here it is kept.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace judder::engines {

struct Tail {
  double end = 0;  ///< time; NaN: none
  double count = 0;
  double remaining = 0;
  double impulse = 0;                  ///< normal
  std::array<double, 3> tangential{};  ///< by slip component
};

class Tails {
 public:
  explicit Tails(int relations);

  void clear();
  [[nodiscard]] bool any() const { return first_ == first_; }
  /// The first end of a tail; NaN: there is none.
  [[nodiscard]] double first_end() const { return first_; }
  [[nodiscard]] bool runs(int relation) const { return tails_[relation].end == tails_[relation].end; }

  void begin(int relation, double end, double count, double remaining);
  /// The impact that closes the contact. What stops it on its way out is below the tolerance, and no impulse of a contact.
  void add_impulse(int relation, double normal, std::span<const double> tangential);
  /// The tail ends at t already.
  void cut(int relation, double t);
  /// The tail of this contact if it is over at t; then it has none any more.
  [[nodiscard]] std::optional<Tail> take(int relation, double t);

  /// phase_lists::kTail numbers by relation, nothing where there is no tail: for a run that goes on.
  void save(std::vector<double>& out) const;
  void load(std::span<const double> saved);

 private:
  void find_first();

  std::vector<Tail> tails_;  ///< by relation
  double first_ = 0;
};

}  // namespace judder::engines
