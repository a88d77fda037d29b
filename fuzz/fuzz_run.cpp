// Whole runs of random valid models by both engines, cut somewhere and resumed.
//
// The bytes choose the model (the generator of tests/hunt), the tolerance and where it is cut. Besides crashes and sanitizer reports it looks
// for broken promises: a drawn model that does not compile, an end without a reason, numbers that are not finite in a run that ended well,
// a cut that is not heard within seconds, a resumed run that ends elsewhere.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>

#include "hunt/draw.hpp"
#include "judder/io/reader.hpp"
#include "judder/model/compile.hpp"
#include "judder/simulate/simulate.hpp"

namespace {

void require(bool promise) {
  if (!promise) std::abort();
}

/// Counts rows and events; sets the flag after some.
class CutSink : public judder::engines::Sink {
 public:
  CutSink(std::atomic<bool>& flag, long rows) : flag_(flag), left_(rows) {}
  void row(judder::engines::RowKind, const judder::engines::Mode&, judder::model::Workspace& work) override {
    for (const double number : work.in) finite_ = finite_ && !std::isinf(number);
    count();
  }
  void event(const judder::engines::Event&, std::span<const double> /*state*/) override { count(); }
  [[nodiscard]] bool finite() const { return finite_; }

 private:
  void count() {
    if (--left_ == 0) flag_ = true;
    require(left_ > -kMostAfter);
  }
  static constexpr long kMostAfter = 100000;  ///< after the flag is set
  std::atomic<bool>& flag_;
  long left_;
  bool finite_ = true;
};

/// Sets the flag after two seconds, and expects that it is then heard: within ten, with sanitizers on a busy machine.
class Watch {
 public:
  explicit Watch(std::atomic<bool>& flag)
      : begin_(std::clock()), timer_([&flag](const std::stop_token& over) {
          for (int i = 0; i < 100 && !over.stop_requested(); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
          flag = true;
        }) {}
  ~Watch() {
    timer_.request_stop();
    require(static_cast<double>(std::clock() - begin_) < 12.0 * CLOCKS_PER_SEC);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  std::clock_t begin_;
  std::jthread timer_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint64_t seed = 0, index = 0;
  if (size < 10) return 0;
  std::memcpy(&seed, data, 4);
  std::memcpy(&index, data + 4, 4);
  const judder::io::ModelFile file =
      judder::io::read_model_text(judder::hunt::text(judder::hunt::draw(seed, index)));
  require(!file.diagnostics.has_errors());
  const judder::model::Compiled compiled = judder::model::compile(file.spec);
  if (!compiled.system) return 0;  // a start that is refused is no finding here
  judder::engines::EngineOptions options = judder::engines::options_of(compiled.run);
  options.tolerance = std::pow(10.0, -4 - data[8] % 8);
  options.samples = 50;
  options.max_events = 300;
  options.until = std::min(options.until, options.from + 3);
  for (const char* engine : {"event", "exact"}) {
    if (!judder::simulate::engine_problem(*compiled.system, engine).empty()) continue;
    constexpr long kMost = 2000;  // rows and events
    std::atomic<bool> cut{false}, stop{false};
    CutSink first(cut, 1 + data[9]), second(stop, kMost);
    options.cancel = &cut;
    const auto half = [&] {
      const Watch watch(cut);
      return judder::simulate::run(*compiled.system, engine, options, first);
    }();
    options.cancel = &stop;
    if (half.status.reason != judder::Reason::interrupted) {
      require(!half.status.ok() || first.finite());
      continue;
    }
    const Watch watch(stop);
    const auto rest = judder::simulate::run(*compiled.system, engine, options, second, &half.end);
    require(rest.end.time >= half.end.time);
    require(!rest.status.ok() || second.finite());
    require(rest.status.ok() || !rest.status.message.empty() ||
            rest.status.reason == judder::Reason::interrupted);
  }
  return 0;
}
