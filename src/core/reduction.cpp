// Kernels for the predefined operations. Plain loops that the compiler vectorises, compiled once per instruction set.
//
// They are ours, not MPI_Reduce_local, for speed and because Open MPI 5.0's AVX component sums 8-bit integers wrongly.

#include "core/reduction.hpp"

#include <complex>
#include <iterator>
#include <string_view>
#include <type_traits>

#include "core/clones.hpp"

namespace stretto {
namespace {

template <class T>
struct Sum {
  static T apply(T a, T b) { return static_cast<T>(a + b); }
};
template <class T>
struct Product {
  static T apply(T a, T b) { return static_cast<T>(a * b); }
};
template <class T>
struct Minimum {
  static T apply(T a, T b) { return a < b ? a : b; }
};
template <class T>
struct Maximum {
  static T apply(T a, T b) { return a > b ? a : b; }
};
template <class T>
struct LogicalAnd {
  static T apply(T a, T b) { return static_cast<T>((a != T{}) && (b != T{})); }
};
template <class T>
struct LogicalOr {
  static T apply(T a, T b) { return static_cast<T>((a != T{}) || (b != T{})); }
};
template <class T>
struct LogicalXor {
  static T apply(T a, T b) { return static_cast<T>((a != T{}) != (b != T{})); }
};
template <class T>
struct BitAnd {
  static T apply(T a, T b) { return static_cast<T>(a & b); }
};
template <class T>
struct BitOr {
  static T apply(T a, T b) { return static_cast<T>(a | b); }
};
template <class T>
struct BitXor {
  static T apply(T a, T b) { return static_cast<T>(a ^ b); }
};

template <class T, template <class> class Op>
STRETTO_CLONES void combine(const void* in, void* inout, std::size_t count, const void*) {
  const T* __restrict a = static_cast<const T*>(in);
  T* __restrict b = static_cast<T*>(inout);
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) b[i] = Op<T>::apply(a[i], b[i]);
}

template <class T, template <class> class Op>
Reduction kernel() {
  return {&combine<T, Op>, nullptr, sizeof(T), true};
}

template <class T>
Reduction arithmetic(Operation operation) {
  constexpr bool kOrdered = std::is_arithmetic_v<T>;
  constexpr bool kBits = std::is_integral_v<T>;
  switch (operation) {
    case Operation::sum:
      return kernel<T, Sum>();
    case Operation::product:
      return kernel<T, Product>();
    case Operation::minimum:
      if constexpr (kOrdered) return kernel<T, Minimum>();
      break;
    case Operation::maximum:
      if constexpr (kOrdered) return kernel<T, Maximum>();
      break;
    case Operation::logical_and:
      if constexpr (kBits) return kernel<T, LogicalAnd>();
      break;
    case Operation::logical_or:
      if constexpr (kBits) return kernel<T, LogicalOr>();
      break;
    case Operation::logical_xor:
      if constexpr (kBits) return kernel<T, LogicalXor>();
      break;
    case Operation::bit_and:
      if constexpr (kBits) return kernel<T, BitAnd>();
      break;
    case Operation::bit_or:
      if constexpr (kBits) return kernel<T, BitOr>();
      break;
    case Operation::bit_xor:
      if constexpr (kBits) return kernel<T, BitXor>();
      break;
  }
  return {};
}

Reduction logical(Operation operation) {
  switch (operation) {
    case Operation::logical_and:
      return kernel<std::uint8_t, LogicalAnd>();
    case Operation::logical_or:
      return kernel<std::uint8_t, LogicalOr>();
    case Operation::logical_xor:
      return kernel<std::uint8_t, LogicalXor>();
    default:
      return {};
  }
}

}  // namespace

Reduction predefined_reduction(Operation operation, Element element) {
  switch (element) {
    case Element::int8:
      return arithmetic<std::int8_t>(operation);
    case Element::int16:
      return arithmetic<std::int16_t>(operation);
    case Element::int32:
      return arithmetic<std::int32_t>(operation);
    case Element::int64:
      return arithmetic<std::int64_t>(operation);
    case Element::uint8:
      return arithmetic<std::uint8_t>(operation);
    case Element::uint16:
      return arithmetic<std::uint16_t>(operation);
    case Element::uint32:
      return arithmetic<std::uint32_t>(operation);
    case Element::uint64:
      return arithmetic<std::uint64_t>(operation);
    case Element::float32:
      return arithmetic<float>(operation);
    case Element::float64:
      return arithmetic<double>(operation);
    case Element::float128_x87:
      return arithmetic<long double>(operation);
    case Element::complex64:
      return arithmetic<std::complex<float>>(operation);
    case Element::complex128:
      return arithmetic<std::complex<double>>(operation);
    case Element::boolean:
      return logical(operation);
  }
  return {};
}

std::size_t element_bytes(Element element) {
  switch (element) {
    case Element::int8:
    case Element::uint8:
    case Element::boolean:
      return 1;
    case Element::int16:
    case Element::uint16:
      return 2;
    case Element::int32:
    case Element::uint32:
    case Element::float32:
      return 4;
    case Element::int64:
    case Element::uint64:
    case Element::float64:
    case Element::complex64:
      return 8;
    case Element::float128_x87:
    case Element::complex128:
      return 16;
  }
  return 0;
}

namespace {

constexpr std::string_view kOperations[] = {"MPI_SUM", "MPI_PROD", "MPI_MIN",  "MPI_MAX", "MPI_LAND",
                                            "MPI_LOR", "MPI_LXOR", "MPI_BAND", "MPI_BOR", "MPI_BXOR"};
constexpr std::string_view kElements[] = {"int8",    "int16",     "int32",      "int64",   "uint8",
                                          "uint16",  "uint32",    "uint64",     "float32", "float64",
                                          "float80", "complex64", "complex128", "bool"};
static_assert(std::size(kOperations) == static_cast<std::size_t>(Operation::bit_xor) + 1);
static_assert(std::size(kElements) == static_cast<std::size_t>(Element::boolean) + 1);

}  // namespace

std::uint32_t code_of(Operation operation, Element element) {
  const std::size_t row = static_cast<std::size_t>(operation) * std::size(kElements);
  return static_cast<std::uint32_t>(1 + row + static_cast<std::size_t>(element));
}

std::string name_of_code(std::uint32_t code) {
  const std::size_t which = code - 1;
  return std::string(kOperations[which / std::size(kElements)]) + " of " +
         std::string(kElements[which % std::size(kElements)]);
}

}  // namespace stretto
