#include "prediction/hints.hpp"

namespace stretto {

void Hints::begin(std::int64_t now_ns) {
  const std::scoped_lock lock(mutex_);
  begun_ = true;
  begin_ns_ = now_ns;
  fraction_ = 0;
  expected_ns_.reset();
}

Hints::Answer Hints::mark(double fraction, std::int64_t now_ns) {
  const std::scoped_lock lock(mutex_);
  if (!begun_) return Answer::not_begun;
  if (!(fraction > 0 && fraction <= 1)) return Answer::bad_fraction;  // not a number is neither
  if (fraction <= fraction_) return Answer::out_of_order;
  fraction_ = fraction;
  ++marks_;
  expected_ns_ = begin_ns_ + static_cast<std::int64_t>(static_cast<double>(now_ns - begin_ns_) / fraction);
  return Answer::taken;
}

std::optional<std::int64_t> Hints::expected_end_ns() const {
  const std::scoped_lock lock(mutex_);
  return expected_ns_;
}

std::uint64_t Hints::marks() const {
  const std::scoped_lock lock(mutex_);
  return marks_;
}

}  // namespace stretto
