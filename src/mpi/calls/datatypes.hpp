// MPI datatypes and operations, translated for the engine.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "core/reduction.hpp"
#include "mpi/devices/host_view.hpp"

namespace stretto::mpi {

/// An operation on a datatype that stays valid while the object lives (a user's function needs both handles).
class BoundReduction {
 public:
  /// False if Stretto must leave this pair to the MPI library: not defined by MPI, or not a dense datatype.
  bool bind(MPI_Datatype datatype, MPI_Op op);
  const Reduction& reduction() const { return reduction_; }
  /// Whether neither handle can ever be freed.
  bool is_predefined() const { return op_ == MPI_OP_NULL; }

 private:
  static void combine_by_mpi(const void* in, void* inout, std::size_t count, const void* self);

  Reduction reduction_;
  MPI_Datatype datatype_ = MPI_DATATYPE_NULL;
  MPI_Op op_ = MPI_OP_NULL;
};

struct Layout {
  std::size_t bytes;  // of the data of one element
  bool dense;         // elements lie side by side without gaps, from the buffer's address on
  bool predefined;    // one that MPI defines, and names
  bool ordered;       // dense, and memory order is the order of the signature
};

/// A datatype of the program's, there even when the program has freed it.
class HeldDatatype {
 public:
  explicit HeldDatatype(MPI_Datatype datatype) { PMPI_Type_dup(datatype, &datatype_); }
  ~HeldDatatype() { PMPI_Type_free(&datatype_); }
  HeldDatatype(const HeldDatatype&) = delete;
  HeldDatatype& operator=(const HeldDatatype&) = delete;
  MPI_Datatype get() const { return datatype_; }

 private:
  MPI_Datatype datatype_ = MPI_DATATYPE_NULL;
};

/// nullopt for datatypes that have no size yet (null).
std::optional<Layout> layout_of(MPI_Datatype datatype);
/// Whether MPI defines it: its handle is never another's. Of the program's the same one may be asked for in each call.
bool is_predefined(MPI_Datatype datatype);

/// Some elements of a buffer.
struct Stretch {
  MPI_Aint at;  // in bytes, from the buffer's address
  MPI_Count count;
};

/// A buffer of the program's as bytes: the user's own where they are in order, else packed copies of stretches of it,
/// one behind the other. In the processor's memory, wherever the buffer is. Costs next to nothing until it is used.
class PackedBuffer {
 public:
  PackedBuffer(void* buffer, MPI_Datatype datatype, const Layout& layout, MPI_Comm comm,
               std::vector<Stretch> stretches);
  /// Of one stretch, at the buffer's address.
  PackedBuffer(void* buffer, MPI_Count count, MPI_Datatype datatype, const Layout& layout, MPI_Comm comm);
  /// Before the call runs.
  std::byte* data();
  bool is_at(const void* buffer) const { return buffer_ == buffer; }
  /// From here on the program may free the datatype and the communicator; `own` stays.
  void outlast_its_mpi_call(MPI_Comm own) {
    if (!layout_.predefined) datatype_ = held_.emplace(datatype_).get();
    comm_ = own;
  }
  void pack();    // from the user's buffer, where data() is a copy
  void unpack();  // to it, when the call has run

 private:
  void open();
  template <class Function>
  void on_elements(const Function& function);

  void* buffer_;
  MPI_Datatype datatype_;
  std::optional<HeldDatatype> held_;
  Layout layout_;
  MPI_Comm comm_;
  MPI_Count count_;                 // of the only stretch, at the buffer's address
  std::vector<Stretch> stretches_;  // else
  bool is_open_ = false;
  HostView view_;
  std::vector<std::byte> copy_;
};

}  // namespace stretto::mpi
