// The side of a switch whose surface contains others that are at zero, on one side of these.
//
// Next to a surface at zero a field is the limit from that side, and so is everything that it is made of. Where the argument of an outer switch is not
// zero there, its value tells. Where it is zero because the inner surface is (mod(mod(x, a), b) where x passes a multiple of a) it has the sign that
// it has beyond the surface, whatever rounding leaves of it; where nothing but sides stands in it (sign(step(x)) for x < 0) it stays, with the side that
// the language gives at equality. The motion is not asked: it may point back to the surface.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "enclosure.hpp"
#include "judder/model/system.hpp"

namespace judder::engines {

class NestedSides {
 public:
  NestedSides(const model::System& system, model::Workspace& work);

  enum class Place : std::uint8_t {
    apart,     ///< not at zero: the side of its value
    along,     ///< zero together with one of the surfaces: the side that it has beside that one
    constant,  ///< zero for every state with these sides: the side at equality
    unknown    ///< zero here, and nothing tells
  };
  struct Verdict {
    Place place = Place::apart;
    double side = 0;
  };
  /// Of switch k, beside `surfaces`, which are at zero and whose sides in work.in are whole. `rounding` is that of its argument.
  [[nodiscard]] Verdict judge(int k, std::span<const int> surfaces, double rounding);
  /// The same with the rounding of the state's last bits.
  [[nodiscard]] Verdict judge(int k, std::span<const int> surfaces);
  /// Whether a surface is the same number for every state and time, with the sides as they are: sign(floor(x)) between two whole numbers.
  [[nodiscard]] bool never_moves(int k, double rounding);

 private:
  [[nodiscard]] bool leaves_zero(int k, int inner);

  const model::System& system_;
  model::Workspace& work_;
  Enclosure enclosure_;
  std::vector<double> own_, other_;  ///< a surface and its derivatives
  std::vector<double> beside_;       ///< inputs a little away from a surface
};

/// s minus the level of the switch nearest to it, and the side below that level.
[[nodiscard]] double distance_from_level(const model::SwitchInfo& info, double s, double& lower);
/// c, where the n numbers of `slope` are c times those of `w`, but for rounding; otherwise 0.
[[nodiscard]] double parallel_to(const double* slope, const double* w, int n);
[[nodiscard]] double parallel_to(const double* slope, const model::Row& w, int n);

}  // namespace judder::engines
