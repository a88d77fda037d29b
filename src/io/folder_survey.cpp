#include "io/folder_survey.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "io/record_tail.hpp"
#include "judder/core/printable.hpp"

namespace judder::io {
namespace {

namespace fs = std::filesystem;
using Found = FolderSurvey::Found;

FileStatus failure(const fs::path& file, int code) { return {file.string(), disk::not_written(code), 0}; }

Found look_at(const disk::Handle& folder, const std::string& name, const CommittedFile& committed) {
  disk::Handle file;
  disk::Check check;
  struct stat about {};
  const auto unreadable = [](int error) { return Found{Found::Fit::unreadable, 0, error, {}}; };
  if (const int error = disk::open_regular(folder, name, false, file); error != 0) {
    if (error == ENOENT) return {};
    const bool other_kind = error == ELOOP || error == ENOTSUP || error == EISDIR || error == ENXIO;
    return other_kind ? Found{Found::Fit::differs} : unreadable(error);
  }
  if (::fstat(file.number(), &about) != 0) return unreadable(errno);
  const auto size = static_cast<std::uint64_t>(std::max<off_t>(about.st_size, 0));
  if (size < committed.bytes) return {Found::Fit::differs};
  const int error = disk::check_of(file, committed.bytes, check);
  if (error != 0 && error != ENODATA) return unreadable(error);
  if (error != 0 || check.text() != committed.check) return {Found::Fit::differs};
  return {Found::Fit::fits, size - committed.bytes, 0, about};
}

/// The first name in a folder for which `wanted` is true; empty: there is none.
template <class Wanted>
int find_name(const disk::Handle& folder, const Wanted& wanted, std::string& out) {
  out.clear();
  const int again = ::openat(folder.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (again < 0) return errno;
  DIR* const list = ::fdopendir(again);
  if (list == nullptr) {
    const int error = errno;
    ::close(again);
    return error;
  }
  int error = 0;
  while (true) {
    errno = 0;
    const dirent* const entry = ::readdir(list);
    error = entry == nullptr ? errno : 0;
    if (entry == nullptr) break;
    out = entry->d_name;
    if (wanted(out)) break;
    out.clear();
  }
  ::closedir(list);
  return error;
}

bool is_own(const std::string& name) { return std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end(); }

}  // namespace

int find_stranger(const disk::Handle& folder, const std::vector<std::string>& drafts, std::string& out) {
  return find_name(
      folder,
      [&](const std::string& name) {
        return name != "." && name != ".." && name != kLockName && !is_own(name) &&
               std::find(drafts.begin(), drafts.end(), name) == drafts.end();
      },
      out);
}

/// The best there is of a file: the one that fits the list, under its name or that of a draft. What cannot be read may be it, and stops everything.
FileStatus FolderSurvey::find_best(std::size_t own) {
  const std::string& file = kOwn[own];
  const CommittedFile& wanted = manifest_->of(file);
  Found& best = found_[own];
  best = look_at(folder_, file, wanted);
  if (best.fit == Found::Fit::unreadable) return {(shown_ / file).string(), disk::not_read(best.error), 0};
  // Both fit where one table begins as the other does. The committed records are the same then, and the shorter file has less behind them.
  std::string broken;
  for (const std::string& draft : lock_.drafts(file)) {
    if (best.fits() && best.more == 0) break;
    const Found other = look_at(folder_, draft, wanted);
    if (other.fit == Found::Fit::unreadable)
      return {(shown_ / draft).string(),
              disk::not_read(other.error) + "; a killed run left it, perhaps as the only copy of its " +
                  file + ", so that it stays",
              0};
    if (other.fit == Found::Fit::differs && broken.empty()) {
      // Its state.json has its place, run.json not yet: that save counts, and this was part of it.
      struct stat about {};
      const std::string rest = draft.substr(file.size());
      const int run = disk::look(folder_, kRun + rest, about),
                state = disk::look(folder_, kState + rest, about);
      for (const int error : {run, state}) {
        if (error != 0 && error != ENOENT) return {(shown_ / draft).string(), disk::not_read(error), 0};
      }
      if (run == 0 && state == ENOENT) broken = draft;
    }
    if (!other.fits() || (best.fits() && best.more <= other.more)) continue;
    best = other;
    draft_[own] = draft;
  }
  if (!best.fits() && !broken.empty())
    return {(shown_ / broken).string(),
            "is what a killed run saved as " + file +
                ", and has been changed or cut since: state.json lists other bytes; it stays as it is; take "
                "it from "
                "a copy, or choose another folder with -o",
            0};
  return {};
}

FileStatus FolderSurvey::look_at_state() {
  const int error = disk::read_bounded(folder_, kState, kMostJson, state_);
  // What cannot be read protects its folder like what was changed.
  if (error == EFBIG)
    return {(shown_ / kState).string(),
            "is longer than any that a run writes; move it away, or choose another folder with -o", 0};
  if (error != 0 && error != ENOENT) {
    const bool other_kind = error == ELOOP || error == ENOTSUP || error == EISDIR;
    return {(shown_ / kState).string(),
            disk::not_read(error) +
                (other_kind ? "; move it away, or choose another folder with -o" : std::string()),
            0};
  }
  if (error == 0) {
    // Nothing is renamed or removed by a list that may be wrong.
    if (std::string damage = damage_of(state_); !damage.empty())
      return {(shown_ / kState).string(), damage + "; move it away, or choose another folder with -o", 0};
    manifest_ = read_manifest(state_);
  }
  return {};
}

FileStatus FolderSurvey::look_before_locking() {
  struct stat about {};
  if (disk::look(folder_, kLockName, about) != ENOENT) return {};
  FileStatus result = look_at_state();
  if (result.ok() && !manifest_) result = refuse_without_run();
  // Another run that has come in meanwhile is told by its name, not by what it has written.
  return disk::look(folder_, kLockName, about) == ENOENT ? result : FileStatus{};
}

FileStatus FolderSurvey::look() {
  if (FileStatus result = look_at_state(); !result.ok()) return result;
  for (std::size_t i = 0; manifest_ && i < found_.size(); ++i) {
    if (FileStatus result = find_best(i); !result.ok()) return result;
  }
  for (std::size_t i = 0; i < kOwn.size(); ++i) {
    for (const std::string& draft : lock_.drafts(kOwn[i])) {
      if (i >= draft_.size() || draft != draft_[i]) stale_.push_back(draft);
    }
  }
  return {};
}

/// Finishes what a killed run began: with state.json the new set is the one that counts.
FileStatus FolderSurvey::carry_out() const {
  bool renamed = false;
  for (std::size_t i = 0; i < draft_.size(); ++i) {
    if (draft_[i].empty()) continue;
    if (const int failed = disk::rename(folder_, draft_[i], kOwn[i]); failed != 0)
      return failure(shown_ / kOwn[i], failed);
    renamed = true;
  }
  if (renamed) {
    if (const int failed = disk::sync({&folder_}); failed != 0) return failure(shown_, failed);
  }
  for (const std::string& draft : stale_) {
    if (const int failed = disk::remove(folder_, draft); failed != 0)
      return failure(shown_ / draft.substr(0, draft.size() - lock_.draft("").size()), failed);
  }
  return {};
}

/// What is wrong with a file that is not the one of the list.
FileStatus FolderSurvey::changed(const std::string& own, const CommittedFile& wanted) const {
  // The draft of a killed run whose lock somebody has removed.
  std::string draft;
  const int failed = find_name(
      folder_,
      [&](const std::string& each) {
        return FolderLock::is_draft(each, own) && look_at(folder_, each, wanted).fits();
      },
      draft);
  if (failed == 0 && !draft.empty())
    return {(shown_ / own).string(),
            "is not the file that state.json belongs to, but " + draft +
                " is: give that its name, or choose another folder with -o",
            0};
  return {(shown_ / own).string(),
          "has been changed since a run wrote it; move it away, or choose another folder with -o", 0};
}

/// A file that no run wrote, or that was changed since, is not replaced without a word.
FileStatus FolderSurvey::refuse_foreign() const {
  for (std::size_t i = 0; manifest_ && i < found_.size(); ++i) {
    const std::string& own = kOwn[i];
    const Found& found = found_[i];
    if (found.fit == Found::Fit::absent) continue;
    const CommittedFile& wanted = manifest_->of(own);
    if (!found.fits()) return changed(own, wanted);
    if (found.more == 0) continue;
    const std::string bytes = std::to_string(wanted.bytes);
    if (own == kRun || !lock_.taken_over())
      return {(shown_ / own).string(),
              "has " + std::to_string(found.more) + " bytes more than the run wrote; take them out (" +
                  bytes + " bytes belong to the run), or choose another folder with -o",
              0};
    disk::Handle table;
    std::optional<std::uint64_t> line;
    int error = disk::open_regular(folder_, place_of(i), false, table);
    if (error == 0)
      error = foreign_line(table, wanted.bytes,
                           own == kTrajectory ? TableKind::trajectory : TableKind::events, line);
    if (error != 0) return {(shown_ / own).string(), disk::not_read(error), 0};
    if (line)
      return {(shown_ / own).string(),
              "this line is no record of a run, and stands behind the " + bytes +
                  " bytes that the killed run had saved; take it out, or choose another folder with -o",
              static_cast<std::size_t>(*line)};
  }
  return manifest_ ? FileStatus{} : refuse_without_run();
}

/// A folder without a list: of an earlier version, empty, or somebody else's.
FileStatus FolderSurvey::refuse_without_run() const {
  bool older = false, any = false;
  // Beside a run it is known what such a file is. Where there is none, a file without a word in it may go, and letters may be somebody's.
  if (lock_.found() == FolderLock::Found::torn)
    return {(shown_ / kLockName).string(), FolderLock::kForeign, 0};
  if (!state_.empty()) {
    std::string text;
    const int error = disk::read_bounded(folder_, kRun, kMostJson, text);
    if (error == EIO || error == EACCES || error == ENOMEM)
      return {(shown_ / kRun).string(), disk::not_read(error), 0};
    older = error == 0 && written_by_us(text);
  }
  for (const std::string& own : kOwn) {
    struct stat about {};
    const int error = disk::look(folder_, own, about);
    if (error == ENOENT) continue;
    if (error != 0) return {(shown_ / own).string(), disk::not_read(error), 0};
    any = true;
    if (!older || !S_ISREG(about.st_mode))
      return {(shown_ / own).string(),
              "was not written by a run; move it away, or choose another folder with -o", 0};
  }
  if (any) return {};
  std::string other;
  if (const int error = find_stranger(folder_, stale_, other); error != 0)
    return {shown_.string(), disk::not_read(error), 0};
  if (other.empty()) return {};
  return {shown_.string(),
          "holds other things ('" + printable_name(other, 60) +
              "') and no run; choose a new or an empty folder with -o",
          0};
}

/// Who goes on needs the whole set.
FileStatus FolderSurvey::refuse_missing() const {
  for (std::size_t i = 0; i < found_.size(); ++i) {
    if (found_[i].fit == Found::Fit::absent)
      return {
          (shown_ / kOwn[i]).string(),
          "is missing, and the run cannot go on in this folder without it; take it from a copy, or go on in "
          "another folder with -o",
          0};
  }
  return {};
}

FileStatus is_whole_set(const disk::Handle& folder, const fs::path& shown, bool& out) {
  out = false;
  std::string state;
  const int error = disk::read_bounded(folder, kState, kMostJson, state);
  if (error == ENOENT || error == EFBIG || error == ELOOP || error == ENOTSUP || error == EISDIR) return {};
  if (error != 0) return {(shown / kState).string(), disk::not_read(error), 0};
  if (!damage_of(state).empty()) return {};
  const std::optional<Manifest> manifest = read_manifest(state);
  if (!manifest) return {};
  for (const std::string& own : {kTrajectory, kEvents, kRun}) {
    const Found found = look_at(folder, own, manifest->of(own));
    if (found.fit == Found::Fit::unreadable) return {(shown / own).string(), disk::not_read(found.error), 0};
    if (!found.fits() || found.more > 0) return {};
  }
  out = true;
  return {};
}

}  // namespace judder::io
