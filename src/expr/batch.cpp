// Several evaluations at once, one per lane of a vector.
//
// Results do not depend on the number of lanes or on the processor: every lane goes through the same operations, and the wide
// instructions are used without fused multiplication.
#include "expr/batch_math.hpp"
#include "expr/graph_data.hpp"
#include "expr/run.hpp"

namespace judder::expr {

namespace {

#define JUDDER_LANES [[gnu::always_inline]] static inline

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

/// As many lanes as the machine has in one register: wider vectors would be taken apart lane by lane.
template <int Width>
struct Block {
  using V = typename Vector<Width>::Real;
  using W = typename Vector<Width>::Whole;

  JUDDER_LANES V all(double c) {
    if constexpr (Width == 8) {
      return V{c, c, c, c, c, c, c, c};
    } else {
      return V{c, c, c, c};
    }
  }
  template <class F>
  JUDDER_LANES V each(V a, const F& f) {
    for (int i = 0; i < Width; ++i) a[i] = f(a[i]);
    return a;
  }
  template <class F>
  JUDDER_LANES V each(V a, V b, const F& f) {
    for (int i = 0; i < Width; ++i) a[i] = f(a[i], b[i]);
    return a;
  }
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
  /// Lanes outside the range of a kernel are computed by the library.
  template <class F>
  JUDDER_LANES V mend(V fast, V x, W good, const F& f) {
    if (!every(good)) {
      for (int i = 0; i < Width; ++i) {
        if (good[i] == 0) fast[i] = f(x[i]);
      }
    }
    return fast;
  }
  JUDDER_LANES V absolute(V a) { return a < 0.0 ? -a : a; }
  JUDDER_LANES V root(V a) {
    return each(a, [](double x) { return std::sqrt(x); });
  }
  JUDDER_LANES V hypot(V a, V b) {
    const V p = absolute(a), q = absolute(b);
    const V large = p > q ? p : q, small = p > q ? q : p;
    const V ratio = large == 0.0 ? all(0.0) : small / large;
    return large * root(1.0 + ratio * ratio);
  }
  JUDDER_LANES V select(V c, V a, V b) { return c == 1.0 ? a : c == 0.0 ? b : c * a + (1.0 - c) * b; }
  JUDDER_LANES V side(V s, double at_zero) {
    return s > 0.0 ? all(1.0) : s < 0.0 ? all(0.0) : s == 0.0 ? all(at_zero) : s;
  }
  JUDDER_LANES V sign(V s) { return s > 0.0 ? all(1.0) : s < 0.0 ? all(-1.0) : s; }
  JUDDER_LANES V function(Function f, V x) {
    switch (f) {
      case Function::sin:
        return mend(batch::sine<V, W>(x, 0), x, batch::trigonometric_range<V, W>(x),
                    [](double a) { return std::sin(a); });
      case Function::cos:
        return mend(batch::sine<V, W>(x, 1), x, batch::trigonometric_range<V, W>(x),
                    [](double a) { return std::cos(a); });
      case Function::exp:
        return mend(batch::exponential<V, W>(x), x, batch::exponential_range<V, W>(x),
                    [](double a) { return std::exp(a); });
      case Function::log:
        return mend(batch::logarithm<V, W>(x), x, batch::logarithm_range<V, W>(x),
                    [](double a) { return std::log(a); });
      case Function::sqrt:
        return root(x);
      default:
        return each(x, [f](double a) { return apply(f, a); });
    }
  }
};

template <int Lanes, int Width>
struct BatchAlgebra {
  static constexpr int kParts = Lanes / Width;
  using Lane = Block<Width>;
  using V = typename Lane::V;
  using Stored = typename Vector<Width>::Stored;
  // Copied part by part: the copy of a plain struct goes in pieces that the next wide load has to wait for.
  struct Value {
    Stored part[kParts];
    Value() = default;
    [[gnu::always_inline]] Value(const Value& other) { *this = other; }
    [[gnu::always_inline]] Value& operator=(const Value& other) {
      for (int k = 0; k < kParts; ++k) part[k] = other.part[k];
      return *this;
    }
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
#define JUDDER_INLINE __attribute__((always_inline))
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
      V result = Lane::all(1);
      for (std::uint32_t m = n; m != 0; m >>= 1) {
        if ((m & 1) != 0) result = result * x;
        x = x * x;
      }
      return result;
    });
  }
  JUDDER_LANES Value power(const Value& a, const Value& b) {
    return each(a, b, [](V x, V y) JUDDER_INLINE {
      return Lane::each(x, y, [](double p, double q) { return std::pow(p, q); });
    });
  }
  JUDDER_LANES Value atan2(const Value& a, const Value& b) {
    return each(a, b, [](V x, V y) JUDDER_INLINE {
      return Lane::each(x, y, [](double p, double q) { return std::atan2(p, q); });
    });
  }
  JUDDER_LANES Value hypot(const Value& a, const Value& b) {
    return each(a, b, [](V x, V y) JUDDER_INLINE { return Lane::hypot(x, y); });
  }
  JUDDER_LANES Value absolute(const Value& a) {
    return each(a, [](V x) JUDDER_INLINE { return Lane::absolute(x); });
  }
  JUDDER_LANES Value select(const Value& c, const Value& a, const Value& b) {
    Value r;
    for (int k = 0; k < kParts; ++k) r.part[k] = Lane::select(c.part[k], a.part[k], b.part[k]);
    return r;
  }
  JUDDER_LANES Value side_to_sign(const Value& a) {
    return each(a, [](V s) JUDDER_INLINE { return 2.0 * s - 1.0; });
  }
  JUDDER_LANES Value side(const Value& a, double at_zero) {
    return each(a, [at_zero](V s) JUDDER_INLINE { return Lane::side(s, at_zero); });
  }
  JUDDER_LANES Value sign(const Value& a) {
    return each(a, [](V s) JUDDER_INLINE { return Lane::sign(s); });
  }
  JUDDER_LANES Value floor(const Value& a) {
    return each(a, [](V x) JUDDER_INLINE { return Lane::each(x, [](double u) { return std::floor(u); }); });
  }
  JUDDER_LANES Value level(std::span<const double> levels, const Value& a) {
    return each(
        a, [&](V x) JUDDER_INLINE { return Lane::each(x, [&](double u) { return level_of(levels, u); }); });
  }
  JUDDER_LANES Value lookup(std::span<const double> list, const Value& a) {
    return each(
        a, [&](V x) JUDDER_INLINE { return Lane::each(x, [&](double u) { return lookup_value(list, u); }); });
  }
  JUDDER_LANES Value turn(const Value& a, const Value& b) {
    return each(a, b, [](V x, V y) JUDDER_INLINE {
      return Lane::each(x, y, [](double s, double angle) { return turn_value(s, angle); });
    });
  }
  JUDDER_LANES Value flat(const Value& a, std::uint32_t order) {
    return each(
        a, [&](V x) JUDDER_INLINE { return Lane::each(x, [&](double u) { return flat_value(u, order); }); });
  }
  JUDDER_LANES Value function(Function f, const Value& a) {
    return each(a, [f](V x) JUDDER_INLINE { return Lane::function(f, x); });
  }
};
#undef JUDDER_INLINE
#undef JUDDER_LANES

}  // namespace

// Vectors never cross the boundary of a compiled function: everything is inlined into the three below.
#if defined(__x86_64__)
template <int Lanes>
[[gnu::target("avx512f,avx512dq")]] void Program::evaluate_batch_widest(const double* in, double* out,
                                                                        double* registers) const {
  using Algebra = BatchAlgebra<Lanes, Lanes>;
  using Row = typename Algebra::Value;
  run(reinterpret_cast<const Row*>(in), reinterpret_cast<Row*>(out), reinterpret_cast<Row*>(registers),
      Algebra{});
}

template <int Lanes>
[[gnu::target("avx2")]] void Program::evaluate_batch_wide(const double* in, double* out,
                                                          double* registers) const {
  using Algebra = BatchAlgebra<Lanes, 4>;
  using Row = typename Algebra::Value;
  run(reinterpret_cast<const Row*>(in), reinterpret_cast<Row*>(out), reinterpret_cast<Row*>(registers),
      Algebra{});
}
#endif

template <int Lanes>
void Program::evaluate_batch(const double* in, double* out, double* registers) const {
#if defined(__x86_64__)
  if (Lanes == 8 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
    return evaluate_batch_widest<Lanes>(in, out, registers);
  }
  if (__builtin_cpu_supports("avx2")) return evaluate_batch_wide<Lanes>(in, out, registers);
#endif
  using Algebra = BatchAlgebra<Lanes, 4>;
  using Row = typename Algebra::Value;
  run(reinterpret_cast<const Row*>(in), reinterpret_cast<Row*>(out), reinterpret_cast<Row*>(registers),
      Algebra{});
}

template void Program::evaluate_batch<4>(const double*, double*, double*) const;
template void Program::evaluate_batch<8>(const double*, double*, double*) const;

}  // namespace judder::expr
