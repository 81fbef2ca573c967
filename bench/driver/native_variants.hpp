// What the MPI library can be forced to run in place of its default, which is often poor: a win over a poor default is
// no win. Open MPI: the algorithms of its component `tuned`, and its other components. MPICH: its algorithms.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "options.hpp"

namespace stretto::bench {

class NativeVariants {
 public:
  // Asks the MPI library by its tools interface (MPI_T), so the names are those of its own settings.
  explicit NativeVariants(Collective collective);
  ~NativeVariants();
  NativeVariants(const NativeVariants&) = delete;
  NativeVariants& operator=(const NativeVariants&) = delete;

  const std::vector<std::string>& names() const { return names_; }
  // A communicator of all ranks on which to run the variant. Collective. Throws UsageError for an unknown one.
  MPI_Comm communicator_for(const std::string& name);
  // To be called before a call of the variant, and with "" after it; the same on all ranks.
  void select(const std::string& name);

 private:
  struct Settings;  // that are written around a call, and what they were

  Collective collective_;
  std::unique_ptr<Settings> settings_;
  std::vector<std::string> names_;
  std::vector<MPI_Comm> communicators_;
};

}  // namespace stretto::bench
