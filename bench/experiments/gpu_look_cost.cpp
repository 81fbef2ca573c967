// What it costs a call to see that its buffers are not a GPU's: a look for drivers and two buffers, with no library
// loaded since MPI_Init, just after one has been, and later. One process: `build/lib/stretto-gpu-look-cost-openmpi`.
// Prints ns a call, the median of blocks that take turns with empty calls.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "clock.hpp"
#include "mpi/devices/gpu_drivers.hpp"
#include "mpi/devices/host_view.hpp"

namespace {

using namespace stretto::mpi;

constexpr int kBlocks = 201;

[[gnu::noinline]] void look(const void* from, const void* to) {
  gpu_drivers.look();
  const HostView input(from, 0, 8);
  const HostView output(to, 0, 8);
  input.fetch();
  asm volatile("" ::"r"(input.address()), "r"(output.address()) : "memory");
  output.store();
}

[[gnu::noinline]] void empty(const void* from, const void* to) { asm volatile("" ::"r"(from), "r"(to) : "memory"); }

template <class Function>
double ns_a_call(const Function& function, int calls) {
  static std::array<char, 16> data;
  const std::int64_t begin = stretto::bench::now_ns();
  for (int call = 0; call < calls; ++call) function(data.data(), data.data() + 8);
  return static_cast<double>(stretto::bench::now_ns() - begin) / calls;
}

void measure(const char* when, int calls) {
  std::array<double, kBlocks> more{};
  for (double& each : more) each = ns_a_call(look, calls) - ns_a_call(empty, calls);
  std::ranges::sort(more);
  std::printf("%-40s %5.1f ns (%.1f to %.1f in the middle half)\n", when, more[kBlocks / 2], more[kBlocks / 4],
              more[kBlocks * 3 / 4]);
}

}  // namespace

int main() {
  gpu_drivers.start();
  measure("no library loaded since MPI_Init", 20000);
  if (dlopen("libanl.so.1", RTLD_NOW) == nullptr) return 1;
  measure("the first calls after one was loaded", 4);
  measure("later calls", 20000);
  return 0;
}
