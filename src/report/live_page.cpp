#include "judder/report/live_page.hpp"

#include <fstream>
#include <iterator>
#include <system_error>

#include "judder/io/files.hpp"
#include "judder/io/model_files.hpp"
#include "judder/io/version.hpp"
#include "report/base128.hpp"
#include "report/deflate.hpp"
#include "report/html.hpp"
#include "report/web_files.hpp"

namespace judder::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kModule = "solver.wasm.gz";
constexpr const char* kGlue = "solver.js.gz";

/// Nothing is fetched. Scripts and styles stand in the page; the module is compiled from bytes in it, the worker is a script of the page.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; worker-src blob:; style-src "
    "'unsafe-inline'; img-src data:";

/// A file of ours or of the model: at most 16 MiB, as the reader takes them.
io::FileStatus read_file(const fs::path& file, std::string& out) {
  constexpr std::uintmax_t kLargest = std::uintmax_t{1} << 24U;
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  if (error) return {file.string(), "cannot be read: " + error.message(), 0};
  if (size > kLargest) return {file.string(), "is larger than 16 MiB", 0};
  std::ifstream in(file, std::ios::binary);
  out.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  if (!in || out.size() != size) return {file.string(), "cannot be read", 0};
  return {};
}

}  // namespace

fs::path find_solver(const fs::path& chosen, const fs::path& program) {
  std::error_code error;
  const auto has_both = [&error](const fs::path& place) {
    return fs::is_regular_file(place / kModule, error) && fs::is_regular_file(place / kGlue, error);
  };
  if (!chosen.empty()) return has_both(chosen) ? chosen : fs::path();
  std::vector<fs::path> places;
  if (!program.empty())
    places.push_back(fs::weakly_canonical(program, error).parent_path().parent_path() / "share/judder/live");
  places.emplace_back(JUDDER_BUILT_SOLVER);
  for (const fs::path& place : places) {
    if (has_both(place)) return place;
  }
  return {};
}

io::FileStatus live_page_model(const io::ModelFile& file, std::string name, const fs::path& folder,
                               LivePageModel& out) {
  out = {std::move(name), file.spec.title.text, file.text};
  for (const std::string& data : io::data_files(file.spec)) {
    std::string content;
    if (io::FileStatus status = read_file(folder / data, content); !status.ok()) return status;
    out.files.emplace(data, std::move(content));
  }
  return {};
}

io::FileStatus write_live_page(const LivePageRequest& request) {
  std::string module, glue;
  if (io::FileStatus status = read_file(request.solver / kModule, module); !status.ok()) return status;
  if (io::FileStatus status = read_file(request.solver / kGlue, glue); !status.ok()) return status;
  Json models = Json::array();
  for (const LivePageModel& model : request.models)
    models.push_back(
        {{"name", model.name}, {"title", model.title}, {"text", model.text}, {"files", model.files}});
  const Json json{{"title", request.title},
                  {"program", "Judder " + std::string(io::version())},
                  {"gallery", request.gallery},
                  {"models", std::move(models)}};
  std::string out = page_head(request.title, kPolicy, web::live_css());
  const auto element = [&out](std::string_view id, std::string_view type, const std::string& content) {
    out += "<script id=\"";
    out += id;
    out += "\" type=\"";
    out += type;
    out += "\">";
    out += content;
    out += "</script>\n";
  };
  const std::string data = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  element("packed", "application/octet-stream", base128(gzip(data)));
  element("glue", "application/octet-stream", base128(glue));
  element("worker", "text/plain", script_for_element(web::worker_js()));
  element("solver", "application/octet-stream", base128(module));
  element("live", "application/octet-stream", base128(web::live_js()));
  out += "<script>";
  out += script_for_element(web::boot_js());
  out += "</script>\n</body>\n</html>\n";
  return io::write_text_file(request.output, out, kPageMark);
}

}  // namespace judder::report
