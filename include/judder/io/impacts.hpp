// Impacts (analysis/impacts.hpp) as text for a terminal, as JSON and as CSV.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judder/analysis/impacts.hpp"
#include "judder/io/run_folder.hpp"

namespace judder::io {

/// Who collides, what each law gives, velocities before and after, energy with a flag where it rises, slip path, classes of
/// slipping contacts.
[[nodiscard]] std::string impacts_text(const analysis::Impacts& impacts, const std::string& title);
/// What a run has recorded of a collision, above impacts_text(): the rows of events.csv that belong to it; `number` of the one that was asked for.
[[nodiscard]] std::string met_impact_text(const std::vector<Event>& recorded, std::size_t number);
/// The classes of slipping contacts alone; empty where nothing slips.
[[nodiscard]] std::string sliding_text(const analysis::Impacts& impacts);
[[nodiscard]] std::string impacts_json(const analysis::Impacts& impacts, const std::string& title);

/// One row per value of the parameters, law and contact. Where nothing collides, one row per slipping contact with its class,
/// or one empty row.
[[nodiscard]] std::string impact_sweep_csv(const analysis::ImpactSweep& sweep);
/// The same piece by piece, for sweeps of any length: the first line, and the rows of one point. `components`: tangential columns.
[[nodiscard]] std::string impact_sweep_header(const std::vector<analysis::Sweep>& parameters,
                                              std::size_t components);
[[nodiscard]] std::string impact_sweep_rows(const analysis::SweepPoint& point, std::size_t components);
/// Count of points, changes of class and thresholds, one per line; for people.
[[nodiscard]] std::string impact_sweep_text(const analysis::ImpactSweep& sweep);
[[nodiscard]] std::string impact_sweep_json(const analysis::ImpactSweep& sweep, const std::string& title);

/// "name=a:b:n" of --sweep, or nothing. n is at least 2 and at most 1 000 000.
[[nodiscard]] std::optional<analysis::Sweep> parse_sweep(const std::string& text);
inline constexpr int kMostSweepValues = 1'000'000;

/// The slip path in words: "slip+ (compression), stick (compression), stick".
[[nodiscard]] std::string path_words(const analysis::LawImpact& law);

}  // namespace judder::io
