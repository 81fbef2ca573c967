// SimGrid's collectives are chosen when smpirun starts, one of each: nothing can be forced beside them.
#include "native_variants.hpp"

namespace stretto::bench {

struct NativeVariants::Settings {};

NativeVariants::NativeVariants(Collective collective) : collective_(collective) {}

NativeVariants::~NativeVariants() = default;

MPI_Comm NativeVariants::communicator_for(const std::string& name) {
  throw UsageError("native:" + name + ": give --native-algorithm, and measure `native`");
}

void NativeVariants::select(const std::string&) {}

}  // namespace stretto::bench
