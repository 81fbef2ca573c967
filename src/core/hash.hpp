// FNV-1a: a number that differs, almost surely, where anything does that it is of (Fowler, Noll, Vo 1991).
#pragma once

#include <cstdint>
#include <string_view>

namespace stretto {

class Hash {
 public:
  void add(std::uint64_t value) { value_ = (value_ ^ value) * 1099511628211U; }
  void add(std::string_view text) {
    for (const char letter : text) add(static_cast<unsigned char>(letter));
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037U;
};

}  // namespace stretto
