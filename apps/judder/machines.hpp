// The processes that mpirun has started this program in.
#pragma once

#include <memory>

#include "judder/tasks/members.hpp"

namespace judder::app {

/// How many there are, as the environment says; 1 outside of mpirun.
[[nodiscard]] int processes_of_mpi();
/// Whether this build can work with them.
[[nodiscard]] bool has_mpi();
/// All of them call this, once; null in a build without MPI.
[[nodiscard]] std::unique_ptr<tasks::Machines> machines_of_mpi();

}  // namespace judder::app
