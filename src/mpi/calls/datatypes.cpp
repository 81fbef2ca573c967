#include "mpi/calls/datatypes.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <limits>
#include <unordered_map>

namespace stretto::mpi {
namespace {

// Handles are ints or pointers, depending on the MPI.
template <class Handle>
std::uintptr_t key_of(Handle handle) {
  std::uintptr_t key = 0;
  static_assert(sizeof(Handle) <= sizeof(key));
  std::memcpy(&key, &handle, sizeof(Handle));
  return key;
}

std::optional<Element> integer_of(std::size_t bytes, bool is_signed) {
  switch (bytes) {
    case 1:
      return is_signed ? Element::int8 : Element::uint8;
    case 2:
      return is_signed ? Element::int16 : Element::uint16;
    case 4:
      return is_signed ? Element::int32 : Element::uint32;
    case 8:
      return is_signed ? Element::int64 : Element::uint64;
    default:
      return std::nullopt;
  }
}

using Elements = std::unordered_map<std::uintptr_t, Element>;

// The datatype's own size decides the width: C's long and Fortran's INTEGER differ between machines and flags.
void add_integers(Elements& elements, std::initializer_list<MPI_Datatype> datatypes, bool is_signed) {
  for (MPI_Datatype datatype : datatypes) {
    int size = 0;
    if (datatype == MPI_DATATYPE_NULL || PMPI_Type_size(datatype, &size) != MPI_SUCCESS) continue;
    if (const auto element = integer_of(static_cast<std::size_t>(size), is_signed)) {
      elements.emplace(key_of(datatype), *element);
    }
  }
}

void add(Elements& elements, std::initializer_list<MPI_Datatype> datatypes, Element element) {
  for (MPI_Datatype datatype : datatypes) {
    int size = 0;
    if (datatype == MPI_DATATYPE_NULL || PMPI_Type_size(datatype, &size) != MPI_SUCCESS) continue;
    if (static_cast<std::size_t>(size) == element_bytes(element)) elements.emplace(key_of(datatype), element);
  }
}

Elements make_elements() {
  Elements elements;
  add_integers(
      elements,
      {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T,
       MPI_AINT, MPI_OFFSET, MPI_COUNT, MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8},
      true);
  add_integers(elements,
               {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG,
                MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T},
               false);
  add(elements, {MPI_FLOAT, MPI_REAL, MPI_REAL4}, Element::float32);
  add(elements, {MPI_DOUBLE, MPI_DOUBLE_PRECISION, MPI_REAL8}, Element::float64);
  add(elements, {MPI_REAL}, Element::float64);  // with -fdefault-real-8
#if defined(__x86_64__)
  add(elements, {MPI_LONG_DOUBLE}, Element::float128_x87);
#endif
  add(elements, {MPI_C_FLOAT_COMPLEX, MPI_COMPLEX, MPI_COMPLEX8, MPI_CXX_FLOAT_COMPLEX}, Element::complex64);
  add(elements, {MPI_C_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX16, MPI_CXX_DOUBLE_COMPLEX}, Element::complex128);
  add(elements, {MPI_C_BOOL, MPI_CXX_BOOL}, Element::boolean);
  return elements;
}

std::optional<Element> element_of(MPI_Datatype datatype) {
  static const Elements elements = make_elements();
  const auto found = elements.find(key_of(datatype));
  if (found == elements.end()) return std::nullopt;
  return found->second;
}

// The kernel of a predefined operation, or nothing for a user's.
std::optional<Operation> operation_of(MPI_Op op) {
  static const std::unordered_map<std::uintptr_t, Operation> operations = {
      {key_of(MPI_SUM), Operation::sum},          {key_of(MPI_PROD), Operation::product},
      {key_of(MPI_MIN), Operation::minimum},      {key_of(MPI_MAX), Operation::maximum},
      {key_of(MPI_LAND), Operation::logical_and}, {key_of(MPI_LOR), Operation::logical_or},
      {key_of(MPI_LXOR), Operation::logical_xor}, {key_of(MPI_BAND), Operation::bit_and},
      {key_of(MPI_BOR), Operation::bit_or},       {key_of(MPI_BXOR), Operation::bit_xor}};
  const auto found = operations.find(key_of(op));
  if (found == operations.end()) return std::nullopt;
  return found->second;
}

bool is_location(MPI_Op op) { return op == MPI_MINLOC || op == MPI_MAXLOC; }
bool is_pair(MPI_Datatype datatype) {
  for (MPI_Datatype pair :
       {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT}) {
    if (datatype == pair) return true;
  }
  return false;
}

bool is_users(MPI_Op op) { return !is_location(op) && op != MPI_REPLACE && op != MPI_NO_OP && op != MPI_OP_NULL; }

}  // namespace

bool BoundReduction::bind(MPI_Datatype datatype, MPI_Op op) {
  // Programs use one pair again and again. Predefined handles never change their meaning.
  struct Remembered {
    MPI_Datatype datatype;
    MPI_Op op;
    Reduction reduction;
  };
  static thread_local Remembered latest{MPI_DATATYPE_NULL, MPI_OP_NULL, {}};
  if (datatype == latest.datatype && op == latest.op && latest.reduction.combine != nullptr) {
    reduction_ = latest.reduction;
    return true;
  }
  if (const auto operation = operation_of(op)) {
    const auto element = element_of(datatype);
    if (!element) return false;
    reduction_ = predefined_reduction(*operation, *element);
    reduction_.code = code_of(*operation, *element);
    latest = {datatype, op, reduction_};
    return reduction_.combine != nullptr;
  }
  const std::optional<Layout> layout = layout_of(datatype);
  if (!layout) return false;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(datatype, &lower, &extent);
  // MINLOC's pairs may hold padding inside the element, which travels with it.
  const bool pair = is_location(op) && is_pair(datatype);
  if (!pair && !(is_users(op) && layout->dense)) return false;
  int commutes = 0;
  if (PMPI_Op_commutative(op, &commutes) != MPI_SUCCESS) return false;
  datatype_ = datatype;
  op_ = op;
  reduction_ = {&combine_by_mpi, this, static_cast<std::size_t>(extent), commutes != 0, 0};
  return true;
}

void BoundReduction::combine_by_mpi(const void* in, void* inout, std::size_t count, const void* self) {
  const auto* bound = static_cast<const BoundReduction*>(self);
  const auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(inout);
  while (count > 0) {
    const int part = static_cast<int>(std::min<std::size_t>(count, INT_MAX));
    PMPI_Reduce_local(from, to, part, bound->datatype_, bound->op_);
    from += static_cast<std::size_t>(part) * bound->reduction_.element_bytes;
    to += static_cast<std::size_t>(part) * bound->reduction_.element_bytes;
    count -= static_cast<std::size_t>(part);
  }
}

namespace {

struct Envelope {
  int integers = 0;
  int addresses = 0;
  int datatypes = 0;
  int combiner = 0;
};

Envelope envelope_of(MPI_Datatype datatype) {
  Envelope of;
  PMPI_Type_get_envelope(datatype, &of.integers, &of.addresses, &of.datatypes, &of.combiner);
  return of;
}

bool is_named(MPI_Datatype datatype) { return envelope_of(datatype).combiner == MPI_COMBINER_NAMED; }

// Whether memory order is the order of the datatype's signature, which is what other ranks may rely on: a predefined
// datatype or contiguous runs of one. (A struct without gaps may still list its members in another order.)
bool in_memory_order(MPI_Datatype datatype) {
  const auto [integers, addresses, datatypes, combiner] = envelope_of(datatype);
  if (combiner == MPI_COMBINER_NAMED) return !is_pair(datatype);
  if (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) return false;
  int count[1];
  MPI_Aint unused[1];
  MPI_Datatype inner[1];
  PMPI_Type_get_contents(datatype, integers, addresses, datatypes, count, unused, inner);
  const bool ordered = in_memory_order(inner[0]);
  if (!is_named(inner[0])) PMPI_Type_free(&inner[0]);
  return ordered;
}

std::optional<Layout> find_layout(MPI_Datatype datatype) {
  MPI_Count size = 0;
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  MPI_Count true_lower = 0;
  MPI_Count true_extent = 0;
  if (PMPI_Type_size_x(datatype, &size) != MPI_SUCCESS || size < 0) return std::nullopt;
  PMPI_Type_get_extent_x(datatype, &lower, &extent);
  PMPI_Type_get_true_extent_x(datatype, &true_lower, &true_extent);
  const bool dense = lower == 0 && true_lower == 0 && extent == size && true_extent == size;
  return Layout{static_cast<std::size_t>(size), dense, is_named(datatype), dense && in_memory_order(datatype)};
}

}  // namespace

std::optional<Layout> layout_of(MPI_Datatype datatype) {
  struct Remembered {
    MPI_Datatype datatype;
    Layout layout;
  };
  static thread_local Remembered latest{MPI_DATATYPE_NULL, {}};  // a named one, which never changes its meaning
  if (datatype == MPI_DATATYPE_NULL) return std::nullopt;
  if (datatype == latest.datatype) return latest.layout;
  const std::optional<Layout> layout = find_layout(datatype);
  if (layout && layout->predefined) latest = {datatype, *layout};
  return layout;
}

bool is_predefined(MPI_Datatype datatype) {
  static thread_local MPI_Datatype latest_of_program = MPI_DATATYPE_NULL;  // a handle that none of MPI's will ever have
  if (datatype == latest_of_program) return false;
  const std::optional<Layout> layout = layout_of(datatype);
  if (layout && !layout->predefined) latest_of_program = datatype;
  return layout && layout->predefined;
}

namespace {

// The elements of all `stretches` of `buffer`, gaps between them included.
HostView view_of(void* buffer, MPI_Datatype datatype, const std::vector<Stretch>& stretches) {
  if (gpu_drivers.are_none()) return HostView(buffer);
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Aint true_lower = 0;
  MPI_Aint true_extent = 0;
  PMPI_Type_get_extent(datatype, &lower, &extent);
  PMPI_Type_get_true_extent(datatype, &true_lower, &true_extent);
  MPI_Aint first = std::numeric_limits<MPI_Aint>::max();
  MPI_Aint end = std::numeric_limits<MPI_Aint>::min();
  for (const Stretch& part : stretches) {
    if (part.count == 0) continue;
    const MPI_Aint to_last = (static_cast<MPI_Aint>(part.count) - 1) * extent;
    first = std::min(first, part.at + true_lower + std::min<MPI_Aint>(to_last, 0));
    end = std::max(end, part.at + true_lower + true_extent + std::max<MPI_Aint>(to_last, 0));
  }
  return {buffer, first, end};
}

}  // namespace

PackedBuffer::PackedBuffer(void* buffer, MPI_Datatype datatype, const Layout& layout, MPI_Comm comm,
                           std::vector<Stretch> stretches)
    : buffer_(buffer), datatype_(datatype), layout_(layout), comm_(comm), count_(0), stretches_(std::move(stretches)) {}

PackedBuffer::PackedBuffer(void* buffer, MPI_Count count, MPI_Datatype datatype, const Layout& layout, MPI_Comm comm)
    : buffer_(buffer), datatype_(datatype), layout_(layout), comm_(comm), count_(count) {}

void PackedBuffer::open() {
  if (is_open_) return;
  is_open_ = true;
  if (stretches_.empty() && layout_.ordered) {
    view_.show(buffer_, 0, static_cast<MPI_Aint>(count_) * static_cast<MPI_Aint>(layout_.bytes));
    return;
  }
  if (stretches_.empty()) stretches_.push_back({0, count_});
  view_ = view_of(buffer_, datatype_, stretches_);
  if (layout_.ordered) return;
  std::size_t elements = 0;
  for (const Stretch& part : stretches_) elements += static_cast<std::size_t>(part.count);
  copy_.resize(elements * layout_.bytes);
}

// Calls function(address, count, datatype, place in the copy) in slices that MPI's ints can count.
// MPICH's MPI_Pack refuses MPI_BOTTOM, a null pointer; so absolute addresses become relative to one that is not null.
template <class Function>
void PackedBuffer::on_elements(const Function& function) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(datatype_, &lower, &extent);
  const auto most = static_cast<MPI_Count>(std::max<std::size_t>(INT_MAX / std::max<std::size_t>(layout_.bytes, 1), 1));
  static char anchor;
  MPI_Aint anchor_address = 0;
  PMPI_Get_address(&anchor, &anchor_address);
  std::byte* place = copy_.data();
  for (const Stretch& part : stretches_) {
    for (MPI_Count done = 0; done < part.count; done += most) {
      const int count = static_cast<int>(std::min(most, part.count - done));
      const MPI_Aint at = part.at + static_cast<MPI_Aint>(done) * extent;
      if (buffer_ != MPI_BOTTOM) {
        function(view_.address() + at, count, datatype_, place);
      } else {
        const MPI_Aint back = at - anchor_address;
        MPI_Datatype relative = MPI_DATATYPE_NULL;
        PMPI_Type_create_hindexed_block(1, count, &back, datatype_, &relative);
        PMPI_Type_commit(&relative);
        function(&anchor, 1, relative, place);
        PMPI_Type_free(&relative);
      }
      place += static_cast<std::size_t>(count) * layout_.bytes;
    }
  }
}

std::byte* PackedBuffer::data() {
  open();
  if (!layout_.ordered) return copy_.data();
  view_.fetch();
  return view_.address();
}

void PackedBuffer::pack() {
  if (layout_.ordered) return;
  open();
  view_.fetch();
  on_elements([this](const void* address, int count, MPI_Datatype datatype, std::byte* place) {
    int position = 0;
    const auto room = std::min<std::ptrdiff_t>(copy_.data() + copy_.size() - place, INT_MAX);
    PMPI_Pack(address, count, datatype, place, static_cast<int>(room), &position, comm_);
  });
}

void PackedBuffer::unpack() {
  if (layout_.ordered) return view_.store();
  view_.fetch();  // what is between the elements stays
  on_elements([this](void* address, int count, MPI_Datatype datatype, const std::byte* place) {
    int position = 0;
    const auto there = std::min<std::ptrdiff_t>(copy_.data() + copy_.size() - place, INT_MAX);
    PMPI_Unpack(place, static_cast<int>(there), &position, address, count, datatype, comm_);
  });
  view_.store();
}

}  // namespace stretto::mpi
