// Files as a run folder needs them: written whole or not at all, on the disk when that is said, and nothing reached through a link that somebody
// else has put in the way.
//
// Names are names inside an open folder, so that no path is walked twice. Functions return 0 or the number of the error (errno).
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace judder::io::disk {

/// An open file or folder.
class Handle {
 public:
  Handle() = default;
  explicit Handle(int number) : number_(number) {}
  Handle(Handle&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      static_cast<void>(close());
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  ~Handle() { static_cast<void>(close()); }
  [[nodiscard]] explicit operator bool() const { return number_ >= 0; }
  [[nodiscard]] int number() const { return number_; }
  int close();

 private:
  int number_ = -1;
};

/// The folder `path`, which may be reached through links: the user's own choice.
int open_folder(const std::filesystem::path& path, Handle& out);
/// The same, but it is no link itself (ELOOP): whoever planted that would choose where files go.
int open_folder_itself(const std::filesystem::path& path, Handle& out);
/// The folder `name` inside another; a link is refused.
int open_folder_in(const Handle& folder, const std::string& name, Handle& out);

/// A new file for writing in the place of what has that name, be it a file or a link, which is not followed.
int create(const Handle& folder, const std::string& name, Handle& out);
/// The same where nothing has that name; EEXIST otherwise.
int create_new(const Handle& folder, const std::string& name, Handle& out);
/// A new file without a name, of which a kill leaves nothing; ENOTSUP where the system has none.
int create_nameless(const Handle& folder, Handle& out);
/// Gives it a name that nothing has; EEXIST otherwise.
int give_name(const Handle& file, const Handle& folder, const std::string& name);
/// An existing regular file for reading, or for reading and writing; links, devices, pipes and folders are refused.
int open_regular(const Handle& folder, const std::string& name, bool write, Handle& out);
/// What a link in the place of a file is: a way to it that the user has named, or something planted.
enum class Links { follow, refuse };
/// An existing regular file for reading; ELOOP: a link that is refused.
int open_to_read(const std::filesystem::path& file, Handle& out, Links links = Links::follow);

/// Bytes of an open file.
int size_of(const Handle& file, std::uint64_t& out);
/// `written`: how much of it got there, also where the rest did not.
int write_all(const Handle& file, std::string_view bytes, std::size_t* written = nullptr);
/// From here on what is written to the file goes behind what is there then, also if somebody else has put it there.
int only_append(const Handle& file);
int cut(const Handle& file, std::uint64_t length);
/// Returns when everything written to these files and folders is on the disk. One wait for all of them.
int sync(std::initializer_list<const Handle*> handles);
/// rename(2) inside a folder.
int rename(const Handle& folder, const std::string& from, const std::string& to);
/// The same where nothing has the new name: EEXIST otherwise. ENOTSUP: the system or the file system has no such call.
int rename_new(const Handle& folder, const std::string& from, const std::string& to);
/// Each gets the name of the other, in one step, so that what had the name can be looked at afterwards. ENOTSUP as above.
int exchange(const Handle& folder, const std::string& one, const std::string& other);
/// No error if there is none.
int remove(const Handle& folder, const std::string& name);
/// Of what has the name, without following a link. ENOENT: nothing has it; every other error leaves that open.
int look(const Handle& folder, const std::string& name, struct stat& out);
[[nodiscard]] bool same(const struct stat& a, const struct stat& b);
/// Whether both paths lead to one folder; `second` may not be there.
int same_place(const std::filesystem::path& first, const std::filesystem::path& second, bool& out);

/// The bytes of a regular file of at most `limit` bytes; EFBIG: it has more.
int read_bounded(const std::filesystem::path& file, std::size_t limit, std::string& out,
                 Links links = Links::follow);
int read_bounded(const Handle& folder, const std::string& name, std::size_t limit, std::string& out);

/// ".press.4711.tmp": the process that writes this draft of `name`; 0: it is none.
[[nodiscard]] pid_t writer_of(std::string_view draft, const std::string& name);

/// In words; what the system says about an open of the wrong kind of file says little.
[[nodiscard]] std::string words(int error);
/// "cannot be written: …", with what a user can do about it.
[[nodiscard]] std::string not_written(int error);
/// "cannot be read: …"
[[nodiscard]] std::string not_read(int error);
/// Whether there is no room, on the disk or in a quota.
[[nodiscard]] bool no_room(int error);

/// A 64-bit check of bytes that come in pieces, for finding what is damaged or belongs elsewhere. A change of one byte always changes it.
class Check {
 public:
  void add(std::string_view bytes) {
    length_ += bytes.size();
    const char* next = bytes.data();
    std::size_t left = bytes.size();
    if (held_ > 0) {
      const std::size_t more = std::min(left, kBlock - held_);
      std::memcpy(hold_ + held_, next, more);
      held_ += more;
      next += more;
      left -= more;
      if (held_ < kBlock) return;
      mix(hold_);
      held_ = 0;
    }
    for (; left >= kBlock; left -= kBlock, next += kBlock) mix(next);
    std::memcpy(hold_, next, left);
    held_ = left;
  }
  [[nodiscard]] std::uint64_t value() const {
    Check last = *this;
    std::memset(last.hold_ + held_, 0, kBlock - held_);
    last.mix(last.hold_);
    std::uint64_t out = length_;
    for (const std::uint64_t lane : last.lane_) out = mixed(out, lane);
    return out;
  }
  /// Sixteen hexadecimal digits.
  [[nodiscard]] std::string text() const;

 private:
  /// Lanes that do not wait for each other.
  static constexpr std::size_t kLanes = 4;
  static constexpr std::size_t kBlock = kLanes * sizeof(std::uint64_t);

  /// The first byte is the lowest on every machine.
  static std::uint64_t word(const char* bytes) {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < sizeof out; ++i)
      out |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    return out;
  }
  // One to one in the sum and in the word, so that a difference never vanishes in the step in which it comes.
  static std::uint64_t mixed(std::uint64_t sum, std::uint64_t word) {
    sum = (sum ^ word) * 0x9E3779B97F4A7C15ULL;
    return sum ^ (sum >> 29U);
  }
  void mix(const char* block) {
    for (std::size_t k = 0; k < kLanes; ++k) lane_[k] = mixed(lane_[k], word(block + 8 * k));
  }

  std::uint64_t lane_[kLanes] = {1, 2, 3, 4};
  std::uint64_t length_ = 0;
  char hold_[kBlock] = {};
  std::size_t held_ = 0;
};

/// Of the first `bytes` bytes of a file, which must be there, and how many lines end in them. Zero on success.
int check_of(const Handle& file, std::uint64_t bytes, Check& out, std::uint64_t* lines = nullptr);

}  // namespace judder::io::disk
