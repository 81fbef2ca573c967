// The ranks of a call in a row: those first that are expected first, or by number where nothing is known.
#pragma once

#include "core/group.hpp"
#include "prediction/order.hpp"

namespace stretto {

class Line {
 public:
  Line(const Group& g, const Call& call)
      : order_(call.order), size_(g.size()), position_(order_ != nullptr ? order_->position_of(g.rank()) : g.rank()) {}

  int size() const { return size_; }
  int position() const { return position_; }  // of this rank
  bool first() const { return position_ == 0; }
  bool last() const { return position_ + 1 == size_; }
  int rank_at(int position) const { return order_ != nullptr ? order_->rank_at(position) : position; }
  int predecessor() const { return rank_at((position_ + size_ - 1) % size_); }
  int successor() const { return rank_at((position_ + 1) % size_); }
  /// How long after the first of all the rank at `position` is expected.
  std::int64_t expected_ns(int position) const {
    return order_ != nullptr ? order_->expected_ns(rank_at(position)) : 0;
  }

 private:
  const ArrivalOrder* order_;
  int size_;
  int position_;
};

}  // namespace stretto
