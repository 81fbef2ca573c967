// Counts and displacements as a program gives them.
#pragma once

#include <mpi.h>

namespace stretto::mpi {

/// An array of the program's, of int or, in the large-count form of a call, of MPI_Count or MPI_Aint.
class IntegerArray {
 public:
  template <class Integer>
  IntegerArray(const Integer* values) : values_(values), wide_(sizeof(Integer) == sizeof(MPI_Count)) {}
  explicit operator bool() const { return values_ != nullptr; }
  MPI_Count operator[](int index) const {
    return wide_ ? static_cast<const MPI_Count*>(values_)[index] : static_cast<const int*>(values_)[index];
  }

 private:
  const void* values_;
  bool wide_;
};
static_assert(sizeof(MPI_Count) == sizeof(MPI_Aint) && sizeof(MPI_Count) != sizeof(int));

}  // namespace stretto::mpi
