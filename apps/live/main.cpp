// The functions that a live page calls, over judder/live/live_model.hpp. One model per module; a page that wants two loads two.
#include <emscripten.h>

#include <cstddef>
#include <string>

#include "judder/live/live_model.hpp"

namespace {

struct State {
  judder::live::LiveModel model;
  std::string answer;  // the last one; the page reads it before it calls again
};

State& state() {
  static State only;
  return only;
}

// NOLINTNEXTLINE: a macro of emscripten, whose body is JavaScript.
EM_JS(void, tell_progress, (double share, double events), {
  if (Module.progress) Module.progress(share, events);
});

const char* answered(std::string text) {
  state().answer = std::move(text);
  return state().answer.c_str();
}

}  // namespace

extern "C" {

EMSCRIPTEN_KEEPALIVE const char* judder_load(const char* text, const char* folder) {
  return answered(state().model.load(text, folder));
}
EMSCRIPTEN_KEEPALIVE const char* judder_equations() { return answered(state().model.equations()); }
EMSCRIPTEN_KEEPALIVE const char* judder_run(const char* request) {
  return answered(state().model.run(
      request, [](double share, long events) { tell_progress(share, static_cast<double>(events)); }));
}

// The arrays of the last run, by number: times, columns, times of the drawing, its numbers, the end.
EMSCRIPTEN_KEEPALIVE const void* judder_numbers(int which) {
  const judder::live::Numbers& n = state().model.numbers();
  switch (which) {
    case 0:
      return n.times.data();
    case 1:
      return n.columns.data();
    case 2:
      return n.scene_times.data();
    case 3:
      return n.scene.data();
    default:
      return n.end.data();
  }
}
EMSCRIPTEN_KEEPALIVE std::size_t judder_count(int which) {
  const judder::live::Numbers& n = state().model.numbers();
  switch (which) {
    case 0:
      return n.times.size();
    case 1:
      return n.columns.size();
    case 2:
      return n.scene_times.size();
    case 3:
      return n.scene.size();
    default:
      return n.end.size();
  }
}
}
