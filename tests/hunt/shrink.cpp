#include "shrink.hpp"

#include <algorithm>
#include <cmath>

#include "judder/core/number.hpp"

namespace judder::hunt {
namespace {

/// All changes that make a draft smaller, counted; the one with number `wanted` is made.
class Edit {
 public:
  explicit Edit(int wanted) : left_(wanted) {}

  /// False: there is no change of that number.
  bool apply(Draft& draft) {
    draft_ = &draft;
    if (!draft.variant.empty() && turn()) {
      draft.variant.clear();
      return true;
    }
    if (draft.from != 0 && turn()) {
      const double shift = draft.from;
      draft.from = 0;
      draft.until -= shift;
      return true;
    }
    for (std::size_t k = draft.elements.size(); k > 0; --k) {
      if (draft.elements[k - 1].section != "coordinates" || !turn()) continue;
      without_coordinate(draft, std::string(draft.elements[k - 1].name));
      return true;
    }
    for (std::size_t k = draft.elements.size(); k > 0; --k) {
      if (draft.elements[k - 1].section == "energy" && draft.elements[k - 1].fields.size() > 1) continue;
      if (!turn()) continue;
      draft.elements.erase(draft.elements.begin() + static_cast<std::ptrdiff_t>(k - 1));
      return true;
    }
    for (Element& e : draft.elements) {
      if (fields(e.fields)) return true;
    }
    for (Element& e : draft.elements) {
      for (Field& f : e.fields) {
        if (values(f)) return true;
      }
    }
    return false;
  }

 private:
  int left_;
  Draft* draft_ = nullptr;
  bool turn() { return left_-- == 0; }

  static bool mentions(const Expr& e, const std::string& word) {
    if (e.op == Op::name && (e.word == word || e.word == word + "'")) return true;
    return std::any_of(e.args.begin(), e.args.end(), [&](const Expr& a) { return mentions(a, word); });
  }
  static bool mentions(const Field& f, const std::string& word) {
    return std::any_of(f.values.begin(), f.values.end(), [&](const Expr& e) { return mentions(e, word); }) ||
           std::any_of(f.fields.begin(), f.fields.end(),
                       [&](const Field& inner) { return mentions(inner, word); });
  }

  /// A coordinate goes with all that speaks of it: terms of the energies, whole elements otherwise.
  static void without_coordinate(Draft& draft, const std::string& word) {
    for (Element& e : draft.elements) {
      if (e.section != "energy") continue;
      for (Field& f : e.fields) {
        if (f.values[0].op != Op::add) continue;
        std::erase_if(f.values[0].args, [&](const Expr& term) { return mentions(term, word); });
      }
      std::erase_if(e.fields,
                    [&](const Field& f) { return f.values[0].op == Op::add && f.values[0].args.empty(); });
    }
    std::erase_if(draft.elements, [&](const Element& e) {
      if (e.section == "coordinates") return e.name == word;
      if (e.section == "matrices") return true;  // its rows are those of all coordinates
      if (e.section == "variants") return e.find(word) != nullptr || e.find(word + "'") != nullptr;
      return std::any_of(e.fields.begin(), e.fields.end(), [&](const Field& f) { return mentions(f, word); });
    });
  }

  bool fields(std::vector<Field>& list) {
    for (std::size_t k = list.size(); k > 0; --k) {
      if (list[k - 1].key == "outside") continue;  // a table that is left ends the run, and rightly so
      if (!turn()) continue;
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(k - 1));
      return true;
    }
    for (Field& f : list) {
      if (!f.fields.empty() && fields(f.fields)) return true;
      if (f.kind == Field::Kind::table && f.fields.size() == 1 && f.fields[0].kind == Field::Kind::value &&
          turn()) {
        f.kind = Field::Kind::value;  // { mu = 0.3 } is 0.3
        f.values = f.fields[0].values;
        f.fields.clear();
        return true;
      }
    }
    return false;
  }

  bool values(Field& f) {
    const bool velocity = f.key == "along" || f.key == "slip" || f.key == "gap" || f.key == "zero";
    if (f.key == "kinetic")
      return f.values[0].op == Op::add && dropped(f.values[0]);  // inertia stays positive
    for (Expr& e : f.values) {
      // A normal force is kept from being negative by what stands outermost.
      if (f.key == "normal" && e.op == Op::call) {
        if (std::any_of(e.args.begin(), e.args.end(), [&](Expr& a) { return expression(a); })) return true;
      } else if (expression(e, velocity)) {
        return true;
      }
    }
    return std::any_of(f.fields.begin(), f.fields.end(), [&](Field& inner) { return values(inner); });
  }

  /// One term less, while there are more.
  bool dropped(Expr& e) {
    for (std::size_t k = e.args.size(); k > 0 && e.args.size() > 1; --k) {
      if (!turn()) continue;
      e.args.erase(e.args.begin() + static_cast<std::ptrdiff_t>(k - 1));
      return true;
    }
    return false;
  }

  bool number_edit(Expr& e) {
    for (const double round : {0.0, 1.0}) {
      if (e.number != round && turn()) {
        e.number = round;
        return true;
      }
    }
    if (e.number < 0 && turn()) {
      e.number = -e.number;
      return true;
    }
    for (const int digits : {1, 2}) {
      const double round = parse_number(to_text(e.number, digits)).value_or(e.number);
      if (round != e.number && turn()) {
        e.number = round;
        return true;
      }
    }
    return false;
  }

  /// `whole`: a number in its place would make no sense.
  bool expression(Expr& e, bool whole = false) {
    if (e.op == Op::number) return number_edit(e);
    if (e.op == Op::name) {
      for (const char* section : {"parameters", "definitions"}) {
        const Element* found = draft_->find(section, e.word);
        if (found != nullptr && turn()) {
          e = Expr(found->fields[0].values[0]);
          return true;
        }
      }
    }
    if (e.op == Op::text) return false;
    const bool condition = e.op == Op::less || e.op == Op::at_least;
    if (!condition) {
      for (const double simple : {0.0, 1.0}) {
        if (!whole && turn()) {
          e = number(simple, e.dimension);
          return true;
        }
      }
      for (std::size_t k = 0; k < e.args.size(); ++k) {
        const bool inside = e.args[k].op == Op::less || e.args[k].op == Op::at_least;
        if (inside || e.op == Op::prime || !(e.args[k].dimension == e.dimension) ||
            e.args[k].op == Op::number)
          continue;
        if (turn()) {
          e = Expr(e.args[k]);
          return true;
        }
      }
    }
    if (e.op == Op::add || e.op == Op::multiply) {
      for (std::size_t k = e.args.size(); k > 0 && e.args.size() > 1; --k) {
        if (e.op == Op::multiply && !(e.args[k - 1].dimension == kPure)) continue;
        if (!turn()) continue;
        e.args.erase(e.args.begin() + static_cast<std::ptrdiff_t>(k - 1));
        if (e.args.size() == 1) e = Expr(e.args[0]);
        return true;
      }
    }
    if (e.op == Op::call && e.word == "sqrt") return false;  // its argument was made positive
    if (e.op == Op::power && e.args[1].number != std::round(e.args[1].number)) return false;
    if (e.op == Op::power) return expression(e.args[0]);  // another exponent has another dimension
    return std::any_of(e.args.begin(), e.args.end(), [&](Expr& a) { return expression(a); });
  }
};

}  // namespace

Draft shrunk(Draft draft, double time, const std::function<bool(const Draft&)>& same, int tries) {
  const auto shorten = [&](Draft& d) {
    for (const double factor : {1.02, 1.3, 2.0}) {
      Draft candidate = d;
      const double length = (time - d.from) * factor;
      if (length <= 0) continue;
      const double power = std::pow(10, std::floor(std::log10(length)) - 1);
      candidate.until = d.from + std::ceil(length / power) * power;
      candidate.until = parse_number(to_text(candidate.until, 4)).value_or(candidate.until);
      if (candidate.until >= d.until || --tries < 0 || !same(candidate)) continue;
      d = candidate;
      return;
    }
  };
  shorten(draft);
  bool changed = true;
  while (changed && tries > 0) {
    changed = false;
    for (int k = 0; tries > 0;) {
      Draft candidate = draft;
      if (!Edit(k).apply(candidate)) break;
      if (text(candidate) == text(draft)) {
        ++k;
        continue;
      }
      --tries;
      if (same(candidate)) {
        draft = std::move(candidate);
        changed = true;
      } else {
        ++k;
      }
    }
  }
  return draft;
}

}  // namespace judder::hunt
