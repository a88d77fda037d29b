// A bifurcation diagram of a model file: the section points of its motion over a parameter.
//
// Each value starts from the start of the model, on any number of threads and machines (tasks/members.hpp); or, carried, from where the one before it
// ended, in one thread upwards or downwards. The table has a row for each point, a second one beside it a row for each value: points per period,
// its duration, the events of one period, how the run ended.
#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "judder/analysis/sections.hpp"
#include "judder/tasks/sweep.hpp"

namespace judder::tasks {

enum class Carry : unsigned char { no, up, down, both };

struct DiagramRequest {
  ManyRequest many;
  analysis::Plan::Axis axis;
  analysis::SectionKind section;
  std::size_t skip = 200, keep = 100;
  Carry carry = Carry::no;
  std::filesystem::path output{};  ///< the table, .csv
};

/// One value of the parameter, in one direction.
struct DiagramValue {
  double value = 0;
  bool down = false;                                         ///< carried from above
  std::vector<double> points;                                ///< t and the state of each
  std::size_t period_points = 0;                             ///< 0: there is no period, or the run has failed
  double period = std::numeric_limits<double>::quiet_NaN();  ///< duration; NaN: none was found
  double forcing_period = 0;                                 ///< of the forces at this value; 0: none
  std::string word;
  std::string status;
  bool ok = true;
};

struct DiagramReport {
  RunsReport runs;
  std::vector<std::string> columns;  ///< t and the names of the state
  double forcing_period = 0;         ///< at the first value that has one; 0: nothing depends on time
  std::vector<DiagramValue> values;
  std::vector<std::filesystem::path> files;
};

/// Makes the diagram and writes both tables.
[[nodiscard]] DiagramReport bifurcation(const DiagramRequest& request);

/// What is shown over the parameter: the first coordinate; at impacts the first velocity, since the gap is zero there.
[[nodiscard]] std::string shown_column(const DiagramReport& report, const analysis::SectionKind& section);
/// Ranges of the parameter with the same number of points per period, a line each.
[[nodiscard]] std::string diagram_text(const DiagramReport& report, const std::string& parameter);

/// Points of a picture: of both directions together where nothing is carried, or of one of them.
struct DiagramPoints {
  std::vector<double> x, y;
};
inline constexpr const char* kPhase = "phase";  ///< the time of a point in the period of the forcing
/// `shown` is one of the columns, or kPhase.
[[nodiscard]] DiagramPoints diagram_points(const DiagramReport& report, const std::string& shown, bool down);

/// The file beside the table with a row for each value.
[[nodiscard]] std::filesystem::path words_file(const std::filesystem::path& table);

}  // namespace judder::tasks
