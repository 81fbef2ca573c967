// How the ranks of a communicator tell each other what they have seen of calls of a kind: through the memory of the
// node that they share, or by the MPI library's own non-blocking reduction.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "board/sights.hpp"
#include "select/adaptation.hpp"
#include "select/sight_view.hpp"

namespace stretto::mpi {

/// What has come of it: of each call what all ranks have seen of it together, and what hearing takes a rank.
struct Heard {
  std::vector<SeenCall> calls;
  std::int64_t cost_ns = 0;
};

class SightExchange {
 public:
  virtual ~SightExchange() = default;
  /// What this rank has seen, of the same calls as the others. All ranks tell in the same call of the program.
  virtual void tell(std::span<const Sight> mine) = 0;
  /// What all have told. Waits for whoever has not told yet.
  virtual Heard hear() = 0;
  /// What is under way comes to its end. Collective.
  virtual void finish() {}
};

class NodeSightExchange final : public SightExchange {
 public:
  /// `may_leave`: as in SightView::seen.
  NodeSightExchange(Sights& sights, std::size_t kind, int may_leave)
      : sights_(sights), kind_(kind), may_leave_(may_leave) {}
  void tell(std::span<const Sight> mine) override;
  Heard hear() override;

 private:
  Sights& sights_;
  std::size_t kind_;
  int may_leave_;
  std::uint64_t number_ = 0;
  std::size_t calls_ = 0;
  std::int64_t cost_ns_ = 0;
};

/// The operation and the datatype of such a reduction, of SightViews. Made and freed by all, or by one alone.
class SightReduction {
 public:
  SightReduction() = default;
  void open();
  void close();
  MPI_Op operation() const { return operation_; }
  MPI_Datatype type() const { return type_; }

 private:
  MPI_Op operation_ = MPI_OP_NULL;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Over `comm`, the program's: all its ranks are in a collective there, so nothing else can be meant. `one_clock`,
/// `may_leave`: as in SightView::seen.
class MessageSightExchange final : public SightExchange {
 public:
  MessageSightExchange(MPI_Comm comm, const SightReduction& reduction, bool one_clock, int may_leave)
      : comm_(comm), reduction_(reduction), one_clock_(one_clock), may_leave_(may_leave) {}
  void tell(std::span<const Sight> mine) override;
  Heard hear() override;
  void finish() override;

 private:
  MPI_Comm comm_;
  const SightReduction& reduction_;
  bool one_clock_;
  int may_leave_;
  std::int64_t cost_ns_ = 0;     // what the latest exchange has taken this rank, but for waiting
  std::vector<SightView> told_;  // while the exchange is under way; the last one's exit is cost_ns_
  std::vector<SightView> all_;   // of all ranks together
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace stretto::mpi
