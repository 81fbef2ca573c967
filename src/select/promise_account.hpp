// The account of what is promised: that all calls together cost hardly more than native ones would have.
#pragma once

#include <algorithm>

namespace stretto {

/// What calls cost is known when they are over, and not for sure. Much may be owed for what has not been lost: while
/// something else takes the cores, a few calls of which it is not sure what they cost count as much as thousands do
/// later. Such a debt would not be repaid in the lifetime of a job, as nothing is earned where nothing is risked. So as
/// much again as was promised may be risked while there is one.
class PromiseAccount {
 public:
  /// `part`: of what all calls would have taken natively.
  explicit PromiseAccount(double part) : part_(part) {}
  /// Calls that would have taken so much natively, and took more by so much.
  void add(double native_ns, double more_ns) {
    if (in_debt()) risked_ns_ += more_ns;
    owed_ns_ += more_ns;
    native_ns_ += native_ns;
    if (!in_debt()) risked_ns_ = std::max(risked_ns_, 0.0);  // the next debt begins with no savings
  }
  bool is_new() const { return native_ns_ == 0; }
  /// What calls to come may cost more; may be negative.
  double budget_ns() const { return promised_ns() - (in_debt() ? risked_ns_ : owed_ns_); }

 private:
  double promised_ns() const { return part_ * native_ns_; }
  bool in_debt() const { return owed_ns_ > promised_ns(); }

  const double part_;
  double native_ns_ = 0;  // that all calls would have taken natively
  double owed_ns_ = 0;    // by which they have cost more
  double risked_ns_ = 0;  // the same of calls under a debt
};

}  // namespace stretto
