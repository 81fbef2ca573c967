#include "core/collective.hpp"

#include "core/platform.hpp"

namespace stretto {

std::string_view name_of(Collective collective) {
  constexpr std::string_view kNames[] = {"allreduce",
                                         "reduce",
                                         "bcast",
                                         "barrier",
                                         "scatter",
                                         "gather",
                                         "scatterv",
                                         "gatherv",
                                         "allgather",
                                         "allgatherv",
                                         "reduce_scatter_block",
                                         "reduce_scatter",
                                         "alltoall",
                                         "alltoallv"};
  static_assert(std::size(kNames) == std::size(kCollectives));
  return kNames[static_cast<std::size_t>(collective)];
}

void Caller::arrive(Platform& platform, const std::byte* input_, std::byte* output_) {
  input = input_;
  output = output_;
  platform.publish(here, 1);
}

}  // namespace stretto
