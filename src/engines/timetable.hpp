// Instants that are known before they come: zeros of switches of time alone, knots of tables in t, sample times given by the caller.
//
// The surface of such a switch may contain sides of others (mod(t, 1) < 0.5): between two instants of those it is one smooth piece, and its
// zeros are sought piece by piece.
#pragma once

#include <vector>

#include "enclosure.hpp"
#include "engines/numeric/time_roots.hpp"
#include "judder/core/patience.hpp"
#include "judder/model/system.hpp"

namespace judder::engines {

class Timetable {
 public:
  Timetable(const model::System& system, model::Workspace& work);
  /// Searches look here; null: they are never left.
  void use(Patience* patience) { patience_ = patience; }

  /// How many switches of time there are, with those that watches alone read.
  [[nodiscard]] static std::size_t count(const model::System& system);

  /// Forgets the instants found ahead: a run begins.
  void restart();
  /// The instants found ahead, and the same taken up again: a search from another time may end on another last bit.
  [[nodiscard]] std::vector<double> save() const;
  void load(const std::vector<double>& memory);
  /// Sides of all switches of time alone, valid just after `t`.
  void sides_after(double t, std::vector<double>& side);
  /// The first instant in (t, until] at which a switch of time changes its side or a knot is met; `until` if there is none.
  [[nodiscard]] double next(double t, double until);
  /// Switches whose side changes at `t`: sets it, returns their numbers (in `changed`).
  void pass(double t, std::vector<double>& side, std::vector<int>& changed);
  /// Writes the sides of the switches of time that watches alone read, valid just after `t`, to the array of inputs. True: one has changed.
  bool observe(double t, double* in);

 private:
  [[nodiscard]] const model::SwitchInfo& switch_info(int k) const;
  [[nodiscard]] int place(int k) const;
  [[nodiscard]] double surface(int k, double t);
  [[nodiscard]] numeric::TimeEnclosure enclose(int k, double t0, double t1);
  void take_sides(double t);
  [[nodiscard]] int sign_after(int k, double t, double offset);
  [[nodiscard]] int after(int k, double t, double level);
  [[nodiscard]] double side_after(int k, double t);
  [[nodiscard]] double next_of(int k, double t, double until);

  const model::System& system_;
  model::Workspace& work_;
  std::vector<int> switches_;        ///< of time alone
  std::vector<double> next_;         ///< cached next instant by position in switches_
  std::vector<double> known_until_;  ///< how far the search for it went
  std::vector<double> in_;           ///< with the sides of the present piece
  bool sides_known_ = false;
  bool observes_ = false;  ///< some of them are System::observed
  Enclosure enclosure_;
  Patience* patience_ = nullptr;
};

}  // namespace judder::engines
