#pragma once

namespace judder {
extern long allocations;  ///< calls of operator new so far
}  // namespace judder
