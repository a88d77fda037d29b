// Drawings: shapes whose places follow the coordinates.
#include <algorithm>
#include <array>

#include "model/builder.hpp"

namespace judder::model {
namespace {

struct ShapeWord {
  const char* word;
  Shape shape;
};
constexpr std::array<ShapeWord, 8> kShapes{{{"circle", Shape::circle},
                                            {"box", Shape::box},
                                            {"polygon", Shape::polygon},
                                            {"line", Shape::line},
                                            {"spring", Shape::spring},
                                            {"ground", Shape::ground},
                                            {"belt", Shape::belt},
                                            {"arrow", Shape::arrow}}};

bool has_ends(Shape shape) {
  return shape == Shape::line || shape == Shape::spring || shape == Shape::ground || shape == Shape::belt;
}

}  // namespace

void Builder::read_drawings() {
  int count = 0;
  for (const Draw& d : spec.drawings) read_drawing(d, "draw " + std::to_string(++count));
}

void Builder::read_drawing(const Draw& d, const std::string& where) {
  const auto found = std::find_if(kShapes.begin(), kShapes.end(),
                                  [&d](const ShapeWord& s) { return d.shape.text == s.word; });
  if (found == kShapes.end()) {
    std::vector<std::string> words;
    for (const ShapeWord& s : kShapes) words.emplace_back(s.word);
    const std::string message =
        d.shape.empty() ? "the drawing has no 'shape'" : "there is no shape " + quoted(d.shape.text);
    report_error(d.shape.empty() ? d.span : d.shape.span, where, message, suggestion(d.shape.text, words));
    return;
  }
  const Shape shape = found->shape;
  const int errors_before = result.diagnostics.errors();
  const auto pair = [&](const std::vector<Value>& values, const char* key, bool needed) {
    if ((values.empty() && !needed) || values.size() == 2) return;
    const Span span = values.empty() ? d.span : values.front().text.span;
    report_error(span, where, std::string("'") + key + "' must be two values");
  };
  pair(d.at, "at", shape == Shape::circle || shape == Shape::box || shape == Shape::arrow);
  pair(d.size, "size", shape == Shape::box);
  pair(d.from, "from", has_ends(shape));
  pair(d.to, "to", has_ends(shape));
  pair(d.force, "force", shape == Shape::arrow);
  if (shape == Shape::circle && !d.radius.given) report_error(d.span, where, "a circle needs a 'radius'");
  if (shape == Shape::polygon && d.points.size() < 3)
    report_error(d.span, where, "a polygon needs at least three 'points'");
  for (const auto& point : d.points) pair(point, "points", true);
  if (result.diagnostics.errors() > errors_before) return;

  // In the order of DrawingInfo; null: zero.
  std::vector<const Value*> values;
  const auto add = [&values](const std::vector<Value>& list) {
    for (std::size_t i = 0; i < 2; ++i) values.push_back(i < list.size() ? &list[i] : nullptr);
  };
  const auto add_one = [&values](const Value& value) { values.push_back(value.given ? &value : nullptr); };
  if (has_ends(shape)) {
    add(d.from);
    add(d.to);
    if (shape == Shape::belt) add_one(d.shift);
  } else {
    add(d.at);
    if (shape == Shape::circle) add_one(d.radius);
    if (shape == Shape::box) add(d.size);
    if (shape != Shape::arrow) add_one(d.turn);
    for (const auto& point : d.points) add(point);
  }
  DrawingInfo info;
  info.shape = shape;
  info.numbers = static_cast<int>(values.size());
  if (shape == Shape::arrow) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (!read_arrow_component(d.force[i], where + ", force", info.column[i], info.sign[i])) return;
    }
  }
  for (const Value* value : values) {
    if (value != nullptr) tree(*value, where);
  }
  for (const Instance& instance : instances("draw", d.each, &d.when, where)) {
    info.first = static_cast<int>(drawing_nodes.size());
    info.relation = -1;
    if (d.of.given) {
      const Tree* name = tree(d.of, where + ", of");
      if (name == nullptr) return;
      Tree call;
      call.kind = expr::Kind::call;
      call.text = "mode";
      call.children.push_back(*name);
      Scope scope(*this, kOutput, where + ", of");
      scope.indices = instance.indices;
      const auto relation = scope.mode_of(call);
      if (const auto* no = std::get_if<expr::Forbidden>(&relation)) {
        error(d.of, where + ", of", no->message, no->help);
        return;
      }
      info.relation = std::get<int>(relation);
    }
    for (const Value* value : values) {
      drawing_nodes.push_back(value == nullptr
                                  ? graph.constant(0)
                                  : lower_or_one(*value, kDrawing, where, where, instance.indices));
    }
    drawing_infos.push_back(info);
  }
}

bool Builder::read_arrow_component(const Value& value, const std::string& where, int& column, double& sign) {
  column = -1;
  sign = 1;
  if (value.number && *value.number == 0) return true;
  std::string name = value.text.text;
  if (!name.empty() && name.front() == '-') {
    sign = -1;
    name.erase(0, 1);
  }
  std::vector<std::string> columns;
  for (std::size_t i = 0; i < column_infos.size(); ++i) {
    if (column_infos[i].mode_of >= 0) continue;
    columns.push_back(column_infos[i].name);
    if (column_infos[i].name == name) column = static_cast<int>(i);
  }
  if (column >= 0) return true;
  error(value, where, "there is no output column " + quoted(name),
        suggestion(name, columns).empty()
            ? "components of an arrow are names of [output] columns, such as N = \"normal(floor)\", or 0"
            : suggestion(name, columns));
  return false;
}

}  // namespace judder::model
