// Uses a layer near the bottom and those at the top: if their libraries link, those between them do.
#include <cstdio>
#include <vector>

#include "judder/core/number.hpp"
#include "judder/io/run_folder.hpp"
#include "judder/report/run_plots.hpp"
#include "judder/report/svg.hpp"
#include "judder/tasks/run.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  judder::io::RunWriter writer;
  const std::vector<judder::io::ColumnName> columns = {{"t"}, {"x"}};
  writer.open(argv[1], columns);
  for (int i = 0; i <= 10; ++i) writer.row(std::vector<double>{0.1 * i, 0.01 * i * i});
  if (const auto status = writer.finish("{}", "{}"); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.text().c_str());
    return 1;
  }
  std::vector<judder::io::RunData> runs(1);
  if (!judder::io::read_run(argv[1], runs[0]).ok() || runs[0].columns[1].numbers.size() != 11) return 1;
  const auto plots = judder::report::plots_of_run(runs, {{"t", "x"}});
  if (plots.figures.size() != 1 || judder::report::to_svg(plots.figures[0].figure).empty()) return 1;
  judder::tasks::RunRequest nothing;
  nothing.model.file = "there is no such file";
  if (judder::tasks::run_model(nothing).stage != judder::tasks::RunStage::model_invalid) return 1;
  std::printf("%s\n", judder::to_text(0.1).c_str());
  return 0;
}
