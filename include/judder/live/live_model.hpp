// A model that is changed and run again and again while somebody looks: what stands behind a live page (docs/live.md).
//
// Texts go in and out as JSON, rows as plain arrays, so that a page can take both without copying them through other forms. What the answers hold
// is written down in web/src/solver.ts, which reads them. Nothing is thrown; whatever is wrong with a model is in the answer, with its place in the text.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace judder::live {

/// The rows of the last run.
struct Numbers {
  std::vector<double> times;        ///< of the rows
  std::vector<float> columns;       ///< the other columns, one after the other
  std::vector<double> scene_times;  ///< of the drawing
  std::vector<float> scene;         ///< its numbers, by time
  std::vector<double> end;          ///< t, coordinates, velocities, states where the run has ended
};

class LiveModel {
 public:
  LiveModel();
  ~LiveModel();

  /// Reads and compiles a model text; `folder` has its data files. The answer: { problems, and of a model without errors title, parameters, start,
  /// engines, variants, plots, reactions, shapes, until }. A text with errors leaves the model before it in use.
  [[nodiscard]] std::string load(std::string text, const std::filesystem::path& folder = {});
  /// The equations of the model in use, as MathML: { equations }.
  [[nodiscard]] std::string equations();
  /// Runs the model in use with other values: { "set": [[name, number]…], "variant": name, "engine": name, "until": number }, all of which may be
  /// missing. The answer: { problems, run }. `progress` is told the share of the way and the events so far, a few times per second.
  [[nodiscard]] std::string run(std::string_view request,
                                const std::function<void(double share, long events)>& progress = {});
  [[nodiscard]] const Numbers& numbers() const;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace judder::live
