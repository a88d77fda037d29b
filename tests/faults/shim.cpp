// Loaded before the C library (LD_PRELOAD), it makes the system calls with which files are written fail, end the process or come sooner than they would.
//
//     JUDDER_FAULT_KILL=n    the process is killed in place of the n-th of these calls
//     JUDDER_FAULT_POWER=n   the same, and of files that are open everything is lost that was not brought to the disk (fsync)
//     JUDDER_FAULT_FULL=n    from the n-th write on the disk is full: half of that one is written, all later ones fail
//     JUDDER_FAULT_ROOM=n    the disk has room for n bytes; what is cut, removed or replaced gives its room back
//     JUDDER_FAULT_ONCE=n    the n-th of these calls fails with an error of the device, the others do not
//     JUDDER_FAULT_READ=n    the n-th of the calls that open, look at or read a file fails in the same way
//     JUDDER_FAULT_NAME=1    no folder gets another name: there is no room for it
//     JUDDER_FAULT_MEMORY=n  the n-th allocation fails, the others do not
//     JUDDER_FAULT_STARVE=n  the first allocation behind the n-th of the calls that write fails, the others do not
//     JUDDER_FAULT_TICK=n    the monotonic clock is n microseconds later whenever it is read, so that a run does the same whatever else the machine does
//     JUDDER_FAULT_FLAT=1    folders cannot be locked, as on some network file systems
//     JUDDER_FAULT_PLAIN=1   names cannot be exchanged, nor given only where nothing has them, as on some file systems
//     JUDDER_FAULT_STOP=n    the process stops (STOP) in front of the n-th of the calls that wait for the disk, for who wants to do something meanwhile
//     JUDDER_FAULT_STEP=n    the same in front of the n-th of those that give a file or a folder its name
//     JUDDER_FAULT_COUNT=f   at the end the numbers of calls, of writes, of allocations and of calls that read are written to the file f
//
// Only files opened by the program count, not its standard streams.
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace {

long setting(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atol(text);
}

std::atomic<long> calls{0};
std::atomic<long> writes{0};
std::atomic<long> reads{0};
std::atomic<long> readings{0};     // of the clock
std::atomic<long> allocations{0};  // since the shim was made ready, which is before the program begins

struct Settings {
  long kill = setting("JUDDER_FAULT_KILL");
  long power = setting("JUDDER_FAULT_POWER");
  long full = setting("JUDDER_FAULT_FULL");
  long room = setting("JUDDER_FAULT_ROOM");
  long once = setting("JUDDER_FAULT_ONCE");
  long read = setting("JUDDER_FAULT_READ");
  long name = setting("JUDDER_FAULT_NAME");
  long tick = setting("JUDDER_FAULT_TICK");
  long memory = setting("JUDDER_FAULT_MEMORY");
  long starve = setting("JUDDER_FAULT_STARVE");
  long flat = setting("JUDDER_FAULT_FLAT");
  long plain = setting("JUDDER_FAULT_PLAIN");
  long stop = setting("JUDDER_FAULT_STOP");
  long step = setting("JUDDER_FAULT_STEP");
  int ready = 1;  // last, and zero until then: memory is asked for before
  ~Settings() {
    ready = 0;
    const char* file = std::getenv("JUDDER_FAULT_COUNT");
    if (file == nullptr) return;
    const int out =
        static_cast<int>(::syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_TRUNC, 0666));
    char text[96];
    const int length = std::snprintf(text, sizeof text, "%ld %ld %ld %ld\n", calls.load(), writes.load(),
                                     allocations.load(), reads.load());
    static_cast<void>(::syscall(SYS_write, out, text, static_cast<size_t>(length)));
  }
};
Settings settings;

int about_file(int folder, const char* name, struct stat* out, int flags) {
  return static_cast<int>(::syscall(SYS_newfstatat, folder, name, out, flags));
}
int about_open(int file, struct stat* out) { return about_file(file, "", out, AT_EMPTY_PATH); }

/// By number of an open file: how long it is on the disk, and whether there is more of it in memory.
struct OnDisk {
  off_t length = 0;
  bool more = false;
};
OnDisk on_disk[1024];
void is_on_disk(int file) {
  struct stat about {};
  if (file >= 0 && file < 1024) on_disk[file] = {about_open(file, &about) == 0 ? about.st_size : 0, false};
}

/// One of the calls: true if it is to fail.
bool counts() {
  const long number = ++calls;
  for (int file = 3; number == settings.power && file < 1024; ++file) {
    if (on_disk[file].more) static_cast<void>(::syscall(SYS_ftruncate, file, on_disk[file].length));
  }
  if (number == settings.power) static_cast<void>(::syscall(SYS_kill, ::getpid(), SIGKILL));
  if (number == settings.kill) static_cast<void>(::syscall(SYS_kill, ::getpid(), SIGKILL));
  return number == settings.once;
}

/// The same of those that read.
bool fails_to_read() { return settings.ready == 1 && ++reads == settings.read; }

std::atomic<long> waits{0};
std::atomic<long> names{0};
void stops_at(std::atomic<long>& count, long at) {
  if (++count == at) static_cast<void>(::syscall(SYS_kill, ::getpid(), SIGSTOP));
}

std::atomic<long> used{0};

/// The bytes of what has the name, which is about to go.
long size_of(int folder, const char* name) {
  struct stat about {};
  if (settings.room <= 0 || about_file(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(about.st_mode))
    return 0;
  return about.st_size;
}

int broken() {
  errno = EIO;
  return -1;
}

}  // namespace

extern "C" {

void* __libc_malloc(size_t size);
void* malloc(size_t size) {
  const bool starves = settings.ready == 1 && settings.starve > 0 && calls >= settings.starve;
  if (starves) settings.starve = 0;
  if (starves || (settings.ready == 1 && ++allocations == settings.memory)) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_malloc(size);
}

ssize_t write(int file, const void* bytes, size_t size) {
  if (file <= 2) return ::syscall(SYS_write, file, bytes, size);
  if (counts()) return broken();
  if (file < 1024) on_disk[file].more = true;
  const long number = ++writes;
  if (settings.full > 0 && number > settings.full) {
    errno = ENOSPC;
    return -1;
  }
  if (settings.full > 0 && number == settings.full) {
    if (size / 2 > 0) return ::syscall(SYS_write, file, bytes, size / 2);
    errno = ENOSPC;
    return -1;
  }
  if (settings.room > 0) {
    const long left = settings.room - used;
    if (left <= 0) {
      errno = ENOSPC;
      return -1;
    }
    const ssize_t written =
        ::syscall(SYS_write, file, bytes, std::min<size_t>(size, static_cast<size_t>(left)));
    if (written > 0) used += written;
    return written;
  }
  return ::syscall(SYS_write, file, bytes, size);
}

int flock(int file, int operation) noexcept {
  struct stat about {};
  if (settings.flat > 0 && about_open(file, &about) == 0 && S_ISDIR(about.st_mode)) {
    errno = EBADF;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_flock, file, operation));
}
int fsync(int file) {
  if (counts()) return broken();
  stops_at(waits, settings.stop);
  const int result = static_cast<int>(::syscall(SYS_fsync, file));
  if (result == 0) is_on_disk(file);
  return result;
}
int ftruncate(int file, off_t length) noexcept {
  if (counts()) return broken();
  struct stat about {};
  if (settings.room > 0 && about_open(file, &about) == 0 && about.st_size > length)
    used -= about.st_size - length;
  if (file < 1024) on_disk[file].length = std::min(on_disk[file].length, length);
  return static_cast<int>(::syscall(SYS_ftruncate, file, length));
}
int unlinkat(int folder, const char* name, int flags) noexcept {
  if (counts()) return broken();
  const long size = size_of(folder, name);
  const int result = static_cast<int>(::syscall(SYS_unlinkat, folder, name, flags));
  if (result == 0) used -= size;
  return result;
}
int mkdirat(int folder, const char* name, mode_t mode) noexcept {
  return counts() ? broken() : static_cast<int>(::syscall(SYS_mkdirat, folder, name, mode));
}
int renameat2(int from, const char* old, int to, const char* name, unsigned how) noexcept {
  if (how != 0 && settings.plain > 0) {
    errno = EINVAL;
    return -1;
  }
  if (counts()) return broken();
  stops_at(names, settings.step);
  struct stat about {};
  if (settings.name > 0 && about_file(from, old, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISDIR(about.st_mode)) {
    errno = ENOSPC;
    return -1;
  }
  const long size = how == 0 ? size_of(to, name) : 0;  // the others replace nothing
  const int result = static_cast<int>(::syscall(SYS_renameat2, from, old, to, name, how));
  if (result == 0) used -= size;
  return result;
}
int renameat(int from, const char* old, int to, const char* name) noexcept {
  return renameat2(from, old, to, name, 0);
}

int openat(int folder, const char* name, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {
    va_list more;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    va_end(more);
    if (counts()) return broken();
  } else if (fails_to_read()) {
    return broken();
  }
  const int file = static_cast<int>(::syscall(SYS_openat, folder, name, flags, mode));
  is_on_disk(file);
  return file;
}

ssize_t read(int file, void* bytes, size_t size) {
  return file > 2 && fails_to_read() ? broken() : ::syscall(SYS_read, file, bytes, size);
}
ssize_t pread(int file, void* bytes, size_t size, off_t at) {
  return fails_to_read() ? broken() : ::syscall(SYS_pread64, file, bytes, size, at);
}
int fstat(int file, struct stat* out) noexcept { return fails_to_read() ? broken() : about_open(file, out); }
int stat(const char* name, struct stat* out) noexcept {
  return fails_to_read() ? broken() : about_file(AT_FDCWD, name, out, 0);
}
int lstat(const char* name, struct stat* out) noexcept {
  return fails_to_read() ? broken() : about_file(AT_FDCWD, name, out, AT_SYMLINK_NOFOLLOW);
}
int fstatat(int folder, const char* name, struct stat* out, int flags) noexcept {
  return fails_to_read() ? broken() : about_file(folder, name, out, flags);
}

int clock_gettime(clockid_t which, struct timespec* out) noexcept {
  if (which != CLOCK_MONOTONIC || settings.tick <= 0)
    return static_cast<int>(::syscall(SYS_clock_gettime, which, out));
  const long microseconds = ++readings * settings.tick;
  out->tv_sec = microseconds / 1000000;
  out->tv_nsec = microseconds % 1000000 * 1000;
  return 0;
}

}  // extern "C"
