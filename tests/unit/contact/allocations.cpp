#include "allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<long> counter{0};
}

namespace judder::test {
long allocations() { return counter.load(); }
}  // namespace judder::test

void* operator new(std::size_t size) {
  ++counter;
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
