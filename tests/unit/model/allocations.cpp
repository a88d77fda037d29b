#include <cstdlib>
#include <new>

#include "allocations.hpp"

namespace judder {
long allocations = 0;
}  // namespace judder

void* operator new(std::size_t size) {
  ++judder::allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
