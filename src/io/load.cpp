#include "judder/io/load.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "judder/core/number.hpp"
#include "judder/core/printable.hpp"
#include "judder/engines/registry.hpp"
#include "judder/simulate/simulate.hpp"

namespace judder::io {
namespace {

bool overlaps(Span a, Span b) { return !a.empty() && !b.empty() && a.begin < b.end && b.begin < a.end; }

/// True for a complaint of the compiler about something that the reader has complained about already: the same place, a
/// table that lost a key, the use of a name that was refused, or what stands in a table that nobody knows.
bool echoes(const Diagnostic& message, const ModelFile& file) {
  for (const Diagnostic& known : file.diagnostics.all()) {
    if (overlaps(known.span, message.span)) return true;
  }
  for (const Span damaged : file.damaged) {
    if (damaged.begin == message.span.begin && damaged.end == message.span.end) return true;
  }
  // Without a place: the model as a whole lacks something, which may stand in a table that nobody knows.
  if (message.span.empty()) return file.lost_table;
  if (message.span.end > file.text.size()) return false;
  std::string_view place =
      std::string_view(file.text).substr(message.span.begin, message.span.end - message.span.begin);
  const auto in_name = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  while (!place.empty()) {
    const auto end = std::find_if_not(place.begin(), place.end(), in_name);
    const std::string_view name = place.substr(0, static_cast<std::size_t>(end - place.begin()));
    if (!name.empty() && std::find(file.refused.begin(), file.refused.end(), name) != file.refused.end())
      return true;
    place.remove_prefix(std::max<std::size_t>(name.size(), 1));
  }
  return false;
}

/// Names of columns are free, and go to tables, figures and terminals. What is no text in them is written out here, once for all of these.
void write_out_names(model::Output& output) {
  const auto written_out = [](std::string& name) { name = printable_name(name, name.size() + 1); };
  for (model::OutputColumn& column : output.columns) written_out(column.name.text);
  for (std::vector<model::Text>& plot : output.plots) {
    for (model::Text& name : plot) written_out(name.text);
  }
}

}  // namespace

std::optional<model::Named> parse_setting(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return std::nullopt;
  const auto trimmed = [](std::string part) {
    part.erase(0, std::min(part.find_first_not_of(' '), part.size()));
    part.erase(part.find_last_not_of(' ') + 1);
    return part;
  };
  const std::string name = trimmed(text.substr(0, equals));
  const std::string value = trimmed(text.substr(equals + 1));
  if (name.empty() || value.empty()) return std::nullopt;
  model::Named named;
  named.name = name;
  if (const auto number = parse_number(value))
    named.value = model::Value(*number);
  else
    named.value = model::Value(value);
  return named;
}

model::CompileOptions compile_options(const ModelRequest& request) {
  model::CompileOptions options;
  options.variants = request.variants;
  options.set = request.set;
  options.free = request.free;
  options.engine = request.engine;
  options.engines = engines::engine_words();
  options.work = WorkLimits{}.times(request.work);
  options.limit *= request.work;
  options.cancel = request.cancel;
  return options;
}

ModelFile read_model(const ModelRequest& request) {
  return request.text ? read_model_text(*request.text, request.file.string(), request.folder)
                      : read_model(request.file);
}

LoadedModel load_model(const ModelRequest& request) { return load_model(read_model(request), request); }

LoadedModel load_model(ModelFile file, const ModelRequest& request) {
  LoadedModel loaded;
  loaded.file = std::move(file);
  loaded.file.spec.functions = request.functions;
  for (const Diagnostic& message : loaded.file.diagnostics.all()) loaded.diagnostics.add(message);
  if (!loaded.file.parsed) return loaded;

  write_out_names(loaded.file.spec.output);
  if (!request.engine.empty()) loaded.file.spec.run.engine = request.engine;
  if (!request.until.empty()) loaded.file.spec.run.until = model::Value(request.until);
  // Only the way in which the impulses are found: restitution and everything else that the model says of its impacts stay.
  if (!request.impact_law.empty()) {
    bool any = false;
    for (model::Contact& contact : loaded.file.spec.contacts) {
      if (contact.compliant.stated()) continue;  // has no impacts
      contact.impact.type = request.impact_law;
      any = true;
    }
    if (!any) {
      loaded.diagnostics.error({}, "--law",
                               "the model has no rigid contact whose impact law could be another one");
      loaded.misused = true;
    }
  }
  model::CompileOptions options = compile_options(request);
  options.damaged = loaded.file.diagnostics.has_errors();
  loaded.compiled = model::compile(loaded.file.spec, options);
  for (const Diagnostic& message : loaded.compiled.diagnostics.all()) {
    if (echoes(message, loaded.file)) continue;
    Diagnostic named = message;
    if (!request.until.empty() && message.where == "run, until") {  // as the user has given it
      named.where = "--until " + request.until;
      loaded.misused = loaded.misused || message.severity == Severity::error;
    }
    loaded.diagnostics.add(std::move(named));
  }
  return loaded;
}

std::string not_linear_text(const LoadedModel& model) {
  const model::LinearStructure& linear = model.compiled.system->linear();
  std::string out = simulate::engine_problem(*model.compiled.system, "exact");
  if (!linear.span.empty())
    out += " at line " + std::to_string(position(model.file.text, linear.span.begin).line);
  return out;
}

namespace {

/// Where the element that a problem names in its first words ("contact 'p' has 2 slip components") stands in the file.
Span place_of_element(const model::System& system, const model::Spec& spec, const std::string& problem) {
  const auto named = [&](const auto& elements, const std::string& name) {
    for (const auto& element : elements) {
      if (element.name.text == name.substr(0, name.find('['))) return element.name.span;
    }
    return Span{};
  };
  for (const model::Relation& relation : system.relations()) {
    if (problem.compare(0, relation.place.size(), relation.place) != 0) continue;
    return relation.kind == model::RelationKind::contact      ? named(spec.contacts, relation.name)
           : relation.kind == model::RelationKind::constraint ? named(spec.constraints, relation.name)
                                                              : named(spec.joints, relation.name);
  }
  return {};
}

}  // namespace

LoadedModel load_with_names(const ModelFile& file, const ModelRequest& request, const LoadedModel& known,
                            std::vector<std::string>& numbers) {
  constexpr std::size_t kMostTried = 200;  // each costs a compilation
  ModelRequest open = request;
  open.free.clear();
  numbers.clear();
  for (const auto& [name, value] : known.compiled.parameters) open.free.push_back(name);
  LoadedModel out = load_model(file, open);
  if (out.ok() || open.free.size() > kMostTried) return out;
  std::vector<std::string> kept;
  for (const std::string& name : open.free) {
    ModelRequest one = request;
    one.free = {name};
    (load_model(file, one).ok() ? kept : numbers).push_back(name);
  }
  open.free = kept;
  return load_model(file, open);
}

void check_engine(const ModelRequest& request, LoadedModel& model) {
  const model::RunOptions& run = model.compiled.run;
  const std::string problem = simulate::engine_problem(*model.compiled.system, run.engine);
  if (problem.empty()) return;
  const model::LinearStructure& linear = model.compiled.system->linear();
  const bool option = !request.engine.empty();
  const Span written = option ? Span{} : model.file.spec.run.engine.span;
  const std::string place = option ? "--engine" : "run, engine";
  if (run.engine == "exact" && !linear.linear()) {
    model.diagnostics.error(linear.span.empty() ? written : linear.span,
                            linear.where.empty() ? place : linear.where, not_linear_text(model),
                            "the engine 'event' runs every model; 'auto' takes 'exact' where it applies");
  } else {
    const Span element = place_of_element(*model.compiled.system, model.file.spec, problem);
    model.diagnostics.error(written.empty() ? element : written, place, problem);
  }
}

LoadedModel check_model(const ModelRequest& request) {
  LoadedModel loaded = load_model(request);
  if (loaded.ok()) check_engine(request, loaded);
  if (!loaded.ok() || !request.variants.empty()) return loaded;
  double spent = loaded.compiled.work;
  std::size_t checked = 0;
  model::Spec alone =
      loaded.file.spec;  // with one variant at a time: the others have been read with the model
  for (const model::Variant& variant : loaded.file.spec.variants) {
    model::CompileOptions options = compile_options(request);
    // All variants together may cost what one model may.
    if (spent > options.work.operations || loaded.diagnostics.errors() > options.work.errors) {
      loaded.diagnostics.warning(variant.name.span, "variants",
                                 "only the first " + std::to_string(checked) + " of " +
                                     std::to_string(loaded.file.spec.variants.size()) +
                                     " variants were checked",
                                 "name one with --variant, or allow ten times the work with --work 10");
      break;
    }
    ++checked;
    options.variants = {variant.name.text};
    alone.variants = {variant};
    const model::Compiled compiled = model::compile(alone, options);
    if (compiled.cancelled) {
      // The variant is not wrong, and what of it was not looked at is not known.
      loaded.compiled.cancelled = true;
      loaded.compiled.system.reset();
      loaded.diagnostics.error({}, "", "interrupted while the variants were checked");
      break;
    }
    spent += compiled.work;
    for (Diagnostic message : compiled.diagnostics.all()) {
      if (message.severity != Severity::error) continue;
      message.message = "with the variant '" + variant.name.text + "': " + message.message;
      loaded.diagnostics.add(std::move(message));
    }
  }
  return loaded;
}

std::string check_summary(const LoadedModel& loaded) {
  const model::System& system = *loaded.compiled.system;
  const auto count = [](std::ptrdiff_t number, const std::string& noun) {
    return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
  };
  std::string out = printable_name(loaded.file.name, loaded.file.name.size() + 1) + ": " +
                    count(system.layout().coordinates, "coordinate");
  if (system.layout().states > 0) out += ", " + count(system.layout().states, "state");
  const auto add = [&](model::RelationKind kind, const char* noun) {
    const std::vector<model::Relation>& all = system.relations();
    const auto number =
        std::count_if(all.begin(), all.end(), [kind](const model::Relation& r) { return r.kind == kind; });
    if (number > 0) out += ", " + count(number, noun);
  };
  add(model::RelationKind::contact, "contact");
  add(model::RelationKind::joint, "friction joint");
  add(model::RelationKind::constraint, "constraint");
  if (!system.switches().empty())
    out += ", " + count(static_cast<std::ptrdiff_t>(system.switches().size()), "switch surface");
  const std::vector<Diagnostic>& messages = loaded.diagnostics.all();
  const auto warnings = std::count_if(messages.begin(), messages.end(),
                                      [](const Diagnostic& d) { return d.severity == Severity::warning; });
  return out + "; no errors" + (warnings > 0 ? ", " + count(warnings, "warning") : "") + "\n";
}

}  // namespace judder::io
