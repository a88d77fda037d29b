// Words of the model file that layers above know the meaning of: engines, and the options that [run.<engine>] may hold.
//
// The compiler evaluates and checks them, and stays ignorant of what an engine is: whoever calls it says which there are
// (engines/registry.hpp has the list).
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace judder::model {

/// A number within bounds or, where words are given, one of them.
struct OptionField {
  std::string name;
  std::string doc;         ///< one or two sentences
  std::string fallback{};  ///< what holds when it is left out, as it would be written
  std::vector<std::string> words{};
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};

struct EngineWords {
  std::string name;
  std::vector<OptionField> options{};
};

}  // namespace judder::model
