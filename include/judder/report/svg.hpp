// A figure as a standalone SVG 1.1 file.
//
// Axes with round ticks (1, 2 or 5 times a power of ten, factored out where numbers would be long), light grid, a legend
// above each panel where it hides nothing, colours of Okabe and Ito that people with any colour vision can tell apart,
// text as text in the reader's sans-serif font. No script, no style sheet, no reference to anything outside.
//
// Long series are thinned to what a pixel can show: for curves over an ascending abscissa the first, least, greatest and
// last value of every half pixel are kept, so no extreme is lost; other curves are kept within a twentieth of a pixel. A million points
// make a file of about 100 kB. Equal figures give equal bytes.
//
// M. Okabe and K. Ito, Color universal design (2008).
#pragma once

#include <string>

#include "judder/report/figure.hpp"

namespace judder::report {

/// The SVG text. A figure without data gives empty axes.
[[nodiscard]] std::string to_svg(const Figure& figure);

}  // namespace judder::report
