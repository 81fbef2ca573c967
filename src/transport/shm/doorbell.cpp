#include "transport/shm/doorbell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace stretto::shm {

void Doorbell::ring() {
  rings.fetch_add(1, std::memory_order_seq_cst);
  pass_on();
}

void Doorbell::pass_on() {
  constexpr int kWoken = 2;
  if (is_heard()) syscall(SYS_futex, rings.raw(), FUTEX_WAKE, kWoken);
}

}  // namespace stretto::shm
