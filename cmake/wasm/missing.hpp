// What the standard library of Debian's emscripten (3.1.6) lacks of C++20. Included before every source by cmake/JudderWasm.cmake.
#pragma once

#include <bit>
#include <type_traits>

#ifndef __cpp_lib_bit_cast
namespace std {
/// The same bits as another type.
template <class To, class From>
[[nodiscard]] constexpr To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From) && is_trivially_copyable_v<To> && is_trivially_copyable_v<From>);
  return __builtin_bit_cast(To, from);
}
}  // namespace std
#endif
