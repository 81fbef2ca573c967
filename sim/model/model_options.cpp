#include "model_options.hpp"

#include <cmath>

#include "measured_machine.hpp"

namespace stretto::model {
namespace {

struct Cost {
  const char* key;
  double& value;
};

[[noreturn]] void refuse(const std::string& key, const std::string& value, const std::string& reason) {
  std::string message = key;
  message.append("=").append(value).append(": ").append(reason);
  throw bench::UsageError(message);
}

Prediction parse_prediction(const std::string& value) {
  if (value == "right") return Prediction::right;
  if (value == "reversed") return Prediction::reversed;
  if (value == "random") return Prediction::random;
  if (value == "none") return Prediction::none;
  refuse("prediction", value, "choose right, reversed, random or none");
}

bool take_machine(sim::Options& machine, const std::string& key, const std::string& value) {
  if (key == "ranks") {
    machine.ranks = bench::parse_number<int>(key, value);
    return true;
  }
  if (key == "ranks_per_node") {
    machine.ranks_per_node = bench::parse_number<int>(key, value);
    return true;
  }
  if (key == "eager_bytes") {
    machine.eager_bytes = bench::parse_number<std::size_t>(key, value);
    return true;
  }
  const Cost costs[] = {{"alpha_ns", machine.inter.alpha_ns},
                        {"beta_ns_per_byte", machine.inter.beta_ns_per_byte},
                        {"gap_ns", machine.inter.gap_ns},
                        {"node_alpha_ns", machine.intra.alpha_ns},
                        {"node_beta_ns_per_byte", machine.intra.beta_ns_per_byte},
                        {"node_gap_ns", machine.intra.gap_ns},
                        {"gamma_ns_per_byte", machine.gamma_ns_per_byte},
                        {"delta_ns_per_byte", machine.delta_ns_per_byte}};
  for (const auto& [known, cost] : costs) {
    if (key != known) continue;
    cost = bench::parse_number<double>(key, value);
    if (!std::isfinite(cost) || cost < 0) refuse(key, value, "must be 0 or more");
    return true;
  }
  return false;
}

void find_algorithms(ModelOptions& options) {
  for (const std::string& name : options.request.algorithms) {
    const Algorithm* algorithm = find_algorithm(options.request.collective, name);
    if (algorithm == nullptr || algorithm->run == nullptr)
      refuse("algorithms", name,
             "the model has Stretto's own " + std::string(name_of(options.request.collective)) +
                 " algorithms only; `stretto algorithms` lists them");
    if (algorithm->needs.memory != Memory::none && !algorithm->uses_node_memory() && !options.one_node())
      refuse("algorithms", name,
             "needs memory that all ranks share; put them on one node with ranks_per_node=" +
                 std::to_string(options.machine.ranks));
    options.algorithms.push_back(algorithm);
  }
}

}  // namespace

ModelOptions parse_model_options(int argc, char** argv) {
  ModelOptions options;
  options.machine.ranks_per_node = 1;
  options.request = bench::parse_options(argc, argv, [&](const std::string& key, const std::string& value) {
    if (key == "in_a_row") {
      options.in_a_row = bench::parse_number<int>(key, value);
      return true;
    }
    if (key == "machine") {
      options.machine_file = value;
      return true;
    }
    if (key != "prediction") return take_machine(options.machine, key, value);
    options.prediction = parse_prediction(value);
    return true;
  });
  if (options.in_a_row < 1) refuse("in_a_row", std::to_string(options.in_a_row), "must be at least 1");
  if (options.machine.ranks < 2) throw bench::UsageError("ranks= must be at least 2");
  if (options.machine.ranks_per_node < 1) throw bench::UsageError("ranks_per_node= must be at least 1");
  const auto& root = options.request.root;
  if (root && (*root < 0 || *root >= options.machine.ranks))
    refuse("root", std::to_string(*root), "there are " + std::to_string(options.machine.ranks) + " ranks");
  if (!options.machine_file.empty()) take_measured(options.machine, options.machine_file);
  find_algorithms(options);
  return options;
}

}  // namespace stretto::model
