#include "judder/report/page.hpp"

#include <cstdint>

#include "judder/io/files.hpp"
#include "judder/io/version.hpp"
#include "report/html.hpp"
#include "report/page_run.hpp"
#include "report/web_files.hpp"

namespace judder::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

/// A watched page may ask for the file beside it, and for nothing else.
constexpr std::string_view kWatchedPolicy =
    "default-src 'none'; script-src 'unsafe-inline' file:; style-src 'unsafe-inline'; img-src data:";
constexpr std::string_view kNoteMark = "judder_note(";

/// Another one for every other page.
std::string stamp_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return std::to_string(hash);
}

io::FileStatus write_note(const std::filesystem::path& page, const std::string& stamp,
                          const std::string& problems) {
  const Json note{{"stamp", stamp}, {"problems", problems}};
  return io::write_text_file(
      page_note(page),
      std::string(kNoteMark) + note.dump(-1, ' ', true, Json::error_handler_t::replace) + ");\n", kNoteMark);
}

std::string page_text(const Json& json, const std::string& title, bool watched) {
  std::string out = page_head(title, watched ? kWatchedPolicy : kPolicy, web::report_css());
  out += "<script id=\"data\" type=\"application/json\">";
  out += json_for_script(json);
  out += "</script>\n<script>";
  out += script_for_element(web::report_js());
  out += "</script>\n</body>\n</html>\n";
  return out;
}

}  // namespace

WrittenPage write_page(const PageRequest& request) {
  WrittenPage out;
  Json runs = Json::array();
  std::string title;
  std::vector<std::vector<std::string>> plots;
  for (const std::filesystem::path& folder : request.folders) {
    PageRun run;
    out.status = page_run(folder, request.cancel, run);
    if (!out.status.ok()) return out;
    if (runs.empty()) {
      title = request.folders.size() == 1 ? run.json.value("title", run.model_title) : run.model_title;
      plots = run.plots;
    }
    out.problems.insert(out.problems.end(), run.problems.begin(), run.problems.end());
    runs.push_back(std::move(run.json));
  }
  Json json{{"title", title},
            {"program", "Judder " + std::string(io::version())},
            {"plots", plots},
            {"runs", std::move(runs)}};
  out.file = request.output.empty() ? request.folders.front() / "report.html" : request.output;
  std::string stamp;
  if (request.watched) {
    stamp = stamp_of(json.dump(-1, ' ', false, Json::error_handler_t::replace));
    json["watch"] = {{"stamp", stamp}, {"note", page_note(out.file).filename().string()}};
  }
  out.status = io::write_text_file(out.file, page_text(json, title, request.watched), kPageMark);
  // The page before the word that it is there.
  if (request.watched && out.status.ok()) out.status = write_note(out.file, stamp, {});
  return out;
}

std::filesystem::path page_note(const std::filesystem::path& page) {
  return page.parent_path() / (page.stem().string() + ".note.js");
}

io::FileStatus write_page_problems(const std::filesystem::path& page, const std::string& problems) {
  return write_note(page, {}, problems);
}

}  // namespace judder::report
