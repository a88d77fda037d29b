// judder_hunt: random models from the whole language, each run in every way that must give the same motion (judge.hpp).
//
//     judder_hunt SECONDS [--seed S] [--cases N] [--finds DIR] [--keep DIR] [--known FILE] [--most M] [--with "FEATURE,…"] [--without "FEATURE,…"]
//     judder_hunt --seed S --case K          prints one model and what is found
//     judder_hunt SECONDS --stepping         Moreau-Jean's scheme with shrinking steps beside the event engine, and nothing else
//     judder_hunt --shares --cases N         how often each feature is drawn
//     judder_hunt --models DIR               the models of a folder against what their first line expects
//
// Models are tried in a process of their own, so that a crash or a run that hears no limit costs one model and is a finding like others.
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "draw.hpp"
#include "judder/core/number.hpp"
#include "judge.hpp"
#include "shrink.hpp"

namespace judder::hunt {
namespace {

// --- the limit of a run, in processor time ---

#ifdef JUDDER_SLOW_BUILD
constexpr int kTicksPerSecond = 2;
#else
constexpr int kTicksPerSecond = 20;
#endif
constexpr int kRunTicks = 10;    // a run is told to stop
constexpr int kDeafTicks = 100;  // it did not hear
constexpr int kDeafExit = 98;

// A signal handler has nothing else to write to.
std::atomic<bool> cancel_flag{false};    // NOLINT
volatile std::sig_atomic_t ticks = 0;    // NOLINT
volatile std::sig_atomic_t allowed = 0;  // NOLINT: ticks of the present run; 0: none is running

void on_tick(int) {
  ticks = ticks + 1;
  if (allowed != 0 && ticks > allowed) cancel_flag = true;
  if (ticks > kDeafTicks + allowed) _exit(kDeafExit);
}

class ProcessorLimit : public Limit {
 public:
  ProcessorLimit() {
    std::signal(SIGPROF, on_tick);
    const itimerval interval{{0, 1000000 / kTicksPerSecond}, {0, 1000000 / kTicksPerSecond}};
    setitimer(ITIMER_PROF, &interval, nullptr);
  }
  const std::atomic<bool>* start(int times) override {
    cancel_flag = false;
    ticks = 0;
    allowed = times * kRunTicks;
    return &cancel_flag;
  }
  void stop() override {
    allowed = 0;
    ticks = 0;
  }
};

// --- what one case gives ---

struct Options {
  double seconds = 60;
  std::uint64_t seed = 1, first = 0, cases = UINT64_MAX;
  bool one = false, quiet = false, shares = false;
  bool stepping = false;  ///< Moreau-Jean's scheme alone beside the event engine
  std::string finds = "build/finds/hunt", keep, known, models;
  int most_per_kind = 25;
  std::vector<std::string> without;  ///< features that are not wanted
  std::vector<std::string> with;     ///< one of these is wanted; empty: no matter
};

struct Record {
  std::uint64_t index = 0;
  Outcome outcome;
  std::string features, file;
};

/// Nothing but the comparison with Moreau-Jean's scheme.
Checks stepping_alone() {
  Checks c;
  c.exact = c.permuted = c.units = c.bits = c.until = c.samples = c.resume = c.rows = c.by_value = false;
  c.stepping = true;
  return c;
}

Checks checks_for(std::uint64_t seed, std::uint64_t index) {
  Dice dice(seed ^ 0xC0FFEE, index);
  Checks c;
  c.permuted = dice.chance(0.5);
  c.units = dice.chance(0.35);
  c.bits = dice.chance(0.35);
  c.until = dice.chance(0.35);
  c.samples = dice.chance(0.25);
  c.resume = dice.chance(0.35);
  c.rows = dice.chance(0.25);
  return c;
}

/// Only what the kind of finding needs.
Checks checks_of(const std::string& kind) {
  const auto is = [&](const char* word) { return kind.rfind(word, 0) == 0; };
  Checks c;
  if (is("stepping")) return stepping_alone();
  c.exact = is("exact");
  c.permuted = is("permuted");
  c.units = is("units");
  c.bits = is("bits") || is("units refused");
  c.until = is("until");
  c.samples = is("samples");
  c.resume = is("resume");
  c.rows = is("event rows");
  c.by_value = is("by value") || is("columns");
  return c;
}

std::string slug(const std::string& kind) {
  std::string out;
  for (const char c : kind) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  return out;
}

/// The model without its numbers: equal for models that differ in numbers alone.
std::string structure(const std::string& model) {
  std::string out;
  bool in_number = false;
  for (std::size_t i = 0; i < model.size(); ++i) {
    const char c = model[i];
    const bool digit =
        std::isdigit(static_cast<unsigned char>(c)) != 0 || (in_number && (c == '.' || c == 'e' || c == '-'));
    const bool in_word = i > 0 && std::isalpha(static_cast<unsigned char>(model[i - 1])) != 0;
    if (digit && !in_word) {
      if (!in_number) out += '#';
      in_number = true;
    } else {
      in_number = false;
      out += c;
    }
  }
  return out;
}

std::uint64_t hash(const std::string& text) {
  std::uint64_t h = 0xCBF29CE484222325ULL;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return h;
}

std::string commented(const std::string& text) {
  std::string out = "# ";
  for (const char c : text) out += c == '\n' ? std::string("\n# ") : std::string(1, c);
  return out + "\n";
}

int files_of(const std::string& folder, const std::string& prefix) {
  int out = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string().rfind(prefix + "_", 0) == 0) ++out;
  }
  return out;
}

/// `others`: the same model in the units in which it is another.
std::string save(const Options& options, const std::string& kind, const std::string& comment,
                 const std::string& model, const std::vector<std::string>& others = {}) {
  std::error_code error;
  std::filesystem::create_directories(options.finds, error);
  char number[20];
  std::snprintf(number, sizeof number, "%08x", static_cast<unsigned>(hash(structure(model)) & 0xFFFFFFFFU));
  const std::string name = slug(kind) + "_" + number + ".toml";
  const std::filesystem::path path = std::filesystem::path(options.finds) / name;
  if (std::filesystem::exists(path)) return {};
  std::ofstream(path) << comment << model;
  for (std::size_t k = 0; k < others.size(); ++k) {
    const std::filesystem::path folder = std::filesystem::path(options.finds) / "in-other-units";
    std::filesystem::create_directories(folder, error);
    std::ofstream(folder / (path.stem().string() + "-" + std::to_string(k + 1) + ".toml"))
        << comment << others[k];
  }
  if (!options.keep.empty()) {
    std::filesystem::create_directories(options.keep, error);
    std::ofstream(std::filesystem::path(options.keep) / name) << "# expected: " << kind << "\n"
                                                              << comment << model;
  }
  return path.string();
}

Record try_case(const Options& options, std::uint64_t index, Limit& limit, bool shrink) {
  Record record;
  record.index = index;
  const Draft draft = draw(options.seed, index);
  for (const std::string& f : draft.features) record.features += f + ";";
  record.outcome = judge(draft, options.stepping ? stepping_alone() : checks_for(options.seed, index),
                         options.seed + index, limit);
  const std::string kind = record.outcome.kind;
  if (kind.empty() || !shrink || files_of(options.finds, slug(kind)) >= options.most_per_kind) return record;
  const Checks needed = checks_of(kind);
  const bool slow = kind.find("too slow") != std::string::npos;
  const std::clock_t begin = std::clock();
  const auto same = [&](const Draft& d) {
    constexpr double kMostSeconds = 2;  // of processor time; what is left then is small enough
    if (static_cast<double>(std::clock() - begin) > kMostSeconds * CLOCKS_PER_SEC) return false;
    return judge(d, needed, options.seed + index, limit).kind == kind;
  };
  Draft small = same(draft) ? shrunk(draft, record.outcome.time, same, slow ? 25 : 1200) : draft;
  const Outcome last = judge(small, needed, options.seed + index, limit);
  const std::string comment =
      commented(kind + ": " + (last.kind == kind ? last.detail : record.outcome.detail) + "\nseed " +
                std::to_string(options.seed) + ", case " + std::to_string(index) +
                (small.variant.empty() ? "" : ", variant " + small.variant));
  record.file = save(options, kind, comment, text(small), last.in_other_units);
  return record;
}

// --- the process that tries, and the one that counts ---

constexpr char kBetween = '\x1f';

std::string plain(std::string text) {
  for (char& c : text) {
    if (c == kBetween || c == '\n') c = ' ';
  }
  return text;
}

void send(int out, const std::string& line) {
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = write(out, line.data() + done, line.size() - done);
    if (n <= 0) _exit(97);
    done += static_cast<std::size_t>(n);
  }
}

std::string line_of(const Record& r) {
  std::string out = "done";
  for (const std::string& cell :
       {std::to_string(r.index), plain(r.outcome.refused), plain(r.outcome.ended), plain(r.outcome.kind),
        plain(r.outcome.detail), std::string(r.outcome.sensitive ? "1" : "0"),
        std::string(r.outcome.exact ? "1" : "0"), std::to_string(r.outcome.rows_by_value), r.features, r.file,
        plain(r.outcome.stepping)})
    out += kBetween + cell;
  return out + "\n";
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> out(1);
  for (const char c : line) {
    if (c == kBetween)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

[[noreturn]] void work(const Options& options, std::uint64_t first, std::uint64_t end, double seconds,
                       int out) {
#ifndef JUDDER_SLOW_BUILD  // sanitizers reserve far more than they use
  rlimit memory{};
  memory.rlim_cur = memory.rlim_max = 4ULL << 30U;
  setrlimit(RLIMIT_AS, &memory);
#endif
  ProcessorLimit limit;
  const auto begin = std::chrono::steady_clock::now();
  const auto unwanted = [&](std::uint64_t k) {
    if (options.without.empty() && options.with.empty()) return false;
    const Draft draft = draw(options.seed, k);
    const auto has = [&](const std::string& feature) { return draft.features.count(feature) > 0; };
    if (std::any_of(options.without.begin(), options.without.end(), has)) return true;
    return !options.with.empty() && std::none_of(options.with.begin(), options.with.end(), has);
  };
  for (std::uint64_t k = first; k < end; ++k) {
    if (unwanted(k)) continue;
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > seconds) break;
    send(out, "case" + std::string(1, kBetween) + std::to_string(k) + "\n");
    try {
      send(out, line_of(try_case(options, k, limit, true)));
    } catch (const std::exception& e) {
      Record r;
      r.index = k;
      r.outcome.kind = "exception";
      r.outcome.detail = e.what();
      r.file = save(options, "exception", commented(std::string("exception: ") + e.what()),
                    text(draw(options.seed, k)));
      send(out, line_of(r));
    }
  }
  _exit(0);
}

struct Count {
  long drawn = 0, accepted = 0, finished = 0, ended = 0, found = 0;
};

struct Tally {
  long cases = 0, refused = 0, sensitive = 0, exact = 0, judged_rows = 0, judged = 0, found = 0;
  std::map<std::string, Count> features;
  std::map<std::string, long> refusals, ends, kinds, stepping;
  std::vector<std::string> files;
  std::vector<std::pair<std::uint64_t, std::string>> findings;
};

void add(Tally& tally, const std::vector<std::string>& c) {
  if (c.size() < 11) return;
  ++tally.cases;
  const bool refused = !c[2].empty();
  tally.refused += refused ? 1 : 0;
  if (refused) ++tally.refusals[c[2].substr(0, 90)];
  if (!c[3].empty()) ++tally.ends[c[3]];
  if (!c[4].empty()) {
    ++tally.kinds[c[4]];
    ++tally.found;
    tally.findings.emplace_back(std::stoull(c[1]), c[4]);
  }
  if (c.size() > 11 && !c[11].empty()) ++tally.stepping[c[11]];
  tally.sensitive += c[6] == "1" ? 1 : 0;
  tally.exact += c[7] == "1" ? 1 : 0;
  const long rows = std::stol(c[8]);
  tally.judged_rows += rows;
  tally.judged += rows > 0 ? 1 : 0;
  std::stringstream words(c[9]);
  std::string word;
  while (std::getline(words, word, ';')) {
    Count& count = tally.features[word];
    ++count.drawn;
    if (refused) continue;
    ++count.accepted;
    if (c[3] == "done" || c[3] == "watch")
      ++count.finished;
    else
      ++count.ended;
    if (!c[4].empty()) ++count.found;
  }
  if (!c[10].empty()) tally.files.push_back(c[10]);
}

void print(const Tally& tally) {
  std::printf("%-24s %7s %9s %9s %7s %7s %7s\n", "feature", "drawn", "accepted", "finished", "ended", "found",
              "drawn");
  for (const std::string& feature : all_features()) {
    const auto found = tally.features.find(feature);
    const Count c = found == tally.features.end() ? Count{} : found->second;
    std::printf("%-24s %7ld %9ld %9ld %7ld %7ld %6.1f%%\n", feature.c_str(), c.drawn, c.accepted, c.finished,
                c.ended, c.found,
                100.0 * static_cast<double>(c.drawn) / static_cast<double>(std::max(1L, tally.cases)));
  }
  const auto list = [](const char* title, const std::map<std::string, long>& counts) {
    if (counts.empty()) return;
    std::printf("%s\n", title);
    std::vector<std::pair<long, std::string>> sorted;
    for (const auto& [word, count] : counts) sorted.emplace_back(-count, word);
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [count, word] : sorted) std::printf("  %6ld  %s\n", -count, word.c_str());
  };
  list("refused by the compiler:", tally.refusals);
  list("ends:", tally.ends);
  list("found:", tally.kinds);
  for (const std::string& file : tally.files) std::printf("  %s\n", file.c_str());
}

Tally hunt(const Options& options) {
  Tally tally;
  const auto begin = std::chrono::steady_clock::now();
  const auto passed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  std::uint64_t next = options.first;
  const std::uint64_t end = options.cases == UINT64_MAX ? UINT64_MAX : options.first + options.cases;
  while (next < end && passed() < options.seconds) {
    int ends[2];
    if (pipe(ends) != 0) break;
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      work(options, next, end, options.seconds - passed(), ends[1]);
    }
    close(ends[1]);
    FILE* in = fdopen(ends[0], "r");
    char* line = nullptr;
    std::size_t size = 0;
    std::uint64_t open = UINT64_MAX;  // the case being tried
    while (getline(&line, &size, in) > 0) {
      std::string words(line);
      if (!words.empty() && words.back() == '\n') words.pop_back();
      const std::vector<std::string> cells = cells_of(words);
      if (cells.size() > 1) open = std::stoull(cells[1]);
      if (cells[0] != "done") continue;
      add(tally, cells);
      next = open + 1;
      open = UINT64_MAX;
      if (!options.quiet && cells.size() > 10 && !cells[10].empty())
        std::fprintf(stderr, "%s\n", cells[10].c_str());
    }
    std::free(line);
    std::fclose(in);
    int status = 0;
    waitpid(child, &status, 0);
    if (open == UINT64_MAX) break;
    // The case that ended the process.
    Record r;
    r.index = open;
    r.outcome.kind = WIFEXITED(status) && WEXITSTATUS(status) == kDeafExit ? "hang" : "crash";
    r.outcome.detail = r.outcome.kind == "hang" ? "a run does not hear its limit"
                                                : "signal " + std::to_string(WTERMSIG(status));
    const Draft draft = draw(options.seed, open);
    for (const std::string& f : draft.features) r.features += f + ";";
    r.file = save(options, r.outcome.kind,
                  commented(r.outcome.kind + ": " + r.outcome.detail + "\nseed " +
                            std::to_string(options.seed) + ", case " + std::to_string(open)),
                  text(draft));
    std::string record = line_of(r);
    record.pop_back();
    add(tally, cells_of(record));
    next = open + 1;
  }
  const double seconds = passed();
  if (!options.quiet) print(tally);
  if (!tally.stepping.empty()) {
    std::printf("Moreau-Jean beside the event engine:");
    for (const auto& [word, count] : tally.stepping) std::printf(" %s %ld", word.c_str(), count);
    std::printf("\n");
  }
  std::printf(
      "%ld models in %.1f s (%.0f per second): %ld refused, %ld with the exact engine, %ld judged by value "
      "(%ld rows), %ld sensitive, %ld findings\n",
      tally.cases, seconds, static_cast<double>(tally.cases) / seconds, tally.refused, tally.exact,
      tally.judged, tally.judged_rows, tally.sensitive, tally.found);
  return tally;
}

/// Lines "seed case kind  # reason": findings that are known; "any" where the kind hangs on the clock.
int unknown_findings(const Options& options, const Tally& tally) {
  std::map<std::uint64_t, std::string> known;
  std::ifstream in(options.known);
  std::string line;
  while (std::getline(in, line)) {
    line = line.substr(0, line.find('#'));
    std::stringstream words(line);
    std::uint64_t seed = 0;
    std::uint64_t index = 0;
    if (!(words >> seed >> index) || seed != options.seed) continue;
    std::string kind;
    std::getline(words >> std::ws, kind);
    kind.erase(kind.find_last_not_of(' ') + 1);
    known[index] = kind;
  }
  int unknown = 0;
  for (const auto& [index, kind] : tally.findings) {
    const auto found = known.find(index);
    if (found != known.end() && (found->second == kind || found->second == "any")) {
      known.erase(found);
      continue;
    }
    std::printf("not known: seed %llu case %llu: %s\n", static_cast<unsigned long long>(options.seed),
                static_cast<unsigned long long>(index), kind.c_str());
    ++unknown;
  }
  for (const auto& [index, kind] : known)
    std::printf("known, but no longer found: case %llu: %s\n", static_cast<unsigned long long>(index),
                kind.c_str());
  return unknown;
}

/// Lines "# right: x = -0.5", known by other means: values at the end, to 1e-6. What is wrong, or an empty string.
std::string wrong_values(const std::string& model, const Outcome& outcome) {
  std::stringstream lines(model);
  std::string line;
  const std::string mark = "# right: ";
  while (std::getline(lines, line)) {
    if (line.rfind(mark, 0) != 0) continue;
    const std::size_t equals = line.find(" = ");
    if (equals == std::string::npos) return "cannot be read: " + line;
    const std::string word = line.substr(mark.size(), equals - mark.size());
    const auto value = parse_number(line.substr(equals + 3));
    const auto found = std::find_if(outcome.last.begin(), outcome.last.end(),
                                    [&](const auto& cell) { return cell.first == word; });
    if (!value || found == outcome.last.end()) return "cannot be read: " + line;
    if (!(std::abs(found->second - *value) <= 1e-6 * std::max(1.0, std::abs(*value))))
      return word + " is " + to_text(found->second, 9) + " instead of " + to_text(*value, 9);
  }
  return {};
}

int models(const Options& options) {
  ProcessorLimit limit;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(options.models)) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  int failed = 0;
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file);
    std::stringstream all;
    all << in.rdbuf();
    const std::string model = all.str();
    const std::string mark = "# expected: ";
    std::string expected = "agrees";
    if (model.rfind(mark, 0) == 0) expected = model.substr(mark.size(), model.find('\n') - mark.size());
    std::string variant;
    const std::size_t at = model.find(", variant ");
    if (at != std::string::npos && at < model.find("format"))
      variant = model.substr(at + 10, model.find('\n', at) - at - 10);
    const Outcome o = judge_text(model, variant, Checks{}, 1, limit);
    const bool whole = o.ended == "done" || o.ended == "watch";
    const std::string got = !o.refused.empty() ? "refused"
                            : !o.kind.empty()  ? o.kind
                            : whole            ? "agrees"
                                               : o.ended;
    const bool mended = got == "agrees" && expected != "refused";
    const std::string wrong = got == "agrees" ? wrong_values(model, o) : "";
    const bool ok = (got == expected || mended) && wrong.empty();
    if (!ok) ++failed;
    if (!ok || got != expected || !options.quiet)
      std::printf("%-6s %s: %s (expected: %s) %s%s\n", ok ? "ok" : "FAILED", file.filename().c_str(),
                  got.c_str(), expected.c_str(), (o.detail + wrong).c_str(), o.refused.c_str());
  }
  std::printf("%zu models, %d failed\n", files.size(), failed);
  return failed == 0 ? 0 : 1;
}

/// How often each feature is drawn, without running anything.
int shares(const Options& options) {
  std::map<std::string, long> counts;
  for (std::uint64_t k = 0; k < options.cases; ++k) {
    for (const std::string& feature : draw(options.seed, k).features) ++counts[feature];
  }
  for (const std::string& feature : all_features())
    std::printf("%6.2f%%  %s\n",
                100 * static_cast<double>(counts[feature]) / static_cast<double>(options.cases),
                feature.c_str());
  return 0;
}

int one(const Options& options) {
  const Draft draft = draw(options.seed, options.first);
  std::printf("# seed %llu, case %llu%s\n%s", static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(options.first),
              draft.variant.empty() ? "" : (", variant " + draft.variant).c_str(), text(draft).c_str());
  std::fflush(stdout);
  ProcessorLimit limit;
  const Record r = try_case(options, options.first, limit, false);
  std::printf("# %s\n", !r.outcome.refused.empty() ? ("refused: " + r.outcome.refused).c_str()
                        : r.outcome.kind.empty()   ? ("agrees, " + r.outcome.ended).c_str()
                                                   : (r.outcome.kind + ": " + r.outcome.detail).c_str());
  return r.outcome.kind.empty() ? 0 : 1;
}

int start(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto next = [&]() -> std::string { return i + 1 < count ? words[++i] : ""; };
    if (word == "--seed")
      options.seed = std::stoull(next());
    else if (word == "--case") {
      options.first = std::stoull(next());
      options.one = true;
    } else if (word == "--from")
      options.first = std::stoull(next());
    else if (word == "--cases") {
      options.cases = std::stoull(next());
      options.seconds = 1e9;
    } else if (word == "--finds")
      options.finds = next();
    else if (word == "--keep")
      options.keep = next();
    else if (word == "--known")
      options.known = next();
    else if (word == "--models")
      options.models = next();
    else if (word == "--without" || word == "--with") {
      std::stringstream list(next());
      std::string feature;
      while (std::getline(list, feature, ','))
        (word == "--with" ? options.with : options.without).push_back(feature);
    } else if (word == "--most")
      options.most_per_kind = std::stoi(next());
    else if (word == "--quiet")
      options.quiet = true;
    else if (word == "--stepping")
      options.stepping = true;
    else if (word == "--shares")
      options.shares = true;
    else if (const auto seconds = parse_number(word))
      options.seconds = *seconds;
    else {
      std::fprintf(stderr,
                   "judder_hunt SECONDS [--seed S] [--case K] [--cases N] [--finds DIR] [--keep DIR] "
                   "[--known FILE] [--most M] [--with FEATURES] [--without FEATURES] [--models DIR] "
                   "[--stepping] [--quiet]\n");
      return 2;
    }
  }
  if (options.shares) return shares(options);
  if (options.one) return one(options);
  if (!options.models.empty()) return models(options);
  const Tally tally = hunt(options);
  if (!options.known.empty()) return unknown_findings(options, tally) == 0 ? 0 : 1;
  return tally.found == 0 ? 0 : 1;
}

}  // namespace
}  // namespace judder::hunt

int main(int count, char** words) {
  try {
    return judder::hunt::start(count, words);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "judder_hunt: %s\n", e.what());
    return 2;
  }
}
