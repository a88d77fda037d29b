#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <optional>
#include <system_error>

#include "io/disk.hpp"
#include "io/event_table.hpp"
#include "io/folder_lock.hpp"
#include "io/folder_survey.hpp"
#include "io/growing_table.hpp"
#include "io/manifest.hpp"
#include "judder/io/csv.hpp"
#include "judder/io/run_folder.hpp"

namespace judder::io {
namespace {

namespace fs = std::filesystem;

/// "runs/press/", "runs/press/."
fs::path without_end(fs::path path) {
  while (path.has_parent_path() && path != path.parent_path() &&
         (!path.has_filename() || path.filename() == "."))
    path = path.parent_path();
  return path;
}

FileStatus failure(const fs::path& file, int code) { return {file.string(), disk::not_written(code), 0}; }

/// ".NAME.tmp"
bool is_hidden_name(const std::string& name) {
  constexpr std::string_view kEnd = ".tmp";
  return name.size() > 1 + kEnd.size() && name.front() == '.' &&
         name.compare(name.size() - kEnd.size(), kEnd.size(), kEnd) == 0;
}

// Sixteen hexadecimal digits.
std::string_view mode_text(std::uint64_t mode, std::array<char, 16>& digits) {
  for (std::size_t i = digits.size(); i-- > 0; mode >>= 4U) digits[i] = "0123456789abcdef"[mode & 0xFU];
  return {digits.data(), digits.size()};
}

}  // namespace

fs::path hidden_folder(const fs::path& directory) {
  const fs::path path = without_end(directory);
  return path.parent_path() / ("." + path.filename().string() + ".tmp");
}

struct RunWriter::Files {
  fs::path directory;
  disk::Handle parent;
  disk::Handle folder;
  std::string name;    // of the folder inside `parent`
  std::string hidden;  // its name until the first commit, if it is a new one
  FolderLock lock;
  GrowingTable trajectory;
  GrowingTable events;
  std::vector<bool> words;  // which columns of the trajectory hold words
  int slip_components = 1;
  std::size_t state_columns = 0;
  std::uint64_t row_count = 0;
  std::uint64_t event_count = 0;
  bool staged_tables = false;  // the tables still have their temporary names beside those of an earlier run
  bool earlier = false;        // the folder holds an earlier run, which this one has not replaced
  bool committed = false;
  bool renaming = false;   // state.json counts, and files that it lists may still have their temporary names
  bool lost_sync = false;  // the disk could not say that it has what was written: that is not built upon
  /// A moment up to which all records are in the files.
  struct Mark {
    double time = 0;
    std::string run_json, state_json;
    GrowingTable::Place trajectory, events;
    std::uint64_t rows = 0, event_count = 0;
  };
  std::vector<Mark>
      marks;  // the last since the last commit: an earlier one makes room where a later one finds none
  std::uint64_t marked = 0;
  std::uint64_t commits = 0;
  bool open = false;
  bool keep_hidden = false;
  Disturbed disturbed = Disturbed::no;
  bool shared = false;  // the lock is gone, and another run may have come in
  bool tail =
      false;  // the tables of the earlier run have records behind its last save, which its lock explains
  bool stuck = false;  // what somebody else has put here has a name of ours, and cannot be given its own back
  bool no_room = false;  // the first failure was a disk that is full
  /// What stood under the four names when this run last wrote or looked there: nothing but that is replaced.
  struct Seen {
    bool there = false;
    struct stat about {};
    /// Of its bytes, for a text: one that was changed within its length has another time.
    std::string check;
  };
  std::array<Seen, kOwn.size()> seen{};
  FileStatus status;

  Files() = default;
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  ~Files() {
    try {
      leave();
    } catch (...) {  // no memory: the next run finds what a kill would have left
    }
  }

  bool keep(FileStatus result) {
    if (!result.ok() && status.ok()) status = std::move(result);
    return status.ok();
  }
  bool keep(int error, const std::string& file) {
    if (error == ENOENT && open) {  // what was written a moment ago is not there any more
      disturbed = Disturbed::gone;
      return keep({directory.string(), "was moved, removed or replaced during the run", 0});
    }
    if (error == 0) return status.ok();
    no_room = no_room || (status.ok() && disk::no_room(error));
    // A draft is named after what it becomes.
    for (const std::string& own : kOwn) {
      if (file == staged(own)) return keep(failure(directory / own, error));
    }
    return keep(failure(directory / file, error));
  }
  [[nodiscard]] std::string staged(const std::string& file) const { return lock.draft(file); }
  [[nodiscard]] bool writable() const { return open && status.ok(); }

  FileStatus begin(const fs::path& wanted, std::span<const ColumnName> columns, EventShape shape,
                   std::string_view go_on_from);
  FileStatus take_folder(const fs::path& wanted);
  FileStatus take_hidden(bool& again);
  FileStatus name_hidden(bool& named);
  int folder_there();
  bool still_there();
  bool as_left();
  bool look_at_first(const FolderSurvey& survey);
  int as_seen(std::size_t own) { return as_seen(own, kOwn[own]); }
  int as_seen(std::size_t own, const std::string& place);
  [[nodiscard]] bool same_as_seen(std::size_t own, const struct stat& now) const;
  bool untouched(const GrowingTable& table, const std::string& file);
  /// What somebody appends between the look and the write stands before what is written, and is seen behind it.
  bool flush(GrowingTable& table, const std::string& file) {
    return untouched(table, file) && keep(table.flush(), file) && untouched(table, file);
  }
  bool write_small(const std::string& file, std::string_view text, disk::Handle& out);
  bool sync(std::initializer_list<const disk::Handle*> handles, const std::string& file) {
    const int error = disk::sync(handles);
    lost_sync = lost_sync || error != 0;
    return keep(error, file);
  }
  /// Asks for no memory.
  void note_commit() {
    committed = true;
    earlier = false;
    trajectory.note_commit();
    events.note_commit();
    ++commits;
    marks.clear();
    marked = trajectory.bytes() + events.bytes();
  }
  /// The texts of a save, open until it is over.
  struct Texts {
    disk::Handle run, state;
    Seen written_run, written_state;
  };
  bool replaced_by_others(const fs::path& what) {
    disturbed = Disturbed::gone;
    return keep({what.string(), "was moved, removed or replaced during the run", 0});
  }
  bool write_texts(const std::string& run_name, std::string_view run_json, const std::string& state_name,
                   std::string_view state_json, Texts& out);
  bool publish_new(std::string_view run_json, std::string_view state_json);
  bool give_name();
  bool replace(std::string_view run_json, std::string_view state_json);
  /// Each of the files of the new set in the place of the old one, which gets the name of its draft.
  struct Exchange {
    std::array<std::string, kOwn.size()> drafts;
    std::array<bool, kOwn.size()> ours{}, done{};
    std::size_t at = 0;  // of kOwn, the last that was tried
  };
  int put_in_place(Exchange& exchange);
  int take_back(Exchange& exchange);
  bool replace_one_by_one(const Exchange& exchange);
  void note_written(Texts texts);
  void leave();
};

/// Opens the folder, or a hidden one beside its place if there is none yet, and locks it.
FileStatus RunWriter::Files::take_folder(const fs::path& wanted) {
  directory = wanted;
  fs::path path = without_end(wanted);
  if (path.empty()) path = ".";
  name = path.filename().string();
  if (is_hidden_name(name))
    return {directory.string(),
            "is the name in which the folder " + name.substr(1, name.size() - 5) +
                " begins, until its first save; choose another name with -o",
            0};
  const fs::path above = path.has_parent_path() ? path.parent_path() : fs::path(".");
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    hidden.clear();
    const int error = disk::open_folder_itself(path, folder);
    if (error == 0) {
      // Who is refused finds the folder as it was, also its time.
      FileStatus foreign = FolderSurvey(folder, directory, lock).look_before_locking();
      return foreign.ok() ? lock.take(folder, directory) : foreign;
    }
    if (error == ELOOP)
      return {directory.string(),
              "is a symbolic link, which -o does not follow; name the folder that it leads to", 0};
    if (error == ENOTDIR && ::access(path.c_str(), F_OK) == 0)
      return {directory.string(), "is a file, not a folder; choose another name with -o", 0};
    if (error != ENOENT || name.empty() || name == "." || name == "..") return failure(directory, error);
    std::error_code code;
    fs::create_directories(above, code);
    if (code) return {directory.string(), code.message(), 0};
    if (const int closed = disk::open_folder(above, parent); closed != 0) return failure(above, closed);
    bool again = false;
    FileStatus result = take_hidden(again);
    if (!again) return result;
  }
  return {directory.string(), "others keep making and removing it", 0};
}

FileStatus RunWriter::Files::take_hidden(bool& again) {
  const fs::path shown = hidden_folder(directory);
  hidden = shown.filename().string();
  const bool made = ::mkdirat(parent.number(), hidden.c_str(), 0777) == 0;
  if (!made && errno != EEXIST) {
    const int error = errno;
    hidden.clear();
    return failure(directory, error);
  }
  const int error = disk::open_folder_in(parent, hidden, folder);
  again = error == ENOENT;
  if (error != 0) {
    hidden.clear();
    if (error == ENOTDIR || error == ELOOP)
      return {shown.string(),
              "is in the way: not the folder in which a run begins; move it away, or choose another folder "
              "with -o",
              0};
    return failure(shown, error);
  }
  FileStatus locked = lock.take(folder, shown);
  if (!locked.ok()) {
    if (locked.file == shown.string()) locked.file = directory.string();  // somebody else is making it
    if (made) static_cast<void>(::unlinkat(parent.number(), hidden.c_str(), AT_REMOVEDIR));
    hidden.clear();
    return locked;
  }
  // Whoever is refused leaves what is here for the next one to see as it was.
  const auto give_up = [&](FileStatus reason) {
    lock.give_back(folder);
    if (made) static_cast<void>(::unlinkat(parent.number(), hidden.c_str(), AT_REMOVEDIR));
    hidden.clear();
    return reason;
  };
  // An empty file says nothing of a run, and none leaves it beside files of its own.
  const bool left = lock.taken_over() && lock.found() != FolderLock::Found::empty;
  // Who held the lock before may have given the folder its name meanwhile, or taken it away; or another one has made the folder.
  struct stat mine {
  }, here{}, there{};
  int looked = ::fstat(folder.number(), &mine) == 0 ? 0 : errno;
  if (looked == 0) looked = disk::look(parent, hidden, here);
  const bool still = looked == 0 && disk::same(mine, here);
  if (still) looked = disk::look(parent, name, there);
  if (looked != 0 && looked != ENOENT) return give_up({shown.string(), disk::not_read(looked), 0});
  if (!still || looked == 0) {
    lock.give_back(folder);
    if (still && !left) static_cast<void>(::unlinkat(parent.number(), hidden.c_str(), AT_REMOVEDIR));
    hidden.clear();
    again = true;
    return {};
  }
  std::string foreign;
  if (const int failed = find_stranger(folder, {}, foreign); failed != 0)
    return give_up({shown.string(), disk::not_read(failed), 0});
  // A whole set, too, is only taken over with the lock of the run that wrote it.
  if (foreign.empty() && left) {
    bool named = false;
    if (FileStatus result = name_hidden(named); !result.ok()) return give_up(std::move(result));
    if (named) {
      lock.give_back(folder);
      hidden.clear();
      again = true;
      return {};
    }
  }
  // Only behind the lock of a killed run they are surely its files.
  for (const std::string& own : kOwn) {
    if (left || !foreign.empty()) break;
    const int seen_there = disk::look(folder, own, there);
    if (seen_there == 0) foreign = own;
    if (seen_there != 0 && seen_there != ENOENT)
      return give_up({(shown / own).string(), disk::not_read(seen_there), 0});
  }
  if (!foreign.empty())
    return give_up({(shown / foreign).string(),
                    "is in the way: no killed run left it; move it away, or choose another folder with -o",
                    0});
  // What a killed run left here was never committed.
  if (FileStatus result = lock.sign(shown); !result.ok()) return give_up(std::move(result));
  for (const std::string& own : kOwn) {
    if (const int removed = disk::remove(folder, own); removed != 0) return failure(shown / own, removed);
  }
  return {};
}

/// A hidden folder with a whole set in it lacks nothing but its name: a kill came before the rename, or that failed. It gets the name now, and is an
/// earlier run like any other.
FileStatus RunWriter::Files::name_hidden(bool& named) {
  const fs::path shown = hidden_folder(directory);
  bool whole = false;
  if (FileStatus result = is_whole_set(folder, shown, whole); !result.ok() || !whole) return result;
  if (::renameat(parent.number(), hidden.c_str(), parent.number(), name.c_str()) != 0)
    return {shown.string(),
            "holds a whole run, which still cannot get the name " + name + ": " + disk::words(errno) +
                "; rename it, or choose another folder with -o",
            0};
  named = true;
  const int failed = disk::sync({&parent});
  return failed == 0 ? FileStatus{} : failure(directory, failed);
}

/// 0: the folder is still the one of its name; ENOENT: it is not.
int RunWriter::Files::folder_there() {
  struct stat mine {
  }, there{};
  if (::fstat(folder.number(), &mine) != 0) return errno;
  const int error = !hidden.empty()                          ? disk::look(parent, hidden, there)
                    : ::stat(directory.c_str(), &there) != 0 ? errno
                                                             : 0;
  if (error == ENOTDIR) return ENOENT;
  return error == 0 && !disk::same(mine, there) ? ENOENT : error;
}

/// A commit into a folder that is no longer there, or without a table, would be no commit.
bool RunWriter::Files::still_there() {
  const auto table_there = [&](const disk::Handle& file, const std::string& place) {
    struct stat mine {
    }, there{};
    if (::fstat(file.number(), &mine) != 0) return errno;
    const int error = disk::look(folder, place, there);
    return error == 0 && !disk::same(mine, there) ? ENOENT : error;
  };
  // ENOENT: it is not what it was.
  const auto good = [&](int error, const fs::path& what) {
    if (error == 0) return true;
    return error != ENOENT ? keep({what.string(), disk::not_read(error), 0}) : replaced_by_others(what);
  };
  const fs::path shown = hidden.empty() ? directory : hidden_folder(directory);
  if (!good(folder_there(), shown)) return false;
  if (FileStatus held = lock.hold(folder, shown); !held.ok()) {
    if (lock.lost()) {
      disturbed = Disturbed::gone;
      shared = !lock.holds_folder();
    }
    return keep(std::move(held));
  }
  for (std::size_t i = 0; i < kOwn.size(); ++i) {
    const bool own_table = !staged_tables && (kOwn[i] == kTrajectory || kOwn[i] == kEvents);
    if (hidden.empty() && !own_table && !good(as_seen(i), directory / kOwn[i])) return false;
  }
  for (const auto& [table, file] : {std::pair(&trajectory, &kTrajectory), std::pair(&events, &kEvents)}) {
    const std::string place = staged_tables ? staged(*file) : *file;
    if (!good(table_there(table->file(), place), directory / place)) return false;
  }
  return true;
}

/// The same, and nobody has written to a table or cut it.
bool RunWriter::Files::as_left() {
  return still_there() && untouched(trajectory, kTrajectory) && untouched(events, kEvents);
}

/// What the survey has found is what may be replaced, not what has come since.
bool RunWriter::Files::look_at_first(const FolderSurvey& survey) {
  for (std::size_t i = 0; i < kOwn.size(); ++i) {
    Seen& file = seen[i];
    const int error = disk::look(folder, kOwn[i], file.about);
    file.there = error == 0;
    if (error != 0 && error != ENOENT) keep({(directory / kOwn[i]).string(), disk::not_read(error), 0});
    if (!hidden.empty()) continue;
    if (kOwn[i] == kState && file.there) {
      disk::Check check;
      check.add(survey.state());
      file.check = check.text();
    } else if (survey.manifest() && kOwn[i] != kState) {
      const std::optional<struct stat> found = survey.about(i);
      file.there = found.has_value();
      if (found) file.about = *found;
      if (found && kOwn[i] == kRun) file.check = survey.manifest()->run.check;
    }
    // Its time is not known to be that of what was read.
    if (!file.check.empty()) file.about.st_mtim = {};
  }
  return status.ok();
}

bool RunWriter::Files::same_as_seen(std::size_t own, const struct stat& now) const {
  const Seen& before = seen[own];
  const auto& [seconds, parts] = now.st_mtim;
  return before.there && disk::same(now, before.about) && now.st_size == before.about.st_size &&
         (before.check.empty() ||
          (seconds == before.about.st_mtim.tv_sec && parts == before.about.st_mtim.tv_nsec));
}

/// 0: what has the name is what was seen; ENOENT: it is not.
int RunWriter::Files::as_seen(std::size_t own, const std::string& place) {
  struct stat now {};
  const int error = disk::look(folder, place, now);
  if (error != 0 && error != ENOENT) return error;
  Seen& before = seen[own];
  if (error != 0 || !before.there) return (error == 0) == before.there ? 0 : ENOENT;
  if (same_as_seen(own, now)) return 0;
  if (before.check.empty() || !disk::same(now, before.about) || now.st_size != before.about.st_size)
    return ENOENT;
  // Some file systems change a time by themselves: it is the bytes that count.
  disk::Handle file;
  disk::Check check;
  int read = disk::open_regular(folder, place, false, file);
  if (read == 0) read = disk::check_of(file, static_cast<std::uint64_t>(now.st_size), check);
  if (read != 0) return read == ENODATA || read == ELOOP || read == ENOTSUP ? ENOENT : read;
  if (check.text() != before.check) return ENOENT;
  before.about.st_mtim = now.st_mtim;
  return 0;
}

/// Whether the table is as long as this run has made it.
bool RunWriter::Files::untouched(const GrowingTable& table, const std::string& file) {
  std::uint64_t there = 0;
  if (!keep(disk::size_of(table.file(), there), file)) return false;
  if (there == table.length()) return true;
  disturbed = there > table.length()  ? Disturbed::longer
              : there < table.saved() ? Disturbed::below_save
                                      : Disturbed::shorter;
  return keep({(directory / file).string(),
               std::string(disturbed == Disturbed::longer ? "was written to" : "was cut") +
                   " by somebody else during the run: it has " + std::to_string(there) +
                   " bytes, the run has written " + std::to_string(table.length()),
               0});
}

bool RunWriter::Files::write_small(const std::string& file, std::string_view text, disk::Handle& out) {
  return keep(disk::create(folder, file, out), file) && keep(disk::write_all(out, text), file);
}

bool RunWriter::Files::write_texts(const std::string& run_name, std::string_view run_json,
                                   const std::string& state_name, std::string_view state_json, Texts& out) {
  if (!write_small(run_name, run_json, out.run) || !write_small(state_name, state_json, out.state) ||
      !sync({&trajectory.file(), &events.file(), &out.run, &out.state, &lock.file(), &folder}, kState))
    return false;
  // As they are before anybody can know their names.
  const auto written = [&](const disk::Handle& file, std::string_view text, Seen& seen_there) {
    disk::Check check;
    check.add(text);
    seen_there.there = true;
    seen_there.check = check.text();
    return ::fstat(file.number(), &seen_there.about) == 0 ? 0 : errno;
  };
  return keep(written(out.run, run_json, out.written_run), kRun) &&
         keep(written(out.state, state_json, out.written_state), kState);
}

/// What stands under the names is what this run has written there, and not what has come there since.
void RunWriter::Files::note_written(Texts texts) {
  seen[2] = std::move(texts.written_run);
  seen[3] = std::move(texts.written_state);
  // The tables are known by their handles.
}

/// The hidden folder gets its name, and nothing else does that somebody has put in its place.
bool RunWriter::Files::give_name() {
  struct stat mine {
  }, there{};
  if (::fstat(folder.number(), &mine) != 0) return keep(errno, "");
  int error = disk::rename_new(parent, hidden, name);
  if (error == ENOTSUP || error == EEXIST) {
    // Somebody's empty folder may be replaced, as it always was; whatever else there is stays.
    const int looked = disk::look(parent, name, there);
    if (looked != ENOENT && (looked != 0 || !S_ISDIR(there.st_mode)))
      error = looked != 0 ? looked : EEXIST;
    else
      error = disk::rename(parent, hidden, name);
  }
  if (error == 0) {
    const int looked = disk::look(parent, name, there);
    if (looked == 0 && disk::same(mine, there)) return true;
    // What got the name is somebody else's, and gets back the one that it had.
    if (looked == 0) static_cast<void>(disk::rename_new(parent, name, hidden));
    return replaced_by_others(hidden_folder(directory));
  }
  if (error == ENOENT) return keep(error, "");
  // The set is whole and on the disk, and lacks only the name of its folder, which the next run into the same place gives it.
  keep_hidden = true;
  ++commits;
  no_room = no_room || (status.ok() && disk::no_room(error));
  const bool taken = error == EEXIST || error == ENOTEMPTY || error == ENOTDIR || error == EISDIR;
  return keep(taken ? FileStatus{directory.string(), "came into being during the run", 0}
                    : failure(directory, error));
}

/// Everything under its final name in the hidden folder, then one rename.
bool RunWriter::Files::publish_new(std::string_view run_json, std::string_view state_json) {
  Texts texts;
  if (!write_texts(kRun, run_json, kState, state_json, texts)) return false;
  // The disk may have taken seconds.
  if (!as_left() || !give_name()) return false;
  hidden.clear();
  note_commit();
  note_written(std::move(texts));
  return sync({&parent}, kState) && as_left();
}

/// 0; ENOENT: something else than what this run has seen has one of the names; ENOTSUP: nothing was done, and has to be done another way. What goes
/// wrong before state.json has its place leaves `done` for those to take back that have theirs.
int RunWriter::Files::put_in_place(Exchange& exchange) {
  // The state comes last: until then the old one counts, and the old files are found by it under the names of the drafts.
  for (std::size_t i = 0; i < kOwn.size(); ++i) {
    if (!exchange.ours[i]) continue;
    exchange.at = i;
    const std::string& draft = exchange.drafts[i];
    int error =
        seen[i].there ? disk::exchange(folder, draft, kOwn[i]) : disk::rename_new(folder, draft, kOwn[i]);
    if (error != 0) return error == EEXIST ? ENOENT : error;
    exchange.done[i] = true;
    if (!seen[i].there) continue;
    struct stat about {};
    error = disk::look(folder, draft, about);
    if (error == 0 && !same_as_seen(i, about)) {
      try {
        error = as_seen(i, draft);
      } catch (...) {  // no memory: who cannot look has to take it for somebody else's
        error = ENOENT;
      }
    }
    if (error != 0) return error;
  }
  return 0;
}

int RunWriter::Files::take_back(Exchange& exchange) {
  int first = 0;
  for (std::size_t i = kOwn.size(); i-- > 0;) {
    if (!exchange.done[i]) continue;
    const int error = seen[i].there ? disk::exchange(folder, exchange.drafts[i], kOwn[i])
                                    : disk::rename_new(folder, kOwn[i], exchange.drafts[i]);
    exchange.done[i] = error != 0;
    first = first != 0 ? first : error;
  }
  return first;
}

/// Where a file system knows no exchange. It counts from the rename of state.json on, which has to be on the disk before anything else is replaced.
bool RunWriter::Files::replace_one_by_one(const Exchange& exchange) {
  renaming = true;
  if (const int error = disk::rename(folder, exchange.drafts.back(), kState); error != 0) {
    renaming = false;
    return keep(error, kState);
  }
  note_commit();
  if (!sync({&folder}, kState)) return false;
  for (std::size_t i = 0; i + 1 < kOwn.size(); ++i) {
    if (!exchange.ours[i]) continue;
    if (const int looked = as_seen(i); looked != 0) {
      // What somebody has put there stays, also when the next run looks for what this one has left.
      stuck = true;
      if (kOwn[i] == kRun) static_cast<void>(disk::remove(folder, exchange.drafts[i]));
      return looked == ENOENT ? replaced_by_others(directory / kOwn[i])
                              : keep({(directory / kOwn[i]).string(), disk::not_read(looked), 0});
    }
    if (!keep(disk::rename(folder, exchange.drafts[i], kOwn[i]), kOwn[i])) return false;
  }
  staged_tables = false;
  renaming = false;
  return true;
}

/// The new set beside the old one; it counts from the moment at which state.json has its place.
bool RunWriter::Files::replace(std::string_view run_json, std::string_view state_json) {
  Exchange exchange;
  for (std::size_t i = 0; i < kOwn.size(); ++i) {
    exchange.drafts[i] = staged(kOwn[i]);
    exchange.ours[i] = staged_tables || kOwn[i] == kRun || kOwn[i] == kState;
  }
  const auto without_texts = [&] {
    for (const std::size_t i : {2, 3}) static_cast<void>(disk::remove(folder, exchange.drafts[i]));
    return false;
  };
  Texts texts;
  // The disk may take seconds for it, and somebody may have come in meanwhile.
  if (!write_texts(exchange.drafts[2], run_json, exchange.drafts[3], state_json, texts) || !as_left())
    return without_texts();
  // Memory may end at any allocation from here on: what leaves then must know how far this has come.
  renaming = true;
  const int error = put_in_place(exchange);
  const bool none = std::none_of(exchange.done.begin(), exchange.done.end(), [](bool each) { return each; });
  if (error == ENOTSUP && none) {
    if (!replace_one_by_one(exchange)) return false;
  } else if (error != 0) {
    stuck = take_back(exchange) != 0;
    renaming = stuck;
    if (error == ENOENT)
      replaced_by_others(directory / kOwn[exchange.at]);
    else
      keep(error, kOwn[exchange.at]);
    return stuck ? false : without_texts();
  } else {
    note_commit();
    staged_tables = false;
    if (!sync({&folder}, kState)) return false;
    // The state goes last, so that nothing of the old set is there without it.
    for (std::size_t i = 0; i < kOwn.size(); ++i) {
      if (exchange.ours[i] && seen[i].there && !keep(disk::remove(folder, exchange.drafts[i]), kOwn[i]))
        return false;
    }
    renaming = false;
  }
  // And once more behind it: what has come into the folder since is told now, and not replaced by the next save.
  note_written(std::move(texts));
  return sync({&folder}, kRun) && as_left();
}

/// Nothing of ours stays but what was committed.
void RunWriter::Files::leave() {
  if (!lock) return;
  if (shared) {
    lock.abandon();
    return;
  }
  if (stuck) {
    lock.abandon();
    return;
  }
  // What somebody has written to a table that never counted is his to keep.
  if (disturbed == Disturbed::longer && !committed) {
    lock.release(folder);
    return;
  }
  bool in_order = true;
  if (committed && open) {
    const bool first = trajectory.back_to_commit();
    in_order = events.back_to_commit() && first;
  }
  // With state.json in place the others may still have their temporary names, which recovery needs.
  const bool between = renaming || (committed && !status.ok());
  for (const std::string& own : kOwn) {
    if (!committed && !hidden.empty() && !keep_hidden) in_order = disk::remove(folder, own) == 0 && in_order;
    if (hidden.empty() && !between) in_order = disk::remove(folder, staged(own)) == 0 && in_order;
  }
  if (between) {
    FolderSurvey survey(folder, directory, lock);
    in_order = survey.look().ok() && survey.carry_out().ok() && in_order;
  }
  // A run that was refused leaves the lock of a killed one for the next: what that wrote after its last save is still there.
  // So does one that never saved anything, and one whose folder could not get its name: the lock tells the next that it may give it.
  const bool as_found = lock.taken_over() && hidden.empty() && !committed && (!open || tail);
  if (in_order && !keep_hidden && !as_found)
    lock.release(folder);
  else
    lock.abandon();
  if (!hidden.empty() && !keep_hidden)
    static_cast<void>(::unlinkat(parent.number(), hidden.c_str(), AT_REMOVEDIR));
}

RunWriter::RunWriter() : files_(std::make_unique<Files>()) {}
RunWriter::~RunWriter() = default;
RunWriter::RunWriter(RunWriter&&) noexcept = default;
RunWriter& RunWriter::operator=(RunWriter&&) noexcept = default;

FileStatus RunWriter::Files::begin(const fs::path& wanted, std::span<const ColumnName> columns,
                                   EventShape shape, std::string_view go_on_from) {
  slip_components = std::clamp(shape.slip_components, 1, 3);
  state_columns = static_cast<std::size_t>(shape.state);
  assert(state_columns < columns.size());
  for (const ColumnName& column : columns) {
    trajectory.csv.text(column.name);
    words.push_back(column.words);
  }
  trajectory.csv.end_record();
  const std::size_t event_columns = kEventNumbers + static_cast<std::size_t>(slip_components) - 1;
  for (std::size_t i = 0; i < event_columns; ++i) events.csv.text(kEventHeader[i]);
  for (std::size_t i = 1; i <= state_columns; ++i) events.csv.text(columns[i].name);
  events.csv.end_record();
  trajectory.end_header();
  events.end_header();

  if (!keep(take_folder(wanted))) return status;
  // First everything that may be a reason to refuse; what is changed comes behind it.
  FolderSurvey survey(folder, directory, lock);
  if (hidden.empty() && (!keep(survey.look()) || !keep(survey.refuse_foreign()))) return status;
  const std::optional<Manifest>& manifest = survey.manifest();
  if (!go_on_from.empty()) {
    if (!manifest || survey.state() != go_on_from) {
      keep({(directory / kState).string(), "has changed since it was read", 0});
      return status;
    }
    if (!keep(survey.refuse_missing())) return status;
    for (const std::size_t i : {0, 1}) {
      GrowingTable& table = i == 0 ? trajectory : events;
      const std::string problem = table.take_up(folder, survey.place_of(i), manifest->of(kOwn[i]));
      if (!keep({(directory / kOwn[i]).string(), problem, 0})) return status;
    }
  }
  if (hidden.empty() && !keep(lock.sign(directory))) return status;
  // The words of the drafts are on the disk before the drafts are: without power the next run would take them for somebody else's files.
  if (!sync({&lock.file(), &folder}, kLockName)) return status;
  if (hidden.empty() && !keep(survey.carry_out())) return status;
  if (!go_on_from.empty()) {
    for (const std::size_t i : {0, 1}) {
      const int error = (i == 0 ? trajectory : events).go_on(survey.more(i));
      if (error == ENODATA)
        keep({(directory / kOwn[i]).string(), "has changed since it was read", 0});
      else
        keep(error, kOwn[i]);
      if (!status.ok()) return status;
    }
    row_count = manifest->trajectory.records;
    event_count = manifest->events.records;
    committed = true;
  } else {
    staged_tables = hidden.empty();
    tail = survey.has_more();
    for (const std::string& own : kOwn) {
      struct stat about {};
      const int error = staged_tables ? disk::look(folder, own, about) : ENOENT;
      if (error != 0 && error != ENOENT) {
        keep({(directory / own).string(), disk::not_read(error), 0});
        return status;
      }
      earlier = earlier || error == 0;
    }
    const auto place = [this](const std::string& file) { return staged_tables ? staged(file) : file; };
    if (!keep(trajectory.create(folder, place(kTrajectory)), place(kTrajectory)) ||
        !keep(events.create(folder, place(kEvents)), place(kEvents)))
      return status;
  }
  if (!look_at_first(survey)) return status;
  open = true;
  return {};
}

FileStatus RunWriter::open(const fs::path& directory, std::span<const ColumnName> columns, EventShape shape,
                           std::string_view go_on_from) {
  files_ = std::make_unique<Files>();
  Files& f = *files_;
  if (!f.keep(f.begin(directory, columns, shape, go_on_from))) f.leave();
  return f.status;
}

void RunWriter::row(std::span<const double> numbers, std::span<const std::string_view> words) {
  Files& f = *files_;
  if (!f.writable()) return;
  CsvWriter& csv = f.trajectory.csv;
  std::size_t number = 0;
  std::size_t word = 0;
  for (const bool is_word : f.words) {
    if (is_word) {
      assert(word < words.size());
      csv.text(words[word++]);
    } else {
      assert(number < numbers.size());
      csv.number(numbers[number++]);
    }
  }
  assert(number == numbers.size() && word == words.size());
  csv.end_record();
  ++f.row_count;
  if (f.trajectory.full()) static_cast<void>(f.flush(f.trajectory, kTrajectory));
}

void RunWriter::event(const EventRow& row) {
  Files& f = *files_;
  if (!f.writable()) return;
  CsvWriter& csv = f.events.csv;
  std::array<char, 16> digits;
  csv.number(row.time).text(row.kind).text(row.where).text(row.detail);
  csv.number(row.normal_impulse).number(row.tangential_impulse[0]);
  csv.number(row.energy_before).number(row.energy_after).text(mode_text(row.mode, digits));
  for (int i = 1; i < f.slip_components; ++i) csv.number(row.tangential_impulse[static_cast<std::size_t>(i)]);
  assert(row.state.size() == f.state_columns);
  for (const double value : row.state) csv.number(value);
  csv.end_record();
  ++f.event_count;
  if (f.events.full()) static_cast<void>(f.flush(f.events, kEvents));
}

FileStatus RunWriter::commit(std::string_view run_json, std::string_view state_json) {
  Files& f = *files_;
  if (!f.writable())
    return f.status.ok() ? FileStatus{f.directory.string(), "the run folder is not open", 0} : f.status;
  if (!f.still_there()) return f.status;
  if (!f.flush(f.trajectory, kTrajectory) || !f.flush(f.events, kEvents)) return f.status;
  if (!f.untouched(f.trajectory, kTrajectory) || !f.untouched(f.events, kEvents)) return f.status;
  Manifest manifest;
  manifest.trajectory = f.trajectory.committed(f.row_count);
  manifest.events = f.events.committed(f.event_count);
  disk::Check check;
  check.add(run_json);
  manifest.run = {run_json.size(), check.text(), 0};
  const std::string state = with_manifest(state_json, manifest);
  static_cast<void>(f.hidden.empty() ? f.replace(run_json, state) : f.publish_new(run_json, state));
  // A call that fails because the folder has gone meanwhile says less than that.
  if (!f.status.ok() && f.folder_there() == ENOENT) {
    f.status = {};
    static_cast<void>(f.still_there());
  }
  return f.status;
}

FileStatus RunWriter::finish(std::string_view run_json, std::string_view state_json) {
  Files& f = *files_;
  if (!commit(run_json, state_json).ok()) return f.status;
  f.keep(f.trajectory.close(), kTrajectory);
  f.keep(f.events.close(), kEvents);
  f.open = false;
  f.lock.release(f.folder);
  return f.status;
}

void RunWriter::mark(double time, std::string run_json, std::string state_json) {
  Files& f = *files_;
  if (!f.writable()) return;
  if (!f.flush(f.trajectory, kTrajectory) || !f.flush(f.events, kEvents)) return;
  constexpr std::size_t kMarks = 3;
  if (f.marks.size() == kMarks) f.marks.erase(f.marks.begin());
  f.marks.push_back({time, std::move(run_json), std::move(state_json), f.trajectory.place(), f.events.place(),
                     f.row_count, f.event_count});
  f.marked = f.trajectory.bytes() + f.events.bytes();
}

std::uint64_t RunWriter::unmarked() const {
  return files_->trajectory.bytes() + files_->events.bytes() - files_->marked;
}

std::optional<double> RunWriter::commit_mark() {
  Files& f = *files_;
  if (!f.open || f.keep_hidden || f.lost_sync || f.earlier || f.disturbed != Disturbed::no)
    return std::nullopt;
  const FileStatus first = f.status;
  std::vector<Files::Mark> marks = std::move(f.marks);
  f.marks.clear();
  for (; !marks.empty(); marks.pop_back()) {
    const Files::Mark& mark = marks.back();
    if (f.trajectory.back_to(mark.trajectory) != 0 || f.events.back_to(mark.events) != 0) break;
    f.row_count = mark.rows;
    f.event_count = mark.event_count;
    f.status = {};
    const std::uint64_t before = f.commits;
    // With state.json in its place the mark counts, and what is left to do is done by whoever comes next.
    if (commit(mark.run_json, mark.state_json).ok() || f.commits > before) return mark.time;
    if (f.lost_sync || f.keep_hidden) break;
  }
  f.status = first;
  return std::nullopt;
}

bool RunWriter::give_up_records() {
  Files& f = *files_;
  if (!f.open || f.committed || f.keep_hidden || f.earlier || f.disturbed != Disturbed::no) return false;
  f.marks.clear();
  f.row_count = f.event_count = 0;
  if (f.trajectory.back_to_header() != 0 || f.events.back_to_header() != 0) return false;
  f.status = {};
  return true;
}

RunWriter::Disturbed RunWriter::disturbed() const { return files_->disturbed; }
bool RunWriter::no_room() const { return files_->no_room; }
std::uint64_t RunWriter::commits() const { return files_->commits; }
bool RunWriter::committed() const { return files_->committed; }
bool RunWriter::over_earlier() const { return files_->earlier; }
fs::path RunWriter::nameless() const {
  return files_->keep_hidden ? hidden_folder(files_->directory) : fs::path();
}
const FileStatus& RunWriter::status() const { return files_->status; }
std::uint64_t RunWriter::rows() const { return files_->row_count; }
std::uint64_t RunWriter::events() const { return files_->event_count; }

}  // namespace judder::io
