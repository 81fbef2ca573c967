// NumPy's file format for one array: this header, then the elements, row after row.
#pragma once

#include <string>

namespace stretto::asp {

// Of a square matrix of floats in this machine's byte order.
std::string npy_header(int rows);

}  // namespace stretto::asp
