#include "judder/io/impacts.hpp"

#include <algorithm>
#include <cmath>

#include "io/json_values.hpp"
#include "io/text_table.hpp"
#include "judder/core/number.hpp"
#include "judder/core/printable.hpp"
#include "judder/io/csv.hpp"
#include "judder/io/ranges.hpp"

namespace judder::io {
namespace {

using analysis::CollidingContact;
using analysis::ContactImpulse;
using analysis::Impacts;
using analysis::ImpactsOutcome;
using analysis::ImpactSweep;
using analysis::LawImpact;
using analysis::SlidingClass;
using analysis::SweepPoint;
using Json = nlohmann::ordered_json;

constexpr int kDigits = 9;

std::string number(double value) { return to_text(value == 0 ? 0 : value, kDigits); }

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

Json json_numbers(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double value : values) out.push_back(json_number(value));
  return out;
}

const char* word(ImpactsOutcome outcome) {
  switch (outcome) {
    case ImpactsOutcome::collision:
      return "collision";
    case ImpactsOutcome::tangential:
      return "tangential impact";
    case ImpactsOutcome::no_collision:
      return "no collision";
    case ImpactsOutcome::failed:
      return "failed";
  }
  return "";
}

std::string before_words(const Impacts& impacts) {
  std::string out;
  for (const CollidingContact& c : impacts.contacts) {
    out += "  '" + c.name + "'";
    if (c.approaches) {
      out += " approaches with " + number(-c.normal_before);
    } else if (c.separates) {
      out += " touches and separates with " + number(c.normal_before);
    } else {
      out += c.constraint ? " is held" : " is closed";
    }
    if (!c.slip_before.empty()) {
      std::vector<std::string> slips;
      for (const double slip : c.slip_before) slips.push_back(number(slip));
      out += ", slip " + joined(slips, ", ") + ", mu " + number(c.mu);
      if (c.mu_static != c.mu) out += " (static " + number(c.mu_static) + ")";
    }
    if (c.approaches) out += ", restitution " + number(c.restitution);
    out += "\n";
  }
  return out;
}

// Blocks that nothing connects may take different forms of one law.
std::string form_words(const LawImpact& law) {
  std::vector<std::string> forms;
  for (const ContactImpulse& i : law.contacts) {
    const std::string form = contact::name(i.form);
    if (std::find(forms.begin(), forms.end(), form) == forms.end()) forms.push_back(form);
  }
  return joined(forms, "; ");
}

Json json_impacts(const Impacts& impacts) {
  Json out = Json::object();
  out["outcome"] = word(impacts.outcome);
  if (impacts.outcome == ImpactsOutcome::no_collision) out["reason"] = impacts.reason;
  if (impacts.outcome == ImpactsOutcome::failed) out["reason"] = impacts.status.message;
  out["time"] = json_number(impacts.time);
  out["coordinates"] = impacts.coordinates;
  out["velocity_before"] = json_numbers(impacts.velocity_before);
  out["energy_before"] = json_number(impacts.energy_before);
  Json contacts = Json::array();
  for (const CollidingContact& c : impacts.contacts) {
    contacts.push_back({{"name", c.name},
                        {"kind", c.constraint ? "constraint" : "contact"},
                        {"approaches", c.approaches},
                        {"separates", c.separates},
                        {"normal_before", json_number(c.normal_before)},
                        {"slip_before", json_numbers(c.slip_before)},
                        {"restitution", json_number(c.restitution)},
                        {"mu", json_number(c.mu)},
                        {"mu_static", json_number(c.mu_static)}});
  }
  out["contacts"] = std::move(contacts);
  Json laws = Json::array();
  for (const LawImpact& law : impacts.laws) {
    Json entry{{"law", law.law},
               {"form", form_words(law)},
               {"status", contact::name(law.status)},
               {"several_velocities", law.several_velocities},
               {"impulses_unique", law.impulses_unique},
               {"energy_after", json_number(law.energy_after)},
               {"energy_change", json_number(law.energy_change)},
               {"energy_gain", json_number(law.energy_gain)},
               {"velocity", json_numbers(law.velocity)}};
    Json impulses = Json::array();
    for (std::size_t c = 0; c < law.contacts.size(); ++c) {
      const ContactImpulse& i = law.contacts[c];
      impulses.push_back({{"contact", impacts.contacts[c].name},
                          {"form", contact::name(i.form)},
                          {"normal_impulse", json_number(i.normal_impulse)},
                          {"tangential_impulse", json_numbers(i.tangential_impulse)},
                          {"normal_after", json_number(i.normal_after)},
                          {"slip_after", json_numbers(i.slip_after)},
                          {"normal_work", json_number(i.normal_work)},
                          {"tangential_work", json_number(i.tangential_work)}});
    }
    entry["impulses"] = std::move(impulses);
    if (law.form == contact::ImpactForm::path) {
      Json path = Json::array();
      for (const contact::PathPiece& piece : law.path) {
        path.push_back({{"status", contact::name(piece.status)},
                        {"phase", piece.compression ? "compression" : "expansion"},
                        {"normal_impulse", json_number(piece.normal_impulse)},
                        {"tangential_impulse", json_number(piece.tangential_impulse)},
                        {"normal_velocity", json_number(piece.normal_velocity)},
                        {"slip", json_number(piece.tangential_velocity)}});
      }
      entry["path"] = std::move(path);
      entry["compression_impulse"] = json_number(law.compression_impulse);
    }
    laws.push_back(std::move(entry));
  }
  out["laws"] = std::move(laws);
  Json sliding = Json::array();
  for (const SlidingClass& s : impacts.sliding) {
    sliding.push_back(
        {{"contact", s.name},
         {"kind", s.contact.kind == contact::NormalKind::bilateral ? "bilateral" : "unilateral"},
         {"direction", s.contact.direction},
         {"k", json_number(s.contact.k)},
         {"a", json_number(s.contact.b_N)},
         {"mu", json_number(s.contact.mu)},
         {"A_NN", json_number(s.contact.A_NN)},
         {"A_NT", json_number(s.contact.A_NT)},
         {"class", name(s.contact.sliding)},
         {"opened", s.opened}});
  }
  out["sliding"] = std::move(sliding);
  return out;
}

}  // namespace

std::string sliding_text(const Impacts& impacts) {
  if (impacts.sliding.empty()) return {};
  TextTable table({"slipping contact", "direction", "k", "a", "mu*|b|", "others open", "class"}, {2, 3, 4});
  for (const SlidingClass& s : impacts.sliding) {
    const contact::SlidingContact& c = s.contact;
    const bool bilateral = c.kind == contact::NormalKind::bilateral;
    std::string verdict = name(c.sliding);
    if (bilateral && !(c.mu * std::abs(c.A_NT) < c.A_NN)) verdict += ": bilateral with mu*|b| >= w_N·M⁻¹w_N";
    table.add({s.name, c.direction > 0 ? "+" : "-", number(c.k), number(c.b_N),
               number(c.mu * std::abs(c.A_NT)), joined(s.opened, ", "), verdict});
  }
  table.drop_empty_columns();
  return table.text();
}

std::string path_words(const LawImpact& law) {
  std::string out;
  for (const contact::PathPiece& piece : law.path) {
    std::string word = piece.status == contact::RowStatus::free ? "no friction" : contact::name(piece.status);
    if (!out.empty()) out += ", ";
    out += word + (piece.compression ? " in compression" : " in expansion");
  }
  return out;
}

std::string met_impact_text(const std::vector<Event>& recorded, std::size_t number_of_event) {
  TextTable table({"recorded", "contact", "detail", "normal impulse", "tangential", "energy lost"},
                  {3, 4, 5});
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const Event& event = recorded[i];
    table.add({i == 0 ? "event " + std::to_string(number_of_event) : "", event.where, event.detail,
               number(event.normal_impulse), number(event.tangential_impulse[0]),
               number(event.energy_before - event.energy_after)});
  }
  return table.text() + "\n";
}

std::string impacts_text(const Impacts& impacts, const std::string& title) {
  std::string out = title.empty() ? "" : printable_name(title, 200) + "\n\n";
  out += std::string(impacts.outcome == ImpactsOutcome::tangential ? "Tangential impact" : "Collision") +
         " at t = " + number(impacts.time) + "\n" + before_words(impacts) + "\n";

  TextTable table({"law", "contact", "normal impulse", "tangential", "v_N after", "slip after", "work normal",
                   "work tangential"},
                  {2, 3, 4, 5, 6, 7});
  for (const LawImpact& law : impacts.laws) {
    for (std::size_t c = 0; c < impacts.contacts.size(); ++c) {
      if (!law.ok()) {
        table.add(
            {c == 0 ? law.law : "", impacts.contacts[c].name, contact::name(law.status), "", "", "", "", ""});
        continue;
      }
      const ContactImpulse& i = law.contacts[c];
      std::vector<std::string> impulses, slips;
      for (const double x : i.tangential_impulse) impulses.push_back(number(x));
      for (const double x : i.slip_after) slips.push_back(number(x));
      table.add({c == 0 ? law.law : "", impacts.contacts[c].name, number(i.normal_impulse),
                 joined(impulses, ", "), number(i.normal_after), joined(slips, ", "), number(i.normal_work),
                 slips.empty() ? "" : number(i.tangential_work)});
    }
  }
  table.drop_empty_columns();
  out += table.text() + "\n";

  TextTable energy({"law", "form", "energy before", "after", "change", "", "path"}, {2, 3, 4});
  for (const LawImpact& law : impacts.laws) {
    std::string note;
    if (law.energy_gain > 0) note = "creates energy: " + number(law.energy_gain);
    if (law.several_velocities)
      note += std::string(note.empty() ? "" : "; ") + "several answers, least energy taken";
    if (!law.impulses_unique) note += std::string(note.empty() ? "" : "; ") + "impulses not unique";
    energy.add({law.law, form_words(law), number(impacts.energy_before), number(law.energy_after),
                number(law.energy_change), note, path_words(law)});
  }
  energy.drop_empty_columns();
  out += energy.text() + "\n";

  std::vector<std::string> titles{"velocity", "before"};
  std::vector<std::size_t> right{1};
  for (const LawImpact& law : impacts.laws) {
    right.push_back(titles.size());
    titles.push_back(law.law);
  }
  TextTable velocities(titles, right);
  for (std::size_t k = 0; k < impacts.coordinates.size(); ++k) {
    std::vector<std::string> row{impacts.coordinates[k] + "'", number(impacts.velocity_before[k])};
    for (const LawImpact& law : impacts.laws) row.push_back(number(law.velocity[k]));
    velocities.add(std::move(row));
  }
  out += velocities.text();
  if (impacts.contacts.size() > 1) {
    const bool several = std::any_of(impacts.laws.begin(), impacts.laws.end(), [](const LawImpact& law) {
      return std::any_of(law.contacts.begin(), law.contacts.end(), [](const ContactImpulse& i) {
        return i.form == contact::ImpactForm::two_phases || i.form == contact::ImpactForm::energetic;
      });
    });
    if (several)
      out +=
          "\nWith several contacts newton is moreau; poisson and stronge do not reduce to the impulse path "
          "where slip reverses.\n";
  }
  return out + (impacts.sliding.empty() ? "" : "\n" + sliding_text(impacts));
}

std::string impacts_json(const Impacts& impacts, const std::string& title) {
  Json out{{"title", title}};
  out.update(json_impacts(impacts));
  return json_text(std::move(out));
}

std::optional<analysis::Sweep> parse_sweep(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  const auto range = parse_range(text.substr(equals + 1), kMostSweepValues);
  if (!range || !range->count) return std::nullopt;
  analysis::Sweep sweep;
  sweep.name = text.substr(0, equals);
  sweep.from = range->from;
  sweep.to = range->to;
  sweep.count = *range->count;
  return sweep;
}

std::string impact_sweep_header(const std::vector<analysis::Sweep>& parameters, std::size_t components) {
  std::string out;
  CsvWriter csv(out);
  for (const analysis::Sweep& parameter : parameters) csv.text(parameter.name);
  const auto numbered = [&](const char* title, std::size_t i) {
    csv.text(components > 1 ? std::string(title) + "_" + std::to_string(i + 1) : std::string(title));
  };
  for (const char* title : {"outcome", "contact", "law", "form", "status", "normal_before"}) csv.text(title);
  for (std::size_t i = 0; i < components; ++i) numbered("slip_before", i);
  csv.text("normal_impulse");
  for (std::size_t i = 0; i < components; ++i) numbered("tangential_impulse", i);
  csv.text("normal_after");
  for (std::size_t i = 0; i < components; ++i) numbered("slip_after", i);
  for (const char* title :
       {"normal_work", "tangential_work", "energy_change", "energy_gain", "path", "class", "k", "a"})
    csv.text(title);
  csv.end_record();
  return out;
}

std::string impact_sweep_rows(const SweepPoint& point, std::size_t components) {
  std::string out;
  CsvWriter csv(out);
  const auto list = [&](const std::vector<double>& values) {
    for (std::size_t i = 0; i < components; ++i) {
      if (i < values.size())
        csv.number(values[i]);
      else
        csv.text("");
    }
  };
  const auto blank = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) csv.text("");
  };
  const Impacts& impacts = point.impacts;
  const auto start = [&](const std::string& contact) {
    for (const double value : point.values) csv.number(value);
    csv.text(point.problem.empty() ? word(impacts.outcome) : "model invalid").text(contact);
  };
  const auto class_of = [&](int relation) {
    for (const SlidingClass& s : impacts.sliding) {
      if (s.relation == relation && s.opened.empty()) {
        csv.text(name(s.contact.sliding)).number(s.contact.k).number(s.contact.b_N);
        return;
      }
    }
    blank(3);
  };
  bool any = false;
  for (const LawImpact& law : impacts.laws) {
    for (std::size_t c = 0; c < impacts.contacts.size(); ++c) {
      const CollidingContact& before = impacts.contacts[c];
      const ContactImpulse& after = law.contacts[c];
      start(before.name);
      csv.text(law.law)
          .text(contact::name(after.form))
          .text(contact::name(law.status))
          .number(before.normal_before);
      list(before.slip_before);
      csv.number(after.normal_impulse);
      list(after.tangential_impulse);
      csv.number(after.normal_after);
      list(after.slip_after);
      csv.number(after.normal_work)
          .number(after.tangential_work)
          .number(law.energy_change)
          .number(law.energy_gain);
      csv.text(path_words(law));
      class_of(before.relation);
      csv.end_record();
      any = true;
    }
  }
  if (any) return out;
  for (const SlidingClass& s : impacts.sliding) {
    if (!s.opened.empty()) continue;
    start(s.name);
    blank(3 + 1 + components + 1 + components + 1 + components + 5);
    class_of(s.relation);
    csv.end_record();
    any = true;
  }
  if (any) return out;
  start("");
  blank(3 + 1 + components + 1 + components + 1 + components + 5 + 3);
  csv.end_record();
  return out;
}

std::string impact_sweep_csv(const ImpactSweep& sweep) {
  // As many tangential columns as some slip has components.
  std::size_t components = 1;
  for (const SweepPoint& point : sweep.points) {
    for (const CollidingContact& c : point.impacts.contacts)
      components = std::max(components, c.slip_before.size());
  }
  std::string out = impact_sweep_header(sweep.parameters, components);
  for (const SweepPoint& point : sweep.points) out += impact_sweep_rows(point, components);
  return out;
}

std::string impact_sweep_text(const ImpactSweep& sweep) {
  std::string out =
      std::to_string(sweep.states) + " states, " + std::to_string(sweep.collisions) + " collide";
  if (sweep.gains > 0) out += ", in " + std::to_string(sweep.gains) + " some law creates energy";
  if (sweep.invalid > 0) out += ", " + std::to_string(sweep.invalid) + " are no valid model";
  out += "\n";
  const bool two = sweep.parameters.size() > 1;
  const std::string& last = sweep.parameters.back().name;
  constexpr std::size_t kShown = 60;
  std::size_t shown = 0;
  for (const analysis::ClassChange& change : sweep.changes) {
    if (++shown > kShown) continue;
    out += "'" + change.contact + "': " + name(change.below) + " below " + last + " = " +
           to_text(change.value, 15) + ", " + name(change.above) + " above";
    if (two) out += " (" + sweep.parameters.front().name + " = " + to_text(change.outer, 9) + ")";
    out += "\n";
  }
  if (shown > kShown) out += "… " + std::to_string(shown - kShown) + " more changes of class\n";
  for (const analysis::PainleveThreshold& threshold : sweep.thresholds) {
    out += "'" + threshold.contact + "': the least k over " + last + " is zero at " +
           sweep.parameters.front().name + " = " + to_text(threshold.outer, 12) + ", " + last + " = " +
           to_text(threshold.inner, 6) + "\n";
  }
  return out;
}

std::string impact_sweep_json(const ImpactSweep& sweep, const std::string& title) {
  Json parameters = Json::array();
  for (const analysis::Sweep& p : sweep.parameters)
    parameters.push_back(
        {{"name", p.name}, {"from", json_number(p.from)}, {"to", json_number(p.to)}, {"count", p.count}});
  Json points = Json::array();
  for (const SweepPoint& point : sweep.points) {
    Json entry{{"values", json_numbers(point.values)}};
    if (point.problem.empty())
      entry.update(json_impacts(point.impacts));
    else
      entry["problem"] = point.problem;
    points.push_back(std::move(entry));
  }
  Json changes = Json::array();
  for (const analysis::ClassChange& c : sweep.changes) {
    Json entry{{"contact", c.contact},
               {"value", json_number(c.value)},
               {"below", name(c.below)},
               {"above", name(c.above)}};
    if (sweep.parameters.size() > 1) entry["outer"] = json_number(c.outer);
    changes.push_back(std::move(entry));
  }
  Json thresholds = Json::array();
  for (const analysis::PainleveThreshold& t : sweep.thresholds)
    thresholds.push_back(
        {{"contact", t.contact}, {"outer", json_number(t.outer)}, {"inner", json_number(t.inner)}});
  return json_text(Json{{"title", title},
                        {"parameters", std::move(parameters)},
                        {"points", std::move(points)},
                        {"changes", std::move(changes)},
                        {"thresholds", std::move(thresholds)}});
}

}  // namespace judder::io
