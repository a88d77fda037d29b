#include "step_options.hpp"

#include <algorithm>

#include "core/convert.hpp"
#include "judder/core/number.hpp"

namespace judder::engines {

const model::RunOptions::EngineOption* StepOptions::given(std::string_view key) const {
  const model::RunOptions::EngineOption* found = nullptr;
  for (const model::RunOptions::EngineOption& option : options_.own) {
    if (option.engine == engine_ && option.key == key) found = &option;  // the last one holds
  }
  return found;
}

const std::string& StepOptions::fallback(std::string_view key) const {
  static const std::string none;
  for (const model::OptionField& field : fields_) {
    if (field.name == key) return field.fallback;
  }
  return none;
}

double StepOptions::number(std::string_view key) const {
  if (const auto* option = given(key)) return option->number;
  const std::string& text = fallback(key);
  double value = 0;
  static_cast<void>(read_number(text, value));
  return value;
}

std::string StepOptions::word(std::string_view key) const {
  const auto* option = given(key);
  return option != nullptr ? option->text : fallback(key);
}

std::string step_options_problem(const EngineOptions& options, std::string_view engine,
                                 std::span<const model::OptionField> fields) {
  for (const model::RunOptions::EngineOption& option : options.own) {
    if (option.engine != engine) continue;
    const std::string place = "run." + option.engine + ", " + option.key + ": ";
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [&](const model::OptionField& each) { return each.name == option.key; });
    if (field == fields.end()) return place + "there is no such option";
    if (!field->words.empty()) {
      if (std::find(field->words.begin(), field->words.end(), option.text) == field->words.end())
        return place + "'" + option.text + "' is none of its words";
    } else if (!(option.number >= field->least && option.number <= field->most)) {
      return place + to_text(option.number) + " is not between " + to_text(field->least) + " and " +
             to_text(field->most);
    }
  }
  return {};
}

}  // namespace judder::engines
