#include "transport/shm/doorbell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace stretto::shm {

int Doorbell::ring() {
  rings.fetch_add(1, std::memory_order_seq_cst);
  return pass_on();
}

int Doorbell::pass_on() {
  constexpr int kMost = 2;
  const bool any = sleepers.load(std::memory_order_seq_cst) > 0;
  return any ? static_cast<int>(syscall(SYS_futex, rings.raw(), FUTEX_WAKE, kMost)) : 0;
}

}  // namespace stretto::shm
