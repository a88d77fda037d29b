// Counts calls of operator new in this test program, so that a test can ask that a step allocates nothing.
#pragma once

namespace judder {

[[nodiscard]] long allocations();

}  // namespace judder
