#include "npy.hpp"

#include <bit>
#include <string_view>

namespace stretto::asp {
namespace {

// Version 1.0; two bytes for the length of the text follow.
constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);
constexpr std::size_t kAlignment = 64;

}  // namespace

std::string npy_header(int rows) {
  const std::string side = std::to_string(rows);
  std::string text = std::endian::native == std::endian::little ? "{'descr': '<f4'" : "{'descr': '>f4'";
  text += ", 'fortran_order': False, 'shape': (" + side + ", " + side + "), }";
  const std::size_t unpadded = kMagic.size() + 2 + text.size() + 1;
  text.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  text += '\n';
  std::string header(kMagic);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace stretto::asp
