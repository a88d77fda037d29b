#include "allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<long> counter{0};
}

namespace judder {
long allocations() { return counter.load(); }
}  // namespace judder

// Every form that the standard library uses, so that memory is always given back the way it was taken.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++counter;
  return std::malloc(size == 0 ? 1 : size);
}
void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
