// Waiting for messages without taking the core from those who measure, as ranks may outnumber cores.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <thread>

namespace stretto::mpi {

inline void wait_asleep(MPI_Request request) {
  constexpr std::chrono::milliseconds kNap{1};  // to look costs some 20 us
  int done = 0;
  PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
  while (done == 0) {
    std::this_thread::sleep_for(kNap);
    PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
}

template <typename T>
void broadcast_asleep(T* values, std::size_t count, MPI_Datatype type, int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Ibcast(values, static_cast<int>(count), type, root, comm, &request);
  wait_asleep(request);
}

}  // namespace stretto::mpi
