// Prints, for the MPI library's default and for each algorithm that its allreduce can be forced to, a hash of the sum
// of random floats, whose last bits tell in which order they were added. Then for the default once more.
#include "native_variants.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "random.hpp"

int main(int argc, char** argv) {
  using namespace stretto::bench;
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  {
    NativeVariants variants(Collective::allreduce);
    std::vector<float> mine(100'000), sum(mine.size());
    for (std::size_t i = 0; i < mine.size(); ++i)
      mine[i] = static_cast<float>(random_unit(1, static_cast<std::uint64_t>(rank), i));
    const auto report = [&](const std::string& name, MPI_Comm communicator) {
      variants.select(name);
      MPI_Allreduce(mine.data(), sum.data(), static_cast<int>(mine.size()), MPI_FLOAT, MPI_SUM, communicator);
      variants.select("");
      std::uint64_t hash = 0;
      for (const float value : sum) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        hash = scatter_bits(hash ^ bits);
      }
      if (rank == 0)
        std::printf("%s %016llx\n", name.empty() ? "default" : name.c_str(), static_cast<unsigned long long>(hash));
    };
    report("", MPI_COMM_WORLD);
    for (const std::string& name : variants.names()) report(name, variants.communicator_for(name));
    report("", MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
