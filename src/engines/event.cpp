#include "judder/engines/event.hpp"

#include "judder/core/number.hpp"

namespace judder::engines {
namespace {

const char* text(Word word) {
  switch (word) {
    case Word::none:
      return "";
    case Word::rest:
      return "rest";
    case Word::rebound:
      return "rebound";
    case Word::stick:
      return "stick";
    case Word::slip_plus:
      return "slip+";
    case Word::slip_minus:
      return "slip-";
    case Word::slip:
      return "slip";
    case Word::plus:
      return "+";
    case Word::minus:
      return "-";
    case Word::up:
      return "up";
    case Word::down:
      return "down";
    case Word::jam:
      return "dynamic-jam";
    case Word::inconsistent:
      return "inconsistent";
    case Word::indeterminate:
      return "indeterminate";
    case Word::below:
      return "below";
    case Word::above:
      return "above";
    case Word::level:
      return "level";
  }
  return "";
}

}  // namespace

const char* name(EventKind kind) {
  switch (kind) {
    case EventKind::impact:
      return "impact";
    case EventKind::contact:
      return "contact";
    case EventKind::lift_off:
      return "lift-off";
    case EventKind::stick:
      return "stick";
    case EventKind::slip:
      return "slip";
    case EventKind::reversal:
      return "reversal";
    case EventKind::tangential_impact:
      return "tangential-impact";
    case EventKind::accumulation:
      return "accumulation";
    case EventKind::painleve:
      return "painleve";
    case EventKind::switch_side:
      return "switch";
    case EventKind::slide_begin:
      return "slide-begin";
    case EventKind::slide_end:
      return "slide-end";
    case EventKind::graze:
      return "graze";
    case EventKind::jump:
      return "jump";
    case EventKind::watch:
      return "watch";
  }
  return "";
}

std::string where(const model::System& system, const Event& event) {
  const auto place = (event.place);
  switch (event.kind) {
    case EventKind::switch_side:
    case EventKind::slide_begin:
    case EventKind::slide_end:
      return system.switches()[place].place;
    case EventKind::watch:
      return system.watches()[place].name;
    case EventKind::jump:
      return {};
    default:
      return event.on_switch ? system.switches()[place].place : system.relations()[place].name;
  }
}

std::string detail(const model::System& system, const Event& event) {
  switch (event.kind) {
    case EventKind::accumulation:
      return to_text(event.numbers[0]) + ' ' + to_text(event.numbers[1]);
    case EventKind::graze:
    case EventKind::jump:
      return to_text(event.numbers[0]);
    case EventKind::switch_side:
    case EventKind::slide_begin:
    case EventKind::slide_end: {
      const model::SwitchInfo& info = system.switches()[event.place];
      if (event.kind == EventKind::slide_begin)
        return system.graph().text(system.symbols().surface[static_cast<std::size_t>(event.place)]);
      if (!info.two_sided()) return to_text(event.numbers[0]);
      return event.words[0] == Word::above ? info.above : info.below;
    }
    default:
      break;
  }
  std::string out = text(event.words[0]);
  if (event.words[1] != Word::none) out += std::string(out.empty() ? "" : " ") + text(event.words[1]);
  return out;
}

}  // namespace judder::engines
