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
    if (turn()) {
      draft.variant.clear();
      return true;
    }
    if (turn()) {
      const double shift = draft.from;
      draft.from = 0;
      draft.until -= shift;
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

  bool fields(std::vector<Field>& list) {
    for (std::size_t k = list.size(); k > 0; --k) {
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
    for (Expr& e : f.values) {
      if (expression(e)) return true;
    }
    return std::any_of(f.fields.begin(), f.fields.end(), [&](Field& inner) { return values(inner); });
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

  bool expression(Expr& e) {
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
        if (turn()) {
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
