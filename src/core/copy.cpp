#include "core/copy.hpp"

#include "core/clones.hpp"

namespace stretto {

STRETTO_CLONES void copy_backwards(std::byte* to, const std::byte* from, std::size_t bytes) {
  using Vector = std::uint64_t __attribute__((vector_size(32)));
  constexpr std::size_t kVectors = 4;
  constexpr std::size_t kBlock = kVectors * sizeof(Vector);
  while (bytes >= kBlock) {
    bytes -= kBlock;
    Vector block[kVectors];
    for (std::size_t i = 0; i < kVectors; ++i)
      std::memcpy(&block[i], from + bytes + i * sizeof(Vector), sizeof(Vector));
    for (std::size_t i = kVectors; i-- > 0;) std::memcpy(to + bytes + i * sizeof(Vector), &block[i], sizeof(Vector));
  }
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace stretto
