// Reductions reach the engine as type-erased functions, so that the algorithms need no mpi.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace stretto {

/// An MPI operation on elements of one datatype.
struct Reduction {
  /// inout[i] = in[i] op inout[i] for i < count (the operand order of MPI_Reduce_local).
  void (*combine)(const void* in, void* inout, std::size_t count, const void* context) = nullptr;
  const void* context = nullptr;
  std::size_t element_bytes = 0;
  bool commutative = true;
  std::uint32_t code = 0;  // of a predefined one, the same in all processes; 0 of the user's
};

enum class Operation { sum, product, minimum, maximum, logical_and, logical_or, logical_xor, bit_and, bit_or, bit_xor };
enum class Element {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  float128_x87,
  complex64,
  complex128,
  boolean
};

/// The kernel for a predefined operation, or one without `combine` where MPI does not define it (bitwise operations on
/// floating-point numbers, ordering of complex numbers, ...).
Reduction predefined_reduction(Operation operation, Element element);

std::size_t element_bytes(Element element);

/// For Reduction::code, never 0; and what such a code means: "MPI_SUM of int32".
std::uint32_t code_of(Operation operation, Element element);
std::string name_of_code(std::uint32_t code);

}  // namespace stretto
