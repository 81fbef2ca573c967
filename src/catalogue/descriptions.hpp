// What the files of src/algorithms say of their algorithms. The list is made by CMake (cmake/catalogue.cmake).
#pragma once

#include <span>

#include "core/algorithm.hpp"

namespace stretto {

/// By collective's folder and file.
std::span<const Description* const> descriptions();

}  // namespace stretto
