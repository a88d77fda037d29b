// The scripts and styles of web/dist, embedded by the build (cmake/EmbedFiles.cmake).
#pragma once

#include <string_view>

namespace judder::report::web {

[[nodiscard]] std::string_view report_js();
[[nodiscard]] std::string_view report_css();
[[nodiscard]] std::string_view boot_js();
[[nodiscard]] std::string_view live_js();  ///< compressed (gzip)
[[nodiscard]] std::string_view live_css();
[[nodiscard]] std::string_view worker_js();
[[nodiscard]] std::string_view film_js();

}  // namespace judder::report::web
