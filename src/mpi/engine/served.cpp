#include "mpi/engine/served.hpp"

#include <cstdio>

namespace stretto::mpi {

void Served::report(const std::string& collective) const {
  for (std::size_t which = 0; which <= algorithm_count(); ++which) {
    if (counts_[which] == 0) continue;
    const char* name = which == 0 ? "native" : algorithm_numbered(which - 1).name.data();
    std::fprintf(stderr, "stretto: %s: %s ran %llu times\n", collective.c_str(), name,
                 static_cast<unsigned long long>(counts_[which].load()));
  }
}

}  // namespace stretto::mpi
