// The standard headers that most sources use, parsed once when JUDDER_PRECOMPILED_HEADERS is on. A source includes what it uses
// all the same: the release build has no such header and fails when a source does not. Nothing here may bring <iomanip>: by the
// types of its arguments std::quoted would be preferred to functions of ours.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
