#pragma once

namespace judder::io {

/// "0.1.0"
[[nodiscard]] const char* version();

}  // namespace judder::io
