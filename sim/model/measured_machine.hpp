// The machine of machine.toml as the model's: what was measured, in place of a latency and a bandwidth.
#pragma once

#include <string>

#include "transport/sim/world.hpp"

namespace stretto::model {

// Throws bench::UsageError where the file cannot be read, or tells nothing of the links that such ranks have.
void take_measured(sim::Options& machine, const std::string& file);

}  // namespace stretto::model
