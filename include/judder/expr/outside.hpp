// Functions from outside: what the caller computes, called by name in the formulas of a model.
//
// Such a function f(u₁ … u_n) gives its value and, if it can, all its partial derivatives up to some order. Further ones are central differences of
// the highest that it gives,
//
//     first    (8 (f₊₁ − f₋₁) − (f₊₂ − f₋₂)) / 12 h                                      h = size / 2^10
//     second   (270 (f₊₁ + f₋₁) − 27 (f₊₂ + f₋₂) + 2 (f₊₃ + f₋₃) − 490 f₀) / 180 h²      h = size / 2^7
//     mixed    the difference of the second along both diagonals, over 4 h_i h_j
//
// for at most two orders. `size` says over what change of an argument the function changes noticeably (1 unless something else is said); steps are at
// least 2^-17 of the argument, and powers of two. A smooth function then has relative errors of about 1e-12 and 1e-10; a difference that is below the
// rounding of its terms is zero. What lies further is not a number: it is not known, and nothing is decided by it.
//
// The contract of a function: the same arguments give the same numbers, it has no corners and jumps (these belong into the formula around it, where
// they are switches and found as events), and several threads may call it at once. What it throws does not leave evaluate(): the numbers are NaN then,
// and an OutsideWatch of the thread hears of it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace judder::expr {

class OutsideWatch;

inline constexpr int kMostArguments = 8;
/// Derivatives that a function may give, its value counted: four orders of eight arguments, eight orders of four.
inline constexpr std::size_t kMostPartials = 495;
inline constexpr int kByDifferences = 2;  ///< orders

/// How often each argument is differentiated by.
using Orders = std::array<std::uint8_t, kMostArguments>;
[[nodiscard]] int total(const Orders& orders);
/// Number of partial derivatives up to an order, the value counted.
[[nodiscard]] std::size_t partial_count(int arguments, int order);
/// Where a derivative stands among them: by order, then f₁₁ f₁₂ … f₁ₙ f₂₂ ….
[[nodiscard]] std::size_t partial_place(const Orders& orders, int arguments);

class Outside {
 public:
  Outside() = default;
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;
  virtual ~Outside() = default;

  /// Value and derivatives at u up to `order`, partial_count() numbers. NaN where that failed, and from then on as long as the watch of this thread lasts:
  /// a run in which a call has failed comes to its end.
  void evaluate(std::span<const double> u, int order, std::span<double> out) const;

 private:
  /// The work itself; may throw.
  virtual void compute(std::span<const double> u, int order, std::span<double> out) const = 0;
  /// What went wrong in the latest watch of a thread.
  struct Record {
    bool failed = false;
    std::string words;  ///< "(0.3, -1) has failed: …" or "(0.3, -1) is nan"
    Record* before = nullptr;
  };
  friend class OutsideWatch;
  [[nodiscard]] bool given_up() const;
  void note(std::span<const double> u, bool failed, const std::string& words) const;

  mutable std::atomic<int> failures_{0};  ///< records that say so
  mutable std::mutex mutex_;
  mutable std::map<std::thread::id, Record*> records_;
};

/// A function with all that a formula has to know of it. `call` must live as long as what is compiled with it.
struct OutsideFunction {
  std::string name;
  int arguments = 1;            ///< 1 to kMostArguments
  int order = 0;                ///< of the derivatives that it gives
  std::vector<double> sizes{};  ///< by argument; empty: 1
  const Outside* call = nullptr;
};
/// Why it cannot be one ("it has 9 arguments; …"), or an empty string. The name is not looked at.
[[nodiscard]] std::string outside_problem(const OutsideFunction& function);

/// Hears what goes wrong in the calls of this thread while it lives. Watches of one thread end in the order opposite to that in which they began.
class OutsideWatch {
 public:
  explicit OutsideWatch(std::span<const OutsideFunction> functions);
  ~OutsideWatch();
  OutsideWatch(const OutsideWatch&) = delete;
  OutsideWatch& operator=(const OutsideWatch&) = delete;

  /// The function that has thrown, −1: none has.
  [[nodiscard]] int failed() const;
  /// The function that gave what is no number, last; −1: none did.
  [[nodiscard]] int not_a_number() const;
  /// "ground(0.3, -1) has failed: …".
  [[nodiscard]] std::string words(int function) const;

 private:
  std::span<const OutsideFunction> functions_;
  std::vector<Outside::Record> records_;
};

// --- for programs ---

/// Derivatives of one function at the same arguments.
struct OutsideCall {
  const Outside* call = nullptr;
  int arguments = 0;
  int order = 0;  ///< that the function gives
  std::array<double, kMostArguments> size{};
  std::vector<Orders> wanted;
};
/// All that is wanted at u. `noise` (may be null): what rounding leaves in each of them, beside that of the function itself.
void evaluate(const OutsideCall& call, const double* u, double* out, double* noise);

}  // namespace judder::expr
