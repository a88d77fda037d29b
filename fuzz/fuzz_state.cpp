// Any bytes as a state.json: read it for a small model with a contact, a joint, a switch of each kind and a watch, and go on from what is taken.
//
// Mutations keep the form of a state most of the time, because what is no JSON is refused at once: one of its numbers, words, lists or tables is
// replaced, taken away or doubled. What passes must be safe to run from: the run ends, with whatever status, and what it saves is a state again.
#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "judder/io/state_file.hpp"
#include "small_model.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using Json = nlohmann::ordered_json;

using judder::fuzz::compiled;
using judder::fuzz::require;

/// One of the values anywhere in the document.
Json* pick(Json& root, std::mt19937& random) {
  Json* at = &root;
  while (at->is_structured() && !at->empty() && random() % 8 != 0) {
    auto next = at->begin();
    std::advance(next, static_cast<std::ptrdiff_t>(random() % at->size()));
    at = &*next;
  }
  return at;
}

Json strange(std::mt19937& random) {
  static const char* const kWords[] = {"0",
                                       "-1",
                                       "1",
                                       "3",
                                       "0.5",
                                       "1e300",
                                       "-1e300",
                                       "1e-320",
                                       "1e18",
                                       "2147483648",
                                       "9223372036854775807",
                                       "18446744073709551615",
                                       "-9223372036854775808",
                                       "\"nan\"",
                                       "\"inf\"",
                                       "\"-inf\"",
                                       "\"open\"",
                                       "\"closed\"",
                                       "\"slides\"",
                                       "\"slip+\"",
                                       "\"stick\"",
                                       "null",
                                       "true",
                                       "false",
                                       "[]",
                                       "{}",
                                       "\"\"",
                                       "[[[]]]"};
  if (random() % 3 == 0)
    return std::ldexp(static_cast<double>(random()) - 2e9, static_cast<int>(random() % 120) - 80);
  return Json::parse(kWords[random() % std::size(kWords)]);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned int seed) {
  std::mt19937 random(seed);
  Json state = Json::parse(data, data + size, nullptr, false);
  if (state.is_discarded() || random() % 10 == 0) return LLVMFuzzerMutate(data, size, most);
  for (unsigned i = 0; i < 1 + random() % 3; ++i) {
    Json* at = pick(state, random);
    if (at->is_array() && !at->empty() && random() % 2 == 0) {
      if (random() % 2 == 0)
        at->erase(random() % at->size());
      else
        at->push_back(Json((*at)[random() % at->size()]));
    } else {
      *at = strange(random);
    }
  }
  const std::string text = state.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const judder::model::System& system = *compiled().system;
  const std::string text(reinterpret_cast<const char*>(data), size);
  judder::engines::Moment moment;
  if (!judder::io::read_state(text, system, moment).empty()) return 0;
  judder::engines::EngineOptions options = judder::engines::options_of(compiled().run);
  if (!(moment.time >= options.from && moment.time < options.until)) return 0;  // refused by the caller
  judder::fuzz::Short sink(40);
  options.cancel = &sink.cancel;
  const judder::engines::EngineResult result = judder::simulate::run(system, "event", options, sink, &moment);
  require(!std::string(judder::name(result.status.reason)).empty());
  // What is finite can be taken up again.
  judder::engines::Moment again;
  const std::string saved = judder::io::state_json(system, result.end);
  const std::string problem = judder::io::read_state(saved, system, again);
  require(problem.empty() || problem.find("finite") != std::string::npos || !result.status.ok());
  return 0;
}
