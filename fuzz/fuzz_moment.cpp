// Any changes to a Moment of a small model with a contact, a joint, switches of each kind and a watch: what is incomplete, of another system, or holds what no run
// gives is refused with a status; what is taken may be run from, with whatever status, and the Moment at its end can be taken up again.
//
// Bytes are read as edits: a list of the Moment, what is done to it (cut, grown, one entry replaced by a number from a short list or by any bits),
// and where. Without bytes it is the Moment of a run as it stands, which must be taken.
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "small_model.hpp"

namespace {

using judder::engines::Moment;

using judder::fuzz::compiled;
using judder::fuzz::require;

judder::engines::EngineResult go(const Moment* from, long steps) {
  judder::fuzz::Short sink(steps);
  judder::engines::EngineOptions options = judder::engines::options_of(compiled().run);
  options.cancel = &sink.cancel;
  options.max_events = 200;
  return judder::simulate::run(*compiled().system, "event", options, sink, from);
}

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
  [[nodiscard]] bool empty() const { return left_ == 0; }
  std::uint8_t next() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  /// A place in a list of this length, or 0.
  std::size_t place(std::size_t length) {
    const std::size_t wanted = next() + 256U * next();
    return length == 0 ? 0 : wanted % length;
  }
  double number() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kList[] = {0,      -0.0,      1,          -1,
                                2,      0.5,       1e300,      -1e300,
                                5e-324, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()};
    const std::size_t which = next() % (std::size(kList) + 2);
    if (which < std::size(kList)) return kList[which];
    std::uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits = bits << 8U | next();
    return std::bit_cast<double>(bits);
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

template <class List>
void change(List& list, Bytes& bytes) {
  using Entry = typename List::value_type;
  constexpr std::size_t kMost = 4096;
  const auto entry = [&] {
    if constexpr (std::is_same_v<Entry, double>) {
      return bytes.number();
    } else {
      // Words of a status beyond its last one come from no code; whole numbers may be any.
      return static_cast<Entry>(std::is_enum_v<Entry> ? bytes.next() % 4
                                                      : static_cast<std::int8_t>(bytes.next()));
    }
  };
  switch (bytes.next() % 5) {
    case 0:
      list.resize(bytes.place(list.size() + 1));
      break;
    case 1:
      if (list.size() < kMost) list.push_back(entry());
      break;
    case 2:
      if (list.size() < kMost) list.insert(list.end(), list.begin(), list.end());
      break;
    default:
      if (!list.empty()) list[bytes.place(list.size())] = entry();
  }
}

void change_mode(judder::engines::Mode& mode, Bytes& bytes) {
  switch (bytes.next() % 5) {
    case 0:
      return change(mode.normal, bytes);
    case 1:
      return change(mode.pressed, bytes);
    case 2:
      return change(mode.tangent, bytes);
    case 3:
      return change(mode.side, bytes);
    default:
      return change(mode.surface, bytes);
  }
}

void change_phase(judder::engines::PhaseMemory& phase, Bytes& bytes) {
  std::vector<double>* const lists[] = {
      &phase.y,     &phase.side,    &phase.listed_sides, &phase.guards, &phase.watch_sides, &phase.rate,
      &phase.noise, &phase.stepper, &phase.switchings,   &phase.tail,   &phase.intervals,   &phase.timetable};
  double* const numbers[] = {&phase.time, &phase.start, &phase.last_flight, &phase.largest_energy,
                             &phase.tail_end};
  const std::size_t which = bytes.next() % (std::size(lists) + std::size(numbers) + 3);
  if (which < std::size(lists)) return change(*lists[which], bytes);
  if (which < std::size(lists) + std::size(numbers)) {
    *numbers[which - std::size(lists)] = bytes.number();
  } else if (which == std::size(lists) + std::size(numbers)) {
    phase.stiff = !phase.stiff;
  } else {
    change_mode(phase.mode, bytes);
  }
}

void change_moment(Moment& moment, Bytes& bytes) {
  std::vector<double>* const lists[] = {&moment.y, &moment.dissipated, &moment.supplied, &moment.scales,
                                        &moment.history};
  double* const numbers[] = {&moment.time, &moment.initial_energy, &moment.step};
  switch (bytes.next() % 8) {
    case 0:
    case 1:
      return change(*lists[bytes.next() % std::size(lists)], bytes);
    case 2:
      *numbers[bytes.next() % std::size(numbers)] = bytes.number();
      return;
    case 3:
      return change(moment.watch_counts, bytes);
    case 4:
      moment.events = static_cast<std::int8_t>(bytes.next());
      return;
    case 5:
      moment.started = !moment.started;
      return;
    case 6:
      return change_mode(moment.mode, bytes);
    default:
      return change_phase(moment.phase, bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  // As far into the run as the first byte says.
  Moment moment = go(nullptr, 1 + bytes.next() % 64).end;
  require(judder::engines::moment_problem(*compiled().system, moment).empty());
  constexpr int kMostEdits = 16;
  for (int edit = 0; edit < kMostEdits && !bytes.empty(); ++edit) change_moment(moment, bytes);
  const std::string problem = judder::engines::moment_problem(*compiled().system, moment);
  const judder::engines::EngineResult result = go(&moment, 40);
  if (!problem.empty()) {
    require(result.status.reason == judder::Reason::unsupported && result.status.message == problem);
    return 0;
  }
  if (result.status.ok() || result.status.reason == judder::Reason::interrupted)
    require(judder::engines::moment_problem(*compiled().system, result.end).empty());
  return 0;
}
