#include "mpi/engine/failures.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <numeric>
#include <type_traits>

namespace stretto::mpi {

void Failures::watch([[maybe_unused]] MPI_Comm comm) {
#ifdef OPEN_MPI  // MPICH 5.0.2 has these functions, which end the program
  const auto* on = static_cast<const bool*>(dlsym(RTLD_DEFAULT, "ompi_ftmpi_enabled"));
  if (on != nullptr && !*on) return;  // mpirun's --with-ft
  comm_ = comm;
  const auto find = [](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(RTLD_DEFAULT, name));
  };
  find("PMPIX_Comm_failure_ack", acknowledge_);
  find("PMPIX_Comm_failure_get_acked", get_acknowledged_);
#endif
}

bool Failures::any_of(const Channel& members) const {
  const std::vector<int> failed = ranks_of_failed();
  if (failed.empty()) return false;
  for (int rank = 0; rank < members.size(); ++rank) {
    if (std::ranges::find(failed, members.real(rank)) != failed.end()) return true;
  }
  return false;
}

std::vector<int> Failures::ranks_of_failed() const {
  MPI_Group failed = MPI_GROUP_EMPTY;
  if (comm_ == MPI_COMM_NULL || !can_be_known() || acknowledge_(comm_) != MPI_SUCCESS) return {};
  if (get_acknowledged_(comm_, &failed) != MPI_SUCCESS) return {};
  int count = 0;
  PMPI_Group_size(failed, &count);
  std::vector<int> places(static_cast<std::size_t>(count));
  std::iota(places.begin(), places.end(), 0);
  std::vector<int> ranks(places.size());
  if (count > 0) {
    MPI_Group all = MPI_GROUP_NULL;
    PMPI_Comm_group(comm_, &all);
    PMPI_Group_translate_ranks(failed, count, places.data(), all, ranks.data());
    PMPI_Group_free(&all);
  }
  if (failed != MPI_GROUP_EMPTY) PMPI_Group_free(&failed);
  return ranks;
}

}  // namespace stretto::mpi
