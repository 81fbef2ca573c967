#include "measured_machine.hpp"

#include <fstream>
#include <iterator>

#include "options.hpp"
#include "select/machine_file.hpp"

namespace stretto::model {
namespace {

// Of ranks that meet on `level`. As plans have it (Machine::costs), with all that was measured in place of two figures.
sim::Link link_of(const Machine& machine, Level level, const std::string& file) {
  const Link* const measured = machine.link(level);
  if (measured == nullptr) throw bench::UsageError(file + ": tells of no link between ranks: measure two or more");
  const Costs costs = machine.costs(level, Machine::kPlanned);
  sim::Link link{static_cast<double>(measured->message.at(0)), static_cast<double>(costs.beta_ps_per_byte) / 1000};
  link.message = [curve = measured->message](std::size_t bytes) { return curve.at(bytes); };
  link.next = [curve = measured->gap](std::size_t bytes) { return curve.at(bytes); };
  link.eager_bytes = static_cast<std::size_t>(measured->eager_bytes) + 1;
  return link;
}

std::string read(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw bench::UsageError("machine=" + file + ": cannot be opened");
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

void take_measured(sim::Options& machine, const std::string& file) {
  std::string error;
  const Machine measured = read_machine(read(file), file, error).machine;
  if (!error.empty()) throw bench::UsageError(error);
  machine.intra = link_of(measured, Level::node, file);
  machine.inter = link_of(measured, Level::machine, file);
  if (measured.line_ns > 0) machine.signal_ns = static_cast<double>(measured.line_ns);
  const MemoryTimes* const work = measured.work(std::min(machine.ranks, machine.ranks_per_node));
  if (work == nullptr) return;
  machine.reduction = [curve = work->reduce](std::size_t bytes) { return bytes == 0 ? 0 : curve.at(bytes); };
  machine.copy = [curve = work->copy](std::size_t bytes) { return bytes == 0 ? 0 : curve.at(bytes); };
  machine.gamma_ns_per_byte = static_cast<double>(work->reduce.slope_ps(Machine::kPlanned)) / 1000;
}

}  // namespace stretto::model
