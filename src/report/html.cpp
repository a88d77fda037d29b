#include "report/html.hpp"

#include "judder/core/printable.hpp"

namespace judder::report {

using Json = nlohmann::ordered_json;

std::string html_text(std::string_view text) {
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

std::string json_for_script(const Json& json) {
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

std::string script_for_element(std::string_view script) {
  // In JavaScript "</" and "<!--" are only met inside texts, regular expressions and comments, where a backslash before "/" and "!" changes nothing.
  std::string out;
  out.reserve(script.size());
  for (std::size_t i = 0; i < script.size(); ++i) {
    out += script[i];
    const std::string_view next = script.substr(i + 1);
    if (script[i] == '<' && (next.substr(0, 7) == "/script" || next.substr(0, 3) == "!--")) out += '\\';
  }
  return out;
}

std::string page_head(std::string_view title, std::string_view policy, std::string_view style) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\" class=\"judder-page\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"";
  out += policy;
  out += "\">\n<title>";
  out += html_text(printable_name(std::string(title), 200));
  out += "</title>\n<style>";
  out += style;
  out +=
      "</style>\n</head>\n<body>\n<main id=\"page\"><noscript>This page draws with "
      "JavaScript.</noscript></main>\n";
  return out;
}

}  // namespace judder::report
