// What goes on beside the program, and has to be looked after: by the background thread or by the program's MPI calls.
#pragma once

namespace stretto::mpi {

class Driven {
 public:
  virtual ~Driven() = default;
  /// Does what can be done now; returns whether anything could be.
  virtual bool poll() = 0;
  virtual bool has_work() const = 0;
};

}  // namespace stretto::mpi
