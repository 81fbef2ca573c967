// Processes that have failed while the MPI library lives on without them: user-level failure mitigation, ULFM (Bland,
// Bouteiller, Herault, Bosilca, Dongarra 2013). An error is for the program to see, and nobody waits for the dead.
#pragma once

#include <mpi.h>

#include <vector>

#include "transport/mpi/channel.hpp"

namespace stretto::mpi {

#if defined(MPIX_ERR_PROC_FAILED)
inline constexpr int kProcessFailed = MPIX_ERR_PROC_FAILED;
#elif defined(MPI_ERR_PROC_FAILED)  // Open MPI has the other name in mpi-ext.h
inline constexpr int kProcessFailed = MPI_ERR_PROC_FAILED;
#else
inline constexpr int kProcessFailed = MPI_ERR_OTHER;
#endif

class Failures {
 public:
  /// Among the processes of `comm`, a communicator that nobody else acknowledges failures on.
  void watch(MPI_Comm comm);
  /// Whether the MPI library can tell of any. Else it ends the job, or those who wait may wait for ever.
  bool can_be_known() const { return acknowledge_ != nullptr && get_acknowledged_ != nullptr; }
  bool any() const { return !ranks_of_failed().empty(); }
  /// Whether a rank of `members` has failed. Local; some microseconds.
  bool any_of(const Channel& members) const;

 private:
  std::vector<int> ranks_of_failed() const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  int (*acknowledge_)(MPI_Comm) = nullptr;
  int (*get_acknowledged_)(MPI_Comm, MPI_Group*) = nullptr;
};

}  // namespace stretto::mpi
