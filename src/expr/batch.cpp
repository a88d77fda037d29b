// Several evaluations at once, one per lane of a vector.
//
// A lane has the bits of the plain evaluator, whatever the number of lanes and the processor: every lane goes through the same
// operations, the functions are those of kernels.hpp, and the wide instructions are used without fused multiplication.
#include <array>
#include <span>

#include "core/elementary.hpp"
#include "expr/functions.hpp"
#include "expr/graph_data.hpp"
#include "expr/run.hpp"

namespace judder::expr {

namespace {

#define JUDDER_LANES [[gnu::always_inline]] static inline
#define JUDDER_INLINE __attribute__((always_inline))

// `Stored` is unaligned and allowed to alias, so that a caller's plain array is read in place.
template <int Width>
struct Vector;
template <>
struct Vector<4> {
  typedef double Real __attribute__((vector_size(32)));
  typedef long long Whole __attribute__((vector_size(32)));
  typedef double Stored __attribute__((vector_size(32), aligned(8), may_alias));
};
template <>
struct Vector<8> {
  typedef double Real __attribute__((vector_size(64)));
  typedef long long Whole __attribute__((vector_size(64)));
  typedef double Stored __attribute__((vector_size(64), aligned(8), may_alias));
};

/// The way out of a kernel's range, and of all functions that have no kernel.
[[gnu::noinline]] void apply_to_lanes(Function f, double* x, int lanes) {
  for (int i = 0; i < lanes; ++i) x[i] = apply(f, x[i]);
}

/// Lane by lane: `block` is the first register of the call.
[[gnu::noinline]] void call_in_lanes(const OutsideCall& call, double* block, std::size_t lanes) {
  std::array<double, kMostArguments> u{};
  std::array<double, kMostPartials> out;  // NOLINT: all that are read are written first
  const auto arguments = static_cast<std::size_t>(call.arguments);
  for (std::size_t i = 0; i < lanes; ++i) {
    for (std::size_t k = 0; k < arguments; ++k) u[k] = block[k * lanes + i];
    evaluate(call, u.data(), out.data(), nullptr);
    for (std::size_t k = 0; k < call.wanted.size(); ++k) block[(arguments + k) * lanes + i] = out[k];
  }
}

/// As many lanes as the machine has in one register: wider vectors would be taken apart lane by lane.
template <int Width>
struct Block {
  using V = typename Vector<Width>::Real;
  using W = typename Vector<Width>::Whole;

  /// c in all lanes. As a difference: a list of equal numbers is put together one by one.
  JUDDER_LANES V all(double c) { return c - V{}; }
  /// Whether all lanes of a mask are true, by halves.
  JUDDER_LANES bool every(W mask) {
    if constexpr (Width == 8) {
      return Block<4>::every(__builtin_shufflevector(mask, mask, 0, 1, 2, 3) &
                             __builtin_shufflevector(mask, mask, 4, 5, 6, 7));
    } else {
      const auto pair = __builtin_shufflevector(mask, mask, 0, 1) & __builtin_shufflevector(mask, mask, 2, 3);
      return (pair[0] & pair[1]) != 0;
    }
  }
  JUDDER_LANES V absolute(V a) { return (V)((W)a & 0x7fffffffffffffffLL); }
  JUDDER_LANES V root(V a) {
    for (int i = 0; i < Width; ++i) a[i] = std::sqrt(a[i]);
    return a;
  }
  JUDDER_LANES V select(V c, V a, V b) { return c == 1.0 ? a : c == 0.0 ? b : c * a + (1.0 - c) * b; }
  JUDDER_LANES V side(V s, double at_zero) {
    return s > 0.0 ? all(1.0) : s < 0.0 ? all(0.0) : s == 0.0 ? all(at_zero) : s;
  }
  JUDDER_LANES V sign(V s) { return s > 0.0 ? all(1.0) : s < 0.0 ? all(-1.0) : s; }
};

template <int Lanes, int Width>
struct BatchAlgebra {
  static constexpr int kParts = Lanes / Width;
  using Lane = Block<Width>;
  using V = typename Lane::V;
  using W = typename Lane::W;
  using Stored = typename Vector<Width>::Stored;
  /// A result that is written where it belongs: what goes lane by lane has no vector to return.
  template <class F>
  struct Late {
    F write;
  };
  // Copied part by part: the copy of a plain struct goes in pieces that the next wide load has to wait for.
  struct Value {
    Stored part[kParts];
    Value() = default;
    [[gnu::always_inline]] Value(const Value& other) { *this = other; }
    [[gnu::always_inline]] Value& operator=(const Value& other) {
      for (int k = 0; k < kParts; ++k) part[k] = other.part[k];
      return *this;
    }
    template <class F>
    [[gnu::always_inline]] Value& operator=(const Late<F>& late) {
      late.write(*this);
      return *this;
    }
    [[gnu::always_inline]] double* lanes() { return reinterpret_cast<double*>(part); }
    [[gnu::always_inline]] const double* lanes() const { return reinterpret_cast<const double*>(part); }
  };

  template <class F>
  JUDDER_LANES Value each(const Value& a, const F& f) {
    Value r;
    for (int k = 0; k < kParts; ++k) r.part[k] = f(a.part[k]);
    return r;
  }
  template <class F>
  JUDDER_LANES Value each(const Value& a, const Value& b, const F& f) {
    Value r;
    for (int k = 0; k < kParts; ++k) r.part[k] = f(a.part[k], b.part[k]);
    return r;
  }
  template <class F>
  JUDDER_LANES auto each_lane(const Value& a, const F& f) {
    const auto write = [&a, f](Value& to) JUDDER_INLINE {
      for (int i = 0; i < Lanes; ++i) to.lanes()[i] = f(a.lanes()[i]);
    };
    return Late<decltype(write)>{write};
  }
  template <class F>
  JUDDER_LANES auto each_lane(const Value& a, const Value& b, const F& f) {
    const auto write = [&a, &b, f](Value& to) JUDDER_INLINE {
      for (int i = 0; i < Lanes; ++i) to.lanes()[i] = f(a.lanes()[i], b.lanes()[i]);
    };
    return Late<decltype(write)>{write};
  }
  JUDDER_LANES void set(Value& to, double c) {
    for (int k = 0; k < kParts; ++k) to.part[k] = Lane::all(c);
  }
  JUDDER_LANES Value add(const Value& a, const Value& b) {
    return each(a, b, [](V x, V y) JUDDER_INLINE { return x + y; });
  }
  JUDDER_LANES Value subtract(const Value& a, const Value& b) {
    return each(a, b, [](V x, V y) JUDDER_INLINE { return x - y; });
  }
  JUDDER_LANES Value multiply(const Value& a, const Value& b) {
    return each(a, b, [](V x, V y) JUDDER_INLINE { return x * y; });
  }
  JUDDER_LANES Value divide(const Value& a, const Value& b) {
    return each(a, b, [](V x, V y) JUDDER_INLINE { return x / y; });
  }
  JUDDER_LANES Value scale(double c, const Value& a) {
    return each(a, [c](V x) JUDDER_INLINE { return c * x; });
  }
  JUDDER_LANES Value shift(double c, const Value& a) {
    return each(a, [c](V x) JUDDER_INLINE { return x + c; });
  }
  JUDDER_LANES Value negate(const Value& a) {
    return each(a, [](V x) JUDDER_INLINE { return -x; });
  }
  JUDDER_LANES Value reciprocal(const Value& a) {
    return each(a, [](V x) JUDDER_INLINE { return 1.0 / x; });
  }
  JUDDER_LANES Value square(const Value& a) {
    return each(a, [](V x) JUDDER_INLINE { return x * x; });
  }
  JUDDER_LANES Value cube(const Value& a) {
    return each(a, [](V x) JUDDER_INLINE { return x * x * x; });
  }
  JUDDER_LANES Value power_whole(const Value& a, std::uint32_t n) {
    return each(a, [n](V x) JUDDER_INLINE {
      return power_by_squaring(x, n, [](V p, V q) JUDDER_INLINE { return p * q; });
    });
  }
  JUDDER_LANES auto power(const Value& a, const Value& b) {
    return each_lane(a, b, [](double x, double y) { return elementary::pow(x, y); });
  }
  JUDDER_LANES auto atan2(const Value& a, const Value& b) {
    return each_lane(a, b, [](double y, double x) { return elementary::atan2(y, x); });
  }
  JUDDER_LANES auto hypot(const Value& a, const Value& b) {
    const auto write = [&](Value& to) JUDDER_INLINE {
      for (int k = 0; k < kParts; ++k) {
        const V x = a.part[k], y = b.part[k];
        const V sum = x * x + y * y;
        if (Lane::every(kernel::squares_range<V, W>(sum))) {
          to.part[k] = Lane::root(sum);
        } else {
          for (int i = k * Width; i < (k + 1) * Width; ++i)
            to.lanes()[i] = hypotenuse(a.lanes()[i], b.lanes()[i]);
        }
      }
    };
    return Late<decltype(write)>{write};
  }
  JUDDER_LANES Value absolute(const Value& a) {
    return each(a, [](V x) JUDDER_INLINE { return Lane::absolute(x); });
  }
  JUDDER_LANES auto clip(const Value& a) {
    return each_lane(a, [](double x) { return x < 0 ? 0 : x; });
  }
  JUDDER_LANES Value select(const Value& c, const Value& a, const Value& b) {
    Value r;
    for (int k = 0; k < kParts; ++k) r.part[k] = Lane::select(c.part[k], a.part[k], b.part[k]);
    return r;
  }
  JUDDER_LANES Value side_to_sign(const Value& a) {
    return each(a, [](V s) JUDDER_INLINE { return 2.0 * s - 1.0; });
  }
  JUDDER_LANES auto own_side(const Value& a, double at_zero) {
    return each_lane(a, [at_zero](double s) { return expr::own_side(s, at_zero); });
  }
  JUDDER_LANES Value side(const Value& a, double at_zero) {
    return each(a, [at_zero](V s) JUDDER_INLINE { return Lane::side(s, at_zero); });
  }
  JUDDER_LANES Value sign(const Value& a) {
    return each(a, [](V s) JUDDER_INLINE { return Lane::sign(s); });
  }
  JUDDER_LANES auto floor(const Value& a) {
    return each_lane(a, [](double x) { return std::floor(x); });
  }
  JUDDER_LANES auto level(std::span<const double> levels, const Value& a) {
    return each_lane(a, [levels](double x) { return level_of(levels, x); });
  }
  JUDDER_LANES auto lookup(std::span<const double> list, const Value& a) {
    return each_lane(a, [list](double x) { return lookup_value(list, x); });
  }
  JUDDER_LANES auto turn(const Value& a, const Value& b) {
    return each_lane(a, b, [](double s, double angle) { return turn_value(s, angle); });
  }
  JUDDER_LANES auto flat(const Value& a, std::uint32_t order) {
    return each_lane(a, [order](double u) { return flat_value(u, order); });
  }
  JUDDER_LANES Value outside(const OutsideCall& call, Value* block) {
    call_in_lanes(call, block->lanes(), Lanes);
    return *block;
  }
  JUDDER_LANES auto function(Function f, const Value& a) {
    const auto write = [f, &a](Value& to) JUDDER_INLINE {
      for (int k = 0; k < kParts; ++k) {
        const V x = a.part[k];
        if (f == Function::sin && Lane::every(kernel::trigonometric_range<V, W>(x))) {
          to.part[k] = kernel::sine<V, W>(x, 0);
        } else if (f == Function::cos && Lane::every(kernel::trigonometric_range<V, W>(x))) {
          to.part[k] = kernel::sine<V, W>(x, 1);
        } else if (f == Function::exp && Lane::every(kernel::exponential_range<V, W>(x))) {
          to.part[k] = kernel::exponential<V, W>(x);
        } else if (f == Function::log && Lane::every(kernel::logarithm_range<V, W>(x))) {
          to.part[k] = kernel::logarithm<V, W>(x);
        } else if (f == Function::sqrt) {
          to.part[k] = Lane::root(x);
        } else {
          to.part[k] = x;
          apply_to_lanes(f, to.lanes() + k * Width, Width);
        }
      }
    };
    return Late<decltype(write)>{write};
  }
};
#undef JUDDER_INLINE
#undef JUDDER_LANES

}  // namespace

// Vectors never cross the boundary of a compiled function: everything is inlined into the three below.
#define JUDDER_ROWS(lanes, width)                          \
  using Algebra = BatchAlgebra<lanes, width>;              \
  using Row = typename Algebra::Value;                     \
  constexpr Algebra algebra;                               \
  const auto* in = reinterpret_cast<const Row*>(in_lanes); \
  auto* out = reinterpret_cast<Row*>(out_lanes);           \
  auto* registers = reinterpret_cast<Row*>(register_lanes)

#if defined(__x86_64__)
template <int Lanes>
[[gnu::target("avx512f,avx512dq")]] void Program::evaluate_batch_widest(const double* in_lanes,
                                                                        double* out_lanes,
                                                                        double* register_lanes) const {
  JUDDER_ROWS(Lanes, Lanes);
#include "expr/loop.inc"
}

template <int Lanes>
[[gnu::target("avx2")]] void Program::evaluate_batch_wide(const double* in_lanes, double* out_lanes,
                                                          double* register_lanes) const {
  JUDDER_ROWS(Lanes, 4);
#include "expr/loop.inc"
}
#endif

template <int Lanes>
void Program::evaluate_batch_narrow(const double* in_lanes, double* out_lanes, double* register_lanes) const {
  JUDDER_ROWS(Lanes, 4);
#include "expr/loop.inc"
}
#undef JUDDER_ROWS

template <int Lanes>
void Program::evaluate_batch(const double* in, double* out, double* registers) const {
#if defined(__x86_64__)
  if (Lanes == 8 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
    return evaluate_batch_widest<Lanes>(in, out, registers);
  }
  if (__builtin_cpu_supports("avx2")) return evaluate_batch_wide<Lanes>(in, out, registers);
#endif
  evaluate_batch_narrow<Lanes>(in, out, registers);
}

template void Program::evaluate_batch<4>(const double*, double*, double*) const;
template void Program::evaluate_batch<8>(const double*, double*, double*) const;

}  // namespace judder::expr
