// The columns of events.csv.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace judder::io {

inline constexpr std::size_t kEventNumbers = 9;  ///< columns before the further slip components
inline constexpr std::array<std::string_view, kEventNumbers + 2> kEventHeader = {"time",
                                                                                 "kind",
                                                                                 "where",
                                                                                 "detail",
                                                                                 "normal_impulse",
                                                                                 "tangential_impulse",
                                                                                 "energy_before",
                                                                                 "energy_after",
                                                                                 "mode",
                                                                                 "tangential_impulse_2",
                                                                                 "tangential_impulse_3"};

}  // namespace judder::io
