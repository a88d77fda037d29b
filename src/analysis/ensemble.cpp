#include "judder/analysis/ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace judder::analysis {
namespace {

/// S. Vigna's mixing of 64 bits (splitmix64).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

}  // namespace

double random_number(std::uint64_t seed, std::uint64_t index, std::uint64_t place) {
  const std::uint64_t bits = mixed(mixed(mixed(seed) ^ index) ^ place);
  return static_cast<double>(bits >> 11U) * 0x1p-53;
}

Plan Plan::grid(std::vector<Axis> axes, std::vector<std::string> variants) {
  Plan out;
  out.each_ = 1;
  for (const Axis& axis : axes) {
    out.names_.push_back(axis.name);
    out.each_ *= axis.values.size();
  }
  out.axes_ = std::move(axes);
  out.variants_ = std::move(variants);
  out.size_ = out.each_ * std::max<std::size_t>(out.variants_.size(), 1);
  return out;
}

Plan Plan::rows(std::vector<std::string> names, std::vector<double> values,
                std::vector<std::string> variants) {
  Plan out;
  out.kind_ = Kind::rows;
  out.each_ = names.empty() ? 0 : values.size() / names.size();
  out.names_ = std::move(names);
  out.rows_ = std::move(values);
  out.variants_ = std::move(variants);
  out.size_ = out.each_ * std::max<std::size_t>(out.variants_.size(), 1);
  return out;
}

Plan Plan::random(std::vector<Axis> ranges, std::size_t count, std::uint64_t seed,
                  std::vector<std::string> variants) {
  Plan out;
  out.kind_ = Kind::random;
  out.each_ = count;
  for (const Axis& axis : ranges) out.names_.push_back(axis.name);
  out.axes_ = std::move(ranges);
  out.seed_ = seed;
  out.variants_ = std::move(variants);
  out.size_ = out.each_ * std::max<std::size_t>(out.variants_.size(), 1);
  return out;
}

std::size_t Plan::variant(std::size_t member) const { return variants_.empty() ? 0 : member / each_; }

void Plan::values(std::size_t member, std::span<double> out) const {
  std::size_t index = variants_.empty() ? member : member % each_;
  switch (kind_) {
    case Kind::grid:
      for (std::size_t a = axes_.size(); a-- > 0;) {
        const std::vector<double>& values = axes_[a].values;
        out[a] = values[index % values.size()];
        index /= values.size();
      }
      break;
    case Kind::rows:
      std::copy_n(rows_.begin() + static_cast<std::ptrdiff_t>(index * names_.size()), names_.size(),
                  out.begin());
      break;
    case Kind::random:
      for (std::size_t a = 0; a < axes_.size(); ++a) {
        const std::vector<double>& ends = axes_[a].values;
        out[a] = ends.front() + (ends.back() - ends.front()) * random_number(seed_, index, a);
      }
      break;
  }
}

std::vector<std::size_t> Plan::probes(std::size_t variant) const {
  constexpr std::size_t kMost = 24;
  std::vector<std::size_t> out;
  const std::size_t begin = variant * each_;
  const auto add = [&](std::size_t member) {
    if (out.size() < kMost && std::find(out.begin(), out.end(), begin + member) == out.end())
      out.push_back(begin + member);
  };
  if (each_ == 0) return out;
  add(0);
  add(each_ - 1);
  for (std::size_t parts = 2; parts <= 16; parts *= 2) {
    for (std::size_t k = 1; k < parts; k += 2) add((each_ - 1) / parts * k + (each_ - 1) % parts * k / parts);
  }
  return out;
}

std::vector<std::size_t> Plan::probes() const {
  std::vector<std::size_t> out;
  const std::size_t variants = std::max<std::size_t>(variants_.size(), 1);
  for (std::size_t v = 0; v < variants && each_ > 0; ++v) out.push_back(v * each_);
  for (std::size_t v = 0; v < variants; ++v) {
    const std::vector<std::size_t> own = probes(v);
    if (!own.empty()) out.insert(out.end(), own.begin() + 1, own.end());
  }
  return out;
}

std::vector<std::size_t> Plan::shape() const {
  std::vector<std::size_t> out;
  if (!variants_.empty()) out.push_back(variants_.size());
  if (kind_ != Kind::grid) {
    out.push_back(each_);
    return out;
  }
  for (const Axis& axis : axes_) out.push_back(axis.values.size());
  return out;
}

Ensemble::Ensemble(model::Spec spec, model::CompileOptions options, Plan plan, Diagnostics& diagnostics)
    : spec_(std::move(spec)), plan_(std::move(plan)) {
  std::vector<double> values(plan_.names().size());
  const std::size_t variants = std::max<std::size_t>(plan_.variants().size(), 1);
  if (plan_.size() == 0) return;
  std::optional<Diagnostics> first_problem;
  for (std::size_t v = 0; v < variants; ++v) {
    Base base;
    base.options = options;
    if (!plan_.variants().empty()) base.options.variants.push_back(plan_.variants()[v]);
    for (const std::size_t member : plan_.probes(v)) {
      plan_.values(member, values);
      base.compiled = model::compile(spec_, with(base, values));
      if (base.compiled.system) break;
      if (!first_problem) first_problem = base.compiled.diagnostics;
    }
    if (base.compiled.system) {
      if (!ok_) {
        ok_ = true;
        first_ = v;
        for (const Diagnostic& each : base.compiled.diagnostics.all()) diagnostics.add(each);
      }
      std::vector<std::string> open;
      is_start_.clear();
      for (const std::string& name : plan_.names()) {
        const auto& parameters = base.compiled.parameters;
        const bool parameter = std::any_of(parameters.begin(), parameters.end(),
                                           [&](const auto& known) { return known.first == name; });
        is_start_.push_back(!parameter);
        if (parameter) open.push_back(name);
      }
      // What the plan sets must not be set twice.
      model::CompileOptions how = base.options;
      std::erase_if(how.set, [&](const model::Named& named) {
        return std::find(open.begin(), open.end(), named.name.text) != open.end();
      });
      base.form = model::compile_form(spec_, open, how).form;
    }
    bases_.push_back(std::move(base));
  }
  if (!ok_ && first_problem) {
    for (const Diagnostic& each : first_problem->all()) diagnostics.add(each);
  }
}

model::CompileOptions Ensemble::with(const Base& base, std::span<const double> values) const {
  model::CompileOptions out = base.options;
  for (std::size_t i = 0; i < values.size(); ++i) {
    model::Named named;
    named.name = plan_.names()[i];
    named.value = model::Value(values[i]);
    out.set.push_back(std::move(named));
  }
  return out;
}

struct Runner::Parts {
  explicit Parts(const Ensemble& of) : ensemble(of) {}
  const Ensemble& ensemble;
  std::vector<double> values;  ///< of the member that is being made
  std::vector<model::Form::Value> parameters, start;
  std::size_t variant = 0;
  std::vector<double> taken;  ///< parameters of `system`
  bool reusable = false;      ///< `system` was bound for them, and can be restarted
  bool changed = true;
  std::string problem;
  std::unique_ptr<model::System> system;
  model::RunOptions run;
  std::unique_ptr<simulate::Repeats> engine;
  std::optional<model::Restart> restart;
  long bound = 0, compiled = 0;

  void put(model::System made, model::RunOptions options) {
    restart.reset();
    engine.reset();
    system = std::make_unique<model::System>(std::move(made));
    run = std::move(options);
    changed = true;
  }
};

Runner::Runner(const Ensemble& ensemble) : parts_(std::make_unique<Parts>(ensemble)) {
  parts_->values.resize(ensemble.plan().names().size());
  for (std::size_t i = 0; i < parts_->values.size(); ++i)
    (ensemble.is_start_[i] ? parts_->start : parts_->parameters)
        .emplace_back(ensemble.plan().names()[i], 0.0);
  parts_->taken.resize(parts_->parameters.size());
}
Runner::~Runner() = default;
Runner::Runner(Runner&&) noexcept = default;

const std::string& Runner::problem() const { return parts_->problem; }
const model::System& Runner::system() const { return *parts_->system; }
const model::RunOptions& Runner::options() const { return parts_->run; }
bool Runner::changed() const { return parts_->changed; }
long Runner::bound() const { return parts_->bound; }
long Runner::compiled() const { return parts_->compiled; }

bool Runner::take(std::size_t member) {
  const Plan& plan = parts_->ensemble.plan();
  plan.values(member, parts_->values);
  return take(plan.variant(member), parts_->values);
}

bool Runner::take(std::size_t variant, std::span<const double> values) {
  Parts& p = *parts_;
  const Ensemble::Base& base = p.ensemble.bases_[variant];
  std::size_t parameter = 0, start = 0;
  bool same = p.reusable && p.variant == variant;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (p.ensemble.is_start_[i]) {
      p.start[start++].second = values[i];
    } else {
      same = same && p.taken[parameter] == values[i];
      p.parameters[parameter++].second = values[i];
    }
  }
  p.problem.clear();
  p.changed = false;
  if (same && p.restart->begin(p.start)) return true;
  p.reusable = false;
  p.variant = variant;
  if (base.form) {
    model::Bound made = base.form->bind(p.parameters, p.start);
    if (made.system) {
      p.put(std::move(*made.system), std::move(made.run));
      p.restart.emplace(*base.form, *p.system);
      for (std::size_t i = 0; i < p.parameters.size(); ++i) p.taken[i] = p.parameters[i].second;
      p.reusable = true;
      ++p.bound;
      return true;
    }
  }
  model::Compiled made = model::compile(p.ensemble.spec_, p.ensemble.with(base, values));
  ++p.compiled;
  if (made.system) {
    p.put(std::move(*made.system), std::move(made.run));
    return true;
  }
  for (const Diagnostic& each : made.diagnostics.all()) {
    if (p.problem.empty() && each.severity == Severity::error) p.problem = each.message;
  }
  if (p.problem.empty()) p.problem = "the model does not compile with these values";
  return false;
}

simulate::Repeats& Runner::engine() {
  Parts& p = *parts_;
  if (!p.engine) p.engine = std::make_unique<simulate::Repeats>(*p.system, p.run.engine);
  return *p.engine;
}

}  // namespace judder::analysis
