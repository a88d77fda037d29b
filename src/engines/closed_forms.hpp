// Closed forms of the modes that the runs of a system have met, kept for later ones.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "closed_form.hpp"

namespace judder::engines {

/// Closed forms of the modes met so far, by mode; the one not used for longest gives way when there are too many, or when they take too much memory.
class ClosedForms {
 public:
  /// The closed form of the mode that `motion` and `guards` are set to; `problem` says why there is none (then nullptr).
  ClosedForm* of(const model::System& system, model::Workspace& work, ModeMotion& motion,
                 const Guards& guards, Patience* patience, std::string& problem);

 private:
  struct Kept {
    Mode mode;
    std::uint64_t key = 0;
    std::vector<double> corners;  ///< ModeMotion::corner_sides()
    std::uint64_t used = 0;
    std::unique_ptr<ClosedForm> form;
  };
  void make_room(std::size_t bytes);
  [[nodiscard]] static bool same(const Mode& a, const Mode& b);

  static constexpr std::size_t kMost = 256;
  static constexpr std::size_t kMostBytes = 2 * ClosedForm::kMostBytes;  ///< two of the largest
  std::vector<Kept> kept_;
  std::uint64_t clock_ = 0;
};

}  // namespace judder::engines
