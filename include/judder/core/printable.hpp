// Text of strangers (titles, names, source lines, cells, file names) made safe to look at.
//
// A terminal obeys control characters: a title can recolour it, rename its window or hide what stands before. Characters that say how to
// show others (the directions of U+202E) can make a line read as what it is not, and those that nobody sees (Unicode's
// Default_Ignorable_Code_Point: joiners, fillers, variation selectors, tags) make two names look like one. All of them are written out as
// text: \x1b, \u202e. Letters, combining marks and spaces pass.
#pragma once

#include <string>
#include <string_view>

namespace judder {

/// Control characters but for tab and newline, bytes that are no UTF-8, and what is not seen, as text.
[[nodiscard]] std::string printable(std::string_view text);

/// The same for a name in a line: newlines and tabs are written out too, and of more than `longest` characters the middle is left out.
[[nodiscard]] std::string printable_name(std::string_view name, std::size_t longest = 80);

}  // namespace judder
