#include "judder/report/page.hpp"

#include "judder/core/printable.hpp"
#include "judder/io/files.hpp"
#include "judder/io/version.hpp"
#include "report/page_run.hpp"
#include "report/web_files.hpp"

namespace judder::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPageMark = "class=\"judder-page\"";

/// Text between tags.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// JSON that may stand in a script element: nothing in it can end the element or begin a comment of markup.
std::string embedded(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

std::string page_text(const Json& json, const std::string& title) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\" class=\"judder-page\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
      "'unsafe-inline'; "
      "style-src 'unsafe-inline'; img-src data:\">\n<title>";
  out += escaped(printable_name(title, 200));
  out += "</title>\n<style>";
  out += web::report_css();
  out +=
      "</style>\n</head>\n<body>\n<main id=\"page\"><noscript>This page draws with "
      "JavaScript.</noscript></main>\n"
      "<script id=\"data\" type=\"application/json\">";
  out += embedded(json);
  out += "</script>\n<script>";
  out += web::report_js();
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
  const Json json{{"title", title},
                  {"program", "Judder " + std::string(io::version())},
                  {"plots", plots},
                  {"runs", std::move(runs)}};
  out.file = request.output.empty() ? request.folders.front() / "report.html" : request.output;
  out.status = io::write_text_file(out.file, page_text(json, title), kPageMark);
  return out;
}

}  // namespace judder::report
