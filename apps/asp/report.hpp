// What the master tells of a run.
#pragma once

#include <cstdint>
#include <cstdio>

#include "options.hpp"
#include "steps.hpp"

namespace stretto::asp {

struct Report {
  Options options;
  int ranks;
  int vertices;
  std::int64_t edges;
  int steps;
  Times times;
};

// The table of Luo 2018.
void print_summary(const Report& report);

void write_json(std::FILE* file, const Report& report);

}  // namespace stretto::asp
