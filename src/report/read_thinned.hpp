// A run folder for drawing: no more rows in memory than a picture can show.
//
// Rows are kept until there are twice as many as wanted; then the time so far is divided into equal parts, and of each part stay its first and
// last row and the rows in which some column is least or largest. What stays has the extremes of what it stands for, so parts of parts keep
// every peak, and the file is read once. More events than a picture can show are thinned in the same way: one of a kind and place in each part. What goes
// from event to event (the status of a contact) needs all of them: for that the first ones are kept whole.
#pragma once

#include <atomic>
#include <filesystem>

#include "judder/io/run_folder.hpp"

namespace judder::report {

/// As io::read_run without state.json, thinned where the file is long. `rows`: how many the file has. `cancel`: set from outside to stop, a problem.
/// `first_events`: so many from the start, without a hole, and no others; 0: all of the run, thinned.
[[nodiscard]] io::FileStatus read_thinned_run(const std::filesystem::path& directory, io::RunData& out,
                                              std::size_t& rows, const std::atomic<bool>* cancel = nullptr,
                                              std::size_t first_events = 0);
/// As io::read_columns; columns are thinned by their order if there is no `t`. An empty cell in a column of numbers is a gap in it: no number (NaN).
[[nodiscard]] io::FileStatus read_thinned_columns(const std::filesystem::path& file, io::RunData& out,
                                                  std::size_t& rows,
                                                  const std::atomic<bool>* cancel = nullptr);

/// Thins further, to about `most` rows; both limits at events stay where they are not more than that.
void thin_rows(io::RunData& run, std::size_t most);

}  // namespace judder::report
