// A model file as a draft: what a hunt has kept can be judged by value, nudged and made smaller like what it draws. Its numbers have no
// dimensions, so it is not written in other units.
#pragma once

#include "draft.hpp"
#include "judder/model/spec.hpp"

namespace judder::hunt {

/// Parts that a draft has no words for (`each`, sums, matrices, `and`) leave it `repeated`: run, but not evaluated.
[[nodiscard]] Draft from_spec(const model::Spec& spec, const std::string& variant);

}  // namespace judder::hunt
