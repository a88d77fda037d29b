// A figure with its name, as Python has it: judder._core.Figure.
#pragma once

#include <string>

#include "judder/report/figure.hpp"

namespace judder::python {

struct Drawing {
  std::string name;
  report::Figure figure;
};

}  // namespace judder::python
