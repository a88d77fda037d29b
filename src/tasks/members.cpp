#include "judder/tasks/members.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <thread>

namespace judder::tasks {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// What the threads of one process share.
class Shared {
 public:
  Shared(const MembersRequest& request, io::MemberFile& file, std::vector<bool> done)
      : request_(request), file_(file), done_(std::move(done)) {}

  /// The next chunk that is still to be made, or none.
  bool next(std::size_t& chunk) {
    for (;;) {
      if (stop_ || cancelled()) return false;
      const std::size_t number =
          request_.machines != nullptr ? request_.machines->next() : counter_.fetch_add(1);
      if (number >= done_.size()) return false;
      if (done_[number] || number % request_.parts != request_.part - 1) continue;
      chunk = number;
      return true;
    }
  }

  void work() {
    const std::unique_ptr<MemberWorker> worker = request_.worker();
    const io::MemberFileHead& head = file_.head();
    std::vector<double> numbers(head.numbers);
    std::vector<char> records;
    std::string message;
    std::size_t chunk = 0;
    while (next(chunk)) {
      records.clear();
      const std::size_t from = chunk * head.chunk, to = std::min(from + head.chunk, head.members);
      for (std::size_t member = from; member < to; ++member) {
        message.clear();
        std::fill(numbers.begin(), numbers.end(), std::numeric_limits<double>::quiet_NaN());
        if (cancelled() || stop_ || !worker->make(member, numbers, message)) return;
        io::put_member_record(numbers, message, records);
        made_.fetch_add(1, std::memory_order_relaxed);
      }
      if (io::FileStatus status = file_.write_chunk(chunk, records); !status.ok()) {
        const std::lock_guard lock(mutex_);
        if (failure_.ok()) failure_ = std::move(status);
        stop_ = true;
        return;
      }
      whole_.fetch_add(to - from, std::memory_order_relaxed);
    }
  }

  [[nodiscard]] bool cancelled() const {
    return request_.cancel != nullptr && request_.cancel->load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t made() const { return made_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t whole() const { return whole_.load(std::memory_order_relaxed); }
  [[nodiscard]] const io::FileStatus& failure() const { return failure_; }

 private:
  const MembersRequest& request_;
  io::MemberFile& file_;
  const std::vector<bool> done_;
  std::atomic<std::size_t> counter_{0}, made_{0}, whole_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  io::FileStatus failure_;
};

std::size_t members_of(const io::MemberFileHead& head, std::size_t chunk) {
  return std::min(head.chunk, head.members - chunk * head.chunk);
}

/// Whether the file holds these members, and all of this part of them.
bool part_done(const MembersRequest& request) {
  io::MemberFile file;
  if (!file.open(request.file, &request.head, false).ok()) return false;
  const std::vector<bool> done = file.done();
  for (std::size_t c = request.part - 1; c < done.size(); c += request.parts) {
    if (!done[c]) return false;
  }
  return true;
}

/// The first process makes the file, or all find it.
io::FileStatus open_file(const MembersRequest& request, io::MemberFile& file) {
  Machines* const machines = request.machines;
  io::FileStatus status;
  if (machines == nullptr || machines->rank() == 0)
    status = request.resume ? file.open(request.file, &request.head, true)
                            : file.create(request.file, request.head, false);
  if (!status.ok() && !request.resume && request.parts > 1 && part_done(request))
    status.message =
        "holds this part, and all of it is done: --join makes the table of the parts; remove it to make it "
        "again";
  if (machines == nullptr) return status;
  const bool failed = machines->meet(!status.ok());
  if (failed && status.ok()) return {request.file.string(), "could not be opened by the first process", 0};
  if (machines->rank() > 0) status = file.open(request.file, &request.head, true);
  return status;
}

}  // namespace

std::size_t chunk_of(std::size_t members) {
  constexpr std::size_t kLargest = 256, kChunks = 1000;
  return std::clamp<std::size_t>(members / kChunks, 1, kLargest);
}

MembersReport make_members(const MembersRequest& request) {
  MembersReport report;
  io::MemberFile file;
  report.files = open_file(request, file);
  if (!report.files.ok()) return report;
  std::vector<bool> done = file.done();
  // Nobody writes before all have read what is there.
  if (request.machines != nullptr) static_cast<void>(request.machines->meet(false));
  std::size_t before = 0, wanted = 0;
  for (std::size_t c = 0; c < done.size(); ++c) {
    if (c % request.parts != request.part - 1) continue;
    wanted += members_of(file.head(), c);
    if (done[c]) before += members_of(file.head(), c);
  }
  Shared shared(request, file, done);
  const Clock::time_point begin = Clock::now();
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  std::size_t threads = request.threads > 0           ? static_cast<std::size_t>(request.threads)
                        : request.machines != nullptr ? 1
                                                      : cores;
  threads = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(done.size(), 1));
  {
    std::atomic<std::size_t> running{threads};
    std::vector<std::jthread> crew;
    for (std::size_t i = 0; i < threads; ++i) {
      crew.emplace_back([&] {
        shared.work();
        running.fetch_sub(1);
      });
    }
    auto told = begin;
    while (running.load() > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(since(begin) < 0.1 ? 1 : 20));
      if (request.machines != nullptr) request.machines->progress();
      if (!request.progress || Clock::now() - told < std::chrono::milliseconds(200)) continue;
      told = Clock::now();
      const double rate = static_cast<double>(shared.made()) / since(begin);
      const auto left = static_cast<double>(wanted - before - std::min(shared.made(), wanted - before));
      request.progress(
          before + shared.made(), rate,
          rate > 0 && request.machines == nullptr ? left / rate : std::numeric_limits<double>::quiet_NaN());
    }
  }
  report.seconds = since(begin);
  report.made = shared.whole();
  report.files = shared.failure();
  report.interrupted = shared.cancelled();
  if (request.machines != nullptr) report.interrupted = request.machines->meet(report.interrupted);
  const std::vector<bool> after = file.done();
  for (std::size_t c = 0; c < after.size(); ++c) {
    if (after[c]) report.done += members_of(file.head(), c);
  }
  if (const io::FileStatus closed = file.close(); report.files.ok()) report.files = closed;
  return report;
}

}  // namespace judder::tasks
