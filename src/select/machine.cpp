#include "select/machine.hpp"

#include <algorithm>

namespace stretto {

std::size_t Curve::segment_of(std::size_t bytes) {
  std::size_t segment = 0;
  while (segment + 2 < kLengths.size() && bytes > kLengths[segment + 1]) ++segment;
  return segment;
}

std::int64_t Curve::at(std::size_t bytes) const {
  if (bytes <= kLengths.front()) return ns.front();
  const std::size_t segment = segment_of(bytes);
  const double slope = static_cast<double>(ns[segment + 1] - ns[segment]) /
                       static_cast<double>(kLengths[segment + 1] - kLengths[segment]);
  const double more = slope * static_cast<double>(bytes - kLengths[segment]);
  return std::max<std::int64_t>(ns[segment] + static_cast<std::int64_t>(more), 0);
}

std::int64_t Curve::slope_ps(std::size_t bytes) const {
  const std::size_t segment = segment_of(bytes);
  const std::int64_t rise = std::max<std::int64_t>(ns[segment + 1] - ns[segment], 0);
  return rise * 1000 / static_cast<std::int64_t>(kLengths[segment + 1] - kLengths[segment]);
}

void Curve::straighten(std::size_t known) {
  const double rise = static_cast<double>(std::max<std::int64_t>(ns[known] - ns[0], 0)) /
                      static_cast<double>(kLengths[known] - kLengths[0]);
  for (std::size_t i = 1; i < ns.size(); ++i) {
    ns[i] = ns[0] + static_cast<std::int64_t>(rise * static_cast<double>(kLengths[i] - kLengths[0]));
  }
}

void Curve::extend_from(std::size_t known) {
  for (std::size_t i = known; i < ns.size(); ++i) {
    const double slope = i < 2 ? 0
                               : static_cast<double>(std::max<std::int64_t>(ns[i - 1] - ns[i - 2], 0)) /
                                     static_cast<double>(kLengths[i - 1] - kLengths[i - 2]);
    ns[i] = (i == 0 ? 0 : ns[i - 1]) +
            static_cast<std::int64_t>(slope * static_cast<double>(kLengths[i] - (i == 0 ? 0 : kLengths[i - 1])));
  }
}

void Machine::know(Level level, const Link& link) {
  links[static_cast<std::size_t>(level)] = link;
  known[static_cast<std::size_t>(level)] = 1;
}

const Link* Machine::link(Level level) const {
  const auto wanted = static_cast<std::size_t>(level);
  for (std::size_t i = wanted + 1; i-- > 0;) {
    if (known[i] != 0) return &links[i];
  }
  for (std::size_t i = wanted + 1; i < kLevels; ++i) {
    if (known[i] != 0) return &links[i];
  }
  return nullptr;
}

const MemoryTimes* Machine::work(std::int64_t cores) const {
  const MemoryTimes* found = nullptr;
  for (const MemoryTimes& each : works) {
    if (each.cores > 0 && (found == nullptr || each.cores <= cores)) found = &each;
  }
  return found;
}

Costs Machine::costs(Level level, std::size_t bytes) const {
  Costs costs;
  if (const Link* found = link(level)) {
    costs.alpha_ns = std::max<std::int64_t>({found->message.at(0), level < Level::node ? crowded.message_ns : 0, 1});
    // One message may go quicker than many after each other, where the network takes bursts.
    const std::int64_t one_ps = found->message.slope_ps(bytes);
    costs.beta_ps_per_byte = std::max<std::int64_t>({one_ps, found->gap.slope_ps(bytes), 1});
    if (found->eager_bytes > 0) costs.eager_bytes = static_cast<std::size_t>(found->eager_bytes);
  }
  if (const MemoryTimes* found = work(1))
    costs.gamma_ps_per_byte = std::max<std::int64_t>(found->reduce.slope_ps(bytes), 1);
  return costs;
}

}  // namespace stretto
