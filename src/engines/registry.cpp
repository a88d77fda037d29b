#include "judder/engines/registry.hpp"

#include "engines/stepping/stepping_engines.hpp"
#include "judder/engines/quasi_static.hpp"

namespace judder::engines {
namespace {

template <class Kind>
EngineEntry entry(std::string name, int rank) {
  return {{std::move(name), {}}, rank, &Kind::unsupported, [](const model::System& system) {
            return std::unique_ptr<Engine>(std::make_unique<Kind>(system));
          }};
}

}  // namespace

const std::vector<EngineEntry>& all_engines() {
  static const std::vector<EngineEntry> engines = [] {
    std::vector<EngineEntry> out{entry<EventEngine>("event", 1), entry<ExactEngine>("exact", 2)};
    for (EngineEntry& each : stepping_engines()) out.push_back(std::move(each));
    out.push_back(entry<QuasiStaticEngine>("quasi-static", 0));
    out.back().judged = false;  // its motion obeys balance, not the equations of motion
    return out;
  }();
  return engines;
}

const EngineEntry* find_engine(std::string_view name) {
  for (const EngineEntry& engine : all_engines()) {
    if (engine.words.name == name) return &engine;
  }
  return nullptr;
}

const EngineEntry* best_engine(const model::System& system) {
  const EngineEntry* best = nullptr;
  for (const EngineEntry& engine : all_engines()) {
    if (engine.rank <= (best == nullptr ? 0 : best->rank)) continue;
    if (engine.unsupported(system).empty()) best = &engine;
  }
  return best;
}

std::vector<model::EngineWords> engine_words() {
  std::vector<model::EngineWords> out;
  for (const EngineEntry& engine : all_engines()) out.push_back(engine.words);
  out.push_back({"auto", {}});
  return out;
}

}  // namespace judder::engines
