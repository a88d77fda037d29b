// All members of an ensemble on all cores, into a file of records (io/member_file.hpp).
//
// Members are handed out in chunks from a counter, to threads of this process and, where there are Machines, to those of other processes. What a
// member gives is written at its place, so that the file does not depend on who has made what and when. An interrupt leaves whole chunks; the same
// members are taken up again by `resume`, also after a kill, and end in the same file.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "judder/io/member_file.hpp"

namespace judder::tasks {

/// Makes members in one thread.
class MemberWorker {
 public:
  virtual ~MemberWorker() = default;
  /// The numbers of a record, and words where it has failed. False: interrupted; the member does not count.
  virtual bool make(std::size_t member, std::span<double> numbers, std::string& message) = 0;
};

/// Several processes that make the members of one ensemble together; also on other machines, with a file system that they share.
class Machines {
 public:
  virtual ~Machines() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// The next number of a counter that all share. Any thread may ask.
  [[nodiscard]] virtual std::size_t next() = 0;
  /// Returns when all have come here; true if any of them says so.
  virtual bool meet(bool any) = 0;
  /// Called now and then while this process computes: where a network needs the help of both sides.
  virtual void progress() = 0;
};

struct MembersRequest {
  std::filesystem::path file{};
  io::MemberFileHead head{};
  int threads = 0;  ///< 0: as many as the machine has, one beside Machines
  bool resume = false;
  /// The first of them: part 1 of `parts`; a chunk belongs to the part of its number modulo `parts`.
  std::size_t part = 1, parts = 1;
  Machines* machines = nullptr;
  const std::atomic<bool>* cancel = nullptr;
  std::function<std::unique_ptr<MemberWorker>()> worker{};  ///< called in each thread
  /// From time to time: members that are there, members made by this process per second, seconds to go (NaN: not known).
  std::function<void(std::size_t done, double rate, double seconds)> progress{};
};

struct MembersReport {
  io::FileStatus files;
  bool interrupted = false;
  std::size_t done = 0;  ///< members that are there, of all
  std::size_t made = 0;  ///< by this process
  double seconds = 0;    ///< that took
};

[[nodiscard]] MembersReport make_members(const MembersRequest& request);

/// Members in a chunk: few enough that an interrupt loses little, the same on every machine.
[[nodiscard]] std::size_t chunk_of(std::size_t members);

}  // namespace judder::tasks
