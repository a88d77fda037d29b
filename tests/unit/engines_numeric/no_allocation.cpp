#include "no_allocation.hpp"

#include <cstdlib>
#include <new>

namespace {
long allocation_count = 0;
}

namespace judder {
long allocations() { return allocation_count; }
}  // namespace judder

void* operator new(std::size_t size) {
  ++allocation_count;
  void* memory = std::malloc(size > 0 ? size : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
