#include "mpi/places/cores.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

namespace stretto::mpi {

cpu_set_t permitted_cores() {
  cpu_set_t permitted;
  std::memset(&permitted, 0xff, sizeof permitted);
  std::thread([&] {  // that asks for every core
    pthread_setaffinity_np(pthread_self(), sizeof permitted, &permitted);
    pthread_getaffinity_np(pthread_self(), sizeof permitted, &permitted);
  })
      .join();
  return permitted;
}

bool is_told_to_yield() {
  const char* const told = std::getenv("OMPI_MCA_mpi_yield_when_idle");  // --mca gets there, too
  if (told == nullptr) return false;
  constexpr std::string_view kYes[] = {"1", "true", "yes", "t", "y", "enabled"};
  return std::ranges::find(kYes, std::string_view(told)) != std::end(kYes);
}

}  // namespace stretto::mpi
