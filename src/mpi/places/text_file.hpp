// Reading a file that the user has named.
#pragma once

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace stretto::mpi {

/// nullopt, with an error, where it cannot be read.
inline std::optional<std::string> read_file(const std::string& path, std::string& error) {
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (stream.is_open() && !stream.bad()) return text;
  error = std::strerror(errno);
  return std::nullopt;
}

}  // namespace stretto::mpi
