// On what something was measured.
#pragma once

#include <cstdint>
#include <string>

namespace stretto {

struct MeasuredOn {
  std::string date;     // as of ISO 8601
  std::string stretto;  // version
  std::string mpi;      // version of the library, its first line
  std::string cpu;      // model
  std::int64_t cores = 0;
  std::int64_t ranks = 0;
  std::int64_t nodes = 0;
};

}  // namespace stretto
