// What all pages are written with: texts between tags, JSON and scripts inside script elements.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace judder::report {

/// In the first bytes of every page, so that a page may be replaced and nothing else.
inline constexpr std::string_view kPageMark = "class=\"judder-page\"";

/// Text between tags.
[[nodiscard]] std::string html_text(std::string_view text);
/// JSON that may stand in a script element: nothing in it can end the element or begin a comment of markup.
[[nodiscard]] std::string json_for_script(const nlohmann::ordered_json& json);
/// A script of ours that may stand in a script element, whatever its texts hold.
[[nodiscard]] std::string script_for_element(std::string_view script);

/// From the doctype to the begin of the body. `policy`: the content policy.
[[nodiscard]] std::string page_head(std::string_view title, std::string_view policy, std::string_view style);

}  // namespace judder::report
