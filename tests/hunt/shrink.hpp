// A model that shows a finding, made smaller while it still shows the same kind of finding: elements, keys, terms and numbers are dropped or
// replaced one at a time until nothing more can go.
#pragma once

#include <functional>

#include "draft.hpp"

namespace judder::hunt {

/// `same` says whether a draft still shows it; it is called at most `tries` times.
[[nodiscard]] Draft shrunk(Draft draft, double time, const std::function<bool(const Draft&)>& same,
                           int tries);

}  // namespace judder::hunt
