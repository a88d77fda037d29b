#include "judder/report/film_page.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "judder/core/number.hpp"
#include "report/html.hpp"
#include "report/page_run.hpp"
#include "report/web_files.hpp"

namespace judder::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";
constexpr std::string_view kPicture = "picture:";

/// RFC 4648; anything else ends it.
std::string from_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    int digit = -1;
    if (c >= 'A' && c <= 'Z')
      digit = c - 'A';
    else if (c >= 'a' && c <= 'z')
      digit = c - 'a' + 26;
    else if (c >= '0' && c <= '9')
      digit = c - '0' + 52;
    else if (c == '+')
      digit = 62;
    else if (c == '/')
      digit = 63;
    if (digit < 0) break;
    bits = bits << 6U | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> static_cast<unsigned>(count) & 255U);
    }
  }
  return out;
}

/// width="720" of the root of a figure.
std::optional<double> attribute(const std::string& svg, std::string_view name) {
  const std::string_view root = std::string_view(svg).substr(0, svg.find('>'));
  const std::string key = " " + std::string(name) + "=\"";
  const std::size_t begin = root.find(key);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view value = root.substr(begin + key.size());
  return parse_number(value.substr(0, value.find('"')));
}

}  // namespace

FilmPage film_page(const FilmRequest& request) {
  FilmPage out;
  PageRun run;
  out.status = page_run(request.folder, request.cancel, run);
  if (!out.status.ok()) return out;
  const bool plane = std::any_of(run.plots.begin(), run.plots.end(),
                                 [](const auto& plot) { return plot.size() > 1 && plot[0] != "t"; });
  if (!run.json.contains("scene") && !plane && !run.plots.empty()) {
    out.problem = "the model has no drawing ([[draw]]) and no plot of one column over another";
    return out;
  }
  const Json json{
      {"title", run.model_title},
      {"program", ""},
      {"plots", run.plots},
      {"runs", Json::array({run.json})},
      {"film", {{"frames", request.frames}, {"width", request.width}, {"height", request.height}}}};
  out.html = page_head(run.model_title, kPolicy, web::report_css());
  out.html += "<script id=\"data\" type=\"application/json\">";
  out.html += json_for_script(json);
  out.html += "</script>\n<script>";
  out.html += script_for_element(web::film_js());
  out.html += "</script>\n</body>\n</html>\n";
  return out;
}

std::vector<std::string> film_pictures(std::string_view page) {
  std::vector<std::string> out;
  // The script of the page has the word in quotes; a picture has it at the begin of a line of the element for pictures.
  const std::size_t begin = page.find("<pre id=\"pictures\">");
  if (begin == std::string_view::npos) return out;
  page = page.substr(begin, page.find("</pre>", begin) - begin);
  for (std::size_t at = page.find(kPicture); at != std::string_view::npos; at = page.find(kPicture, at + 1))
    out.push_back(from_base64(page.substr(at + kPicture.size())));
  return out;
}

std::string print_page(const std::string& svg, double& width, double& height) {
  const std::size_t root = svg.find("<svg");
  if (root == std::string::npos) return {};
  const std::string figure = svg.substr(root);
  const auto w = attribute(figure, "width"), h = attribute(figure, "height");
  if (!w || !h) return {};
  width = *w;
  height = *h;
  const std::string size = to_text(width) + "px " + to_text(height) + "px";
  return "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><style>@page{size:" + size +
         ";margin:0}html,body{margin:0}svg{display:block}</style></head><body>" + figure + "</body></html>\n";
}

}  // namespace judder::report
