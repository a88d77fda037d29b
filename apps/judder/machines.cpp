// Processes of mpirun. Without MPI in the build there are none.
#include "machines.hpp"

#include <cstdlib>

#ifdef JUDDER_WITH_MPI
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <mutex>
#endif

namespace judder::app {

#ifdef JUDDER_WITH_MPI
namespace {

/// The counter stands in the memory of the first process; the others take from it without its help.
class Processes final : public tasks::Machines {
 public:
  Processes() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    const MPI_Aint bytes = rank_ == 0 ? sizeof(unsigned long long) : 0;
    MPI_Win_allocate(bytes, sizeof(unsigned long long), MPI_INFO_NULL, MPI_COMM_WORLD, &counter_, &window_);
    if (rank_ == 0) *counter_ = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window_);
  }
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  ~Processes() override {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
    MPI_Finalize();
  }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  std::size_t next() override {
    const std::lock_guard lock(mutex_);
    const unsigned long long one = 1;
    unsigned long long out = 0;
    MPI_Fetch_and_op(&one, &out, MPI_UNSIGNED_LONG_LONG, 0, 0, MPI_SUM, window_);
    MPI_Win_flush(0, window_);
    return static_cast<std::size_t>(out);
  }
  bool meet(bool any) override {
    const std::lock_guard lock(mutex_);
    int mine = any ? 1 : 0, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return all != 0;
  }
  void progress() override {
    const std::lock_guard lock(mutex_);
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }

 private:
  int rank_ = 0, size_ = 1;
  unsigned long long* counter_ = nullptr;
  MPI_Win window_{};
  std::mutex mutex_;
};

}  // namespace

std::unique_ptr<tasks::Machines> machines_of_mpi() { return std::make_unique<Processes>(); }
bool has_mpi() { return true; }

#else

std::unique_ptr<tasks::Machines> machines_of_mpi() { return nullptr; }
bool has_mpi() { return false; }

#endif

int processes_of_mpi() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const char* const text = std::getenv(name); text != nullptr) return std::atoi(text);
  }
  return 1;
}

}  // namespace judder::app
