// Formulas as texts in which some variables have another look than their names give them: the label that the author of a model
// wrote, or the letter that a law has for the speed of its slip.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "judder/expr/graph.hpp"

namespace judder::expr {

/// What stands for a variable, in the signs of the notation.
struct Looks {
  std::map<std::string, std::string> by_name;
  std::map<Variable, std::string> by_variable;  ///< before the name
};

class NamedTexts {
 public:
  NamedTexts(const Graph& graph, std::size_t longest, Notation notation, const Looks& looks);
  ~NamedTexts();
  NamedTexts(const NamedTexts&) = delete;
  NamedTexts& operator=(const NamedTexts&) = delete;
  /// As Texts::use, Texts::operator() and Texts::factor.
  void use(Patience* patience);
  [[nodiscard]] std::string operator()(Node a);
  [[nodiscard]] std::string factor(Node a);

 private:
  std::unique_ptr<Texts::Parts> parts_;
};

/// Two factors beside one another, the first fit to be one: with a dot where the second begins with a digit, else with a thin space.
[[nodiscard]] std::string product_in(Notation notation, const std::string& a, const std::string& b);

}  // namespace judder::expr
