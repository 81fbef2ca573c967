#include "exchange.hpp"

#include <algorithm>

namespace stretto::fft {
namespace {

constexpr int kMaster = 0, kTag = 1;

}  // namespace

Exchange::Exchange(const Options& options, int ranks, int rank)
    : ranks_(ranks),
      rank_(rank),
      scatter_(options.distribute == "scatter"),
      part_size_(options.numbers() / static_cast<std::size_t>(ranks)),
      part_floats_(static_cast<int>(2 * part_size_)) {}

void Exchange::distribute(std::span<const Complex> whole, std::span<Complex> part) const {
  if (scatter_)
    MPI_Scatter(whole.data(), part_floats_, MPI_FLOAT, part.data(), part_floats_, MPI_FLOAT, kMaster, MPI_COMM_WORLD);
  else if (is_master())
    send_parts(whole, part);
  else
    MPI_Recv(part.data(), part_floats_, MPI_FLOAT, kMaster, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// One worker after the other: the first begins to compute while the last still waits for its part.
void Exchange::send_parts(std::span<const Complex> whole, std::span<Complex> part) const {
  for (int worker = 1; worker < ranks_; ++worker)
    MPI_Send(whole.data() + static_cast<std::size_t>(worker) * part_size_, part_floats_, MPI_FLOAT, worker, kTag,
             MPI_COMM_WORLD);
  std::copy_n(whole.begin(), part_size_, part.begin());
}

void Exchange::gather(std::span<const Complex> part, std::span<Complex> whole) const {
  MPI_Gather(part.data(), part_floats_, MPI_FLOAT, whole.data(), part_floats_, MPI_FLOAT, kMaster, MPI_COMM_WORLD);
}

bool Exchange::tell_all(bool value) {
  int told = value ? 1 : 0;
  MPI_Bcast(&told, 1, MPI_INT, kMaster, MPI_COMM_WORLD);
  return told != 0;
}

}  // namespace stretto::fft
