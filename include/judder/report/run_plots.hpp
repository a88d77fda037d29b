// Figures of runs.
//
// A plot is a list of column names, the first of them the abscissa: ["t", "N", "F"] is a time series, ["x", "x'"] a phase
// portrait. Two rows with the same t are the limits before and after an event, so the curve jumps there. Columns of words
// (`mode(…)`) get a panel of their own with one line per word.
//
// Events are shown in lanes above a time series, and on the curve of any other plot. Several runs in one picture are told
// apart by colour and dashes, or, where colours already tell columns apart, by dashes alone. Their events are small, in the colour of their run; in a
// lane each run has a row, in the order of the runs (in black, where colours tell columns apart).
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judder/io/run_folder.hpp"
#include "judder/io/run_head.hpp"
#include "judder/report/figure.hpp"

namespace judder::report {

struct RunPlotOptions {
  std::string title{};     ///< of every figure: the model's
  std::string subtitle{};  ///< variant, engine; may be empty
  bool events = true;      ///< mark the events
  bool points = false;     ///< rows as points, without lines between them
  std::size_t measured =
      std::numeric_limits<std::size_t>::max();  ///< from this run on: measurements, as points
  std::optional<double> width{};                ///< in pixels; absent: as Figure says
  std::vector<io::ColumnLabel> labels{};        ///< for axes; of other columns the name says it
  bool named_by_columns = false;                ///< `plot-x-xdot` instead of `plot-1`
};

struct NamedFigure {
  std::string name;  ///< for a file: letters, digits and hyphens
  Figure figure;
};

/// What of a run stands in the figures.
struct RunShare {
  std::size_t curves = 0;
  std::vector<std::string> absent;  ///< columns that are drawn of other runs and that it does not have
};

struct RunPlots {
  std::vector<NamedFigure> figures;
  std::vector<std::string> problems;  ///< one sentence for every plot or column that could not be drawn
  std::vector<RunShare> shares;       ///< by run
};

/// The figures that `plots` asks for, `plot-1`, `plot-2`, … or by their columns; a column needs to be in one of the runs only. Without plots:
/// every coordinate and velocity against t, the phase portrait of a single coordinate, and the output columns.
[[nodiscard]] RunPlots plots_of_run(std::span<const io::RunData> runs,
                                    const std::vector<std::vector<std::string>>& plots,
                                    const RunPlotOptions& options = {});

}  // namespace judder::report
