// Which rank has which rows: blocks of neighbouring rows, in the order of ranks. Where the number of ranks does not
// divide that of rows some have one more than others; with more ranks than rows some have none.
#pragma once

#include <cstdint>

namespace stretto::asp {

class Blocks {
 public:
  Blocks(int rows, int ranks) : rows_(rows), ranks_(ranks) {}

  int first(int rank) const { return static_cast<int>(std::int64_t{rows_} * rank / ranks_); }
  int end(int rank) const { return first(rank + 1); }

  // The one rank with first <= row < end: the last whose first row is not behind it.
  int owner(int row) const { return static_cast<int>(((std::int64_t{row} + 1) * ranks_ - 1) / rows_); }

 private:
  int rows_, ranks_;
};

}  // namespace stretto::asp
