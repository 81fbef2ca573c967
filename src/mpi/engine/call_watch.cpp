#include "mpi/engine/call_watch.hpp"

namespace stretto::mpi {
namespace {
constexpr std::int64_t kLookEveryNs = 20'000'000;
constexpr std::int64_t kMayDifferNs = 1'000'000'000;
}  // namespace

bool CallWatch::is_hopeless() {
  const std::int64_t now_ns = platform_.now_ns();
  if (over_ || now_ns < next_look_ns_) return over_;
  next_look_ns_ = now_ns + kLookEveryNs;
  over_ = look(now_ns);
  return over_;
}

bool CallWatch::look(std::int64_t now_ns) {
  if (failures_.any_of(members_)) return true;
  if (ledger_ == nullptr) return false;
  if (ledger_->is_revoked() || ledger_->find_difference(/*patiently=*/false)) return true;
  if (!ledger_->find_difference(/*patiently=*/true)) {
    differ_since_ns_ = 0;
    return false;
  }
  if (differ_since_ns_ == 0) differ_since_ns_ = now_ns;
  return now_ns - differ_since_ns_ > kMayDifferNs;
}

Fault CallWatch::find_fault() {
  using Revoked = Ledger::Revoked;
  const Revoked before = ledger_ != nullptr ? ledger_->revoked() : Revoked::no;
  // Others may have been told of a failure before this rank is, and a message may be lost before anybody is told.
  if (before == Revoked::failed_peer || failures_.any_of(members_)) {
    if (ledger_ != nullptr) ledger_->revoke(Revoked::failed_peer);
    return {Fault::Kind::failed_peer};
  }
  if (ledger_ == nullptr) return {Fault::Kind::revoked};
  ledger_->revoke(Revoked::different_calls);
  const auto difference = ledger_->find_difference(/*patiently=*/true);
  if (!difference && before != Revoked::no) return {Fault::Kind::revoked};
  return {Fault::Kind::different_calls, difference};
}

}  // namespace stretto::mpi
