// What a Form holds beside the open System. Private to the model layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "judder/core/work.hpp"
#include "judder/expr/graph.hpp"
#include "judder/model/form.hpp"
#include "model/system_data.hpp"

namespace judder::model {

/// Numbers that are not in formulas and must be found for each set of values.
struct FormParts {
  struct Time {
    double RunOptions::*field;
    std::uint32_t step;
  };
  std::vector<Time> times;
  /// Start values in an order in which each finds those that it needs.
  struct Start {
    std::string name;
    std::string family;  ///< name and prime without the index: "x'"
    expr::Node node;
    expr::Variable variable = 0;
    int place = 0;  ///< in the array of inputs
    bool massless_velocity = false;
  };
  std::vector<Start> start;
  std::vector<std::string> start_names;
  struct Scale {
    std::size_t coordinate = 0;
    expr::Node node;
  };
  std::vector<Scale> scales;
  /// Formulas whose signs at the start have decided what the gaps are.
  struct Sign {
    expr::Node node;
    double sign = 0;
  };
  std::vector<Sign> signs;
  struct Impact {
    std::size_t relation = 0;
    expr::Number stiffness, exponent;
  };
  std::vector<Impact> impacts;
  /// Switches of time alone with a constant slope: their instants are known.
  struct Timetable {
    std::size_t of = 0;
    expr::Node slope;
  };
  std::vector<Timetable> timetables;
  std::vector<expr::Number> periods;
  std::vector<std::size_t> above, below;  ///< switches whose sides are shown by their formula
  /// The reason why the model is not linear, around a formula.
  std::string reason_before, reason_after;
  std::optional<expr::Node> reason;
};

struct Form::Data {
  System open;
  RunOptions run;
  FormParts parts;
  std::vector<std::vector<expr::Node>> alike;
  expr::Variable t = 0;
  std::vector<double> start_values;  ///< by variable
};

/// Bytes of the formula of a switch, which is shown with each event.
constexpr std::size_t kLongestSide = 1 << 12;

/// Instants of timetables that are known in closed form, ascending.
[[nodiscard]] std::vector<double> known_instants(const System::Data& data, const expr::Graph& graph,
                                                 const std::vector<FormParts::Timetable>& timetables,
                                                 expr::Variable t, std::vector<double> at,
                                                 const RunOptions& run, Work* budget);
/// The array of inputs at the start, with sides by value and massless coordinates found, from time, coordinates, velocities and states.
void begin_inputs(System& system, System::Data& data, std::vector<double> in);
/// The same of what stands in data.start already, in memory that is at hand.
void begin_inputs(System& system, System::Data& data, Workspace& work);
/// Whether a run can begin there, by the checks of compile() without their words; completes the inputs.
[[nodiscard]] bool may_begin(System& system, System::Data& data);
[[nodiscard]] bool may_begin(System& system, System::Data& data, Workspace& work,
                             std::vector<double>& memory);

}  // namespace judder::model
