// Counts calls of operator new in a test program, so that a test can ask that a step allocates nothing. The program has allocations.cpp among its sources.
#pragma once

namespace judder {

[[nodiscard]] long allocations();

}  // namespace judder
