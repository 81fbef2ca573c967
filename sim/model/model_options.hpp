// What the model is asked: the benchmark's options, and the machine to run them on.
#pragma once

#include <string>
#include <vector>

#include "catalogue/catalogue.hpp"
#include "options.hpp"
#include "transport/sim/world.hpp"

namespace stretto::model {

// What algorithms that sort by it are told of the order of arrival.
enum class Prediction { right, reversed, random, none };

struct ModelOptions {
  int in_a_row = 1;  // calls of each iteration, one after the other without a barrier; times are those of one
  bench::Options request;
  std::vector<const Algorithm*> algorithms;  // of the request
  sim::Options machine;
  Prediction prediction = Prediction::right;
  std::string machine_file;  // in place of costs; empty: none

  bool one_node() const { return machine.ranks <= machine.ranks_per_node; }
};

// Throws bench::UsageError naming the key, the value and what would be right.
ModelOptions parse_model_options(int argc, char** argv);

}  // namespace stretto::model
