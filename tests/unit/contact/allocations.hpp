// Counts calls of operator new in this program.
#pragma once

namespace judder::test {
[[nodiscard]] long allocations();
}
