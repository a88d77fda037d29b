// The engines that exist, by name: one row each.
//
// Whoever needs an engine, its name for a message, its options for a page or a check asks here. A new engine is a class with the
// interface of engine.hpp in a file of its own, and a row in registry.cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "judder/engines/engine.hpp"
#include "judder/model/vocabulary.hpp"

namespace judder::engines {

struct EngineEntry {
  model::EngineWords words;  ///< its name in the model file, its options in [run.<name>]
  /// Among the engines that can run a model, 'auto' takes the one with the largest rank; 0: never.
  int rank = 0;
  /// Why it cannot run the system ("needs …"), or an empty string.
  std::string (*unsupported)(const model::System& system) = nullptr;
  std::unique_ptr<Engine> (*make)(const model::System& system) = nullptr;
  /// The referee can judge its runs: between events they obey the laws to the tolerance. Schemes with fixed steps break them by amounts that shrink with the
  /// step, and report monitors instead.
  bool judged = true;
};

/// The first is the one that takes over from another that cannot go on.
[[nodiscard]] const std::vector<EngineEntry>& all_engines();
/// The entry of that name, or null.
[[nodiscard]] const EngineEntry* find_engine(std::string_view name);
/// The entry that 'auto' stands for; null: no engine takes the system.
[[nodiscard]] const EngineEntry* best_engine(const model::System& system);
/// Words that a model file may hold: every engine, and 'auto'.
[[nodiscard]] std::vector<model::EngineWords> engine_words();

}  // namespace judder::engines
