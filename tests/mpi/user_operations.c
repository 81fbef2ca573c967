/* User operations, commutative and not, on derived types: rank order, the type handle, and elements kept whole.
 *
 * The order matters for composing affine maps x -> scale * x + offset (modulo 2^32): exact, associative and not
 * commutative. */
#include "check.h"

typedef struct {
  uint32_t scale, offset;
} Map;

/* The same with room between and behind the members: a type with gaps. */
typedef struct {
  uint32_t scale, gap, offset, end;
} WideMap;

static MPI_Datatype expected_type;
static atomic_int wrong_types, wrong_lengths;

static Map map_of(int rank, int index) {
  return (Map){2 * (uint32_t)(rank + index) + 3, 7919u * (uint32_t)rank + (uint32_t)index};
}

/* First `earlier`, then `later`. */
static Map compose(Map earlier, Map later) {
  return (Map){earlier.scale * later.scale, later.scale * earlier.offset + later.offset};
}

static Map composed(int ranks, int index) {
  Map result = map_of(0, index);
  for (int rank = 1; rank < ranks; rank++) result = compose(result, map_of(rank, index));
  return result;
}

static void note_call(const int* length, const MPI_Datatype* type) {
  if (*type != expected_type) atomic_fetch_add(&wrong_types, 1);
  if (*length < 0) atomic_fetch_add(&wrong_lengths, 1);
}

/* MPI's convention: inout = in op inout, where `in` comes from the lower ranks. */
static void compose_maps(void* in, void* inout, int* length, MPI_Datatype* type) {
  note_call(length, type);
  const Map* earlier = in;
  Map* later = inout;
  for (int i = 0; i < *length; i++) later[i] = compose(earlier[i], later[i]);
}

static void compose_wide_maps(void* in, void* inout, int* length, MPI_Datatype* type) {
  note_call(length, type);
  const WideMap* earlier = in;
  WideMap* later = inout;
  for (int i = 0; i < *length; i++) {
    const Map both = compose((Map){earlier[i].scale, earlier[i].offset}, (Map){later[i].scale, later[i].offset});
    later[i].scale = both.scale;
    later[i].offset = both.offset;
  }
}

/* Commutative: sums of both members. */
static void add_maps(void* in, void* inout, int* length, MPI_Datatype* type) {
  note_call(length, type);
  for (int i = 0; i < *length; i++) {
    ((Map*)inout)[i].scale += ((const Map*)in)[i].scale;
    ((Map*)inout)[i].offset += ((const Map*)in)[i].offset;
  }
}

static MPI_Datatype contiguous_type(void) {
  MPI_Datatype type;
  MPI_Type_contiguous(2, MPI_UINT32_T, &type);
  MPI_Type_commit(&type);
  return type;
}

static MPI_Datatype wide_type(void) {
  MPI_Datatype gapped, type;
  MPI_Type_vector(2, 1, 2, MPI_UINT32_T, &gapped);
  MPI_Type_create_resized(gapped, 0, sizeof(WideMap), &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&gapped);
  return type;
}

static Map expected_map(int index, bool ordered) {
  if (ordered) return composed(world_size, index);
  Map sum = {0, 0};
  for (int rank = 0; rank < world_size; rank++) {
    sum.scale += map_of(rank, index).scale;
    sum.offset += map_of(rank, index).offset;
  }
  return sum;
}

static Map get_map(const void* buffer, bool wide, int index) {
  if (!wide) return ((const Map*)buffer)[index];
  return (Map){((const WideMap*)buffer)[index].scale, ((const WideMap*)buffer)[index].offset};
}

static void fill(void* buffer, bool wide, int count) {
  for (int i = 0; i < count; i++) {
    const Map map = map_of(world_rank, i);
    if (wide)
      ((WideMap*)buffer)[i] = (WideMap){map.scale, 0xABABABABu, map.offset, 0xCDCDCDCDu};
    else
      ((Map*)buffer)[i] = map;
  }
}

/* root < 0: allreduce. */
static void run(MPI_Op op, bool ordered, bool wide, int count, int root, bool in_place) {
  const size_t bytes = (size_t)count * (wide ? sizeof(WideMap) : sizeof(Map));
  void* input = guarded_new(bytes);
  void* output = guarded_new(bytes);
  fill(input, wide, count);
  const bool here = in_place && (root < 0 || root == world_rank);
  if (here) fill(output, wide, count);
  const void* send = here ? MPI_IN_PLACE : input;
  if (root < 0)
    MPI_Allreduce(send, output, count, expected_type, op, MPI_COMM_WORLD);
  else
    MPI_Reduce(send, output, count, expected_type, op, root, MPI_COMM_WORLD);
  int wrong = 0;
  for (int i = 0; i < count && (root < 0 || root == world_rank); i++) {
    const Map got = get_map(output, wide, i), want = expected_map(i, ordered);
    wrong += got.scale != want.scale || got.offset != want.offset;
  }
  CHECK(wrong == 0, "ordered %d wide %d count %d root %d in place %d: %d wrong", ordered, wide, count, root, in_place,
        wrong);
  CHECK(guarded_intact(output, bytes), "ordered %d wide %d count %d: wrote beyond the result", ordered, wide, count);
  guarded_free(input);
  guarded_free(output);
}

static void run_all(MPI_User_function* function, bool ordered, bool wide) {
  MPI_Op op;
  MPI_Op_create(function, !ordered, &op);
  expected_type = wide ? wide_type() : contiguous_type();
  const int counts[] = {0, 1, 3, world_size, 1000, 40009};
  for (int c = 0; c < 6; c++)
    for (int in_place = 0; in_place < 2; in_place++)
      for (int root = -1; root < world_size; root++)
        if (root < 0 || is_checked_with(counts[c], root)) run(op, ordered, wide, counts[c], root, in_place);
  MPI_Type_free(&expected_type);
  MPI_Op_free(&op);
}

/* A freed operation and type may be reused under the same handle: what is cached by handle must not survive. */
static void run_reused_handles(void) {
  for (int round = 0; round < 20; round++) {
    const bool ordered = round % 2 == 0;
    MPI_Op op;
    MPI_Op_create(ordered ? compose_maps : add_maps, !ordered, &op);
    expected_type = contiguous_type();
    run(op, ordered, false, 100, -1, false);
    run(op, ordered, false, 100, round % world_size, false);
    MPI_Type_free(&expected_type);
    MPI_Op_free(&op);
  }
}

static void run_checks(void) {
  run_all(compose_maps, true, false);
  run_all(add_maps, false, false);
  run_all(compose_wide_maps, true, true);
  run_reused_handles();
  CHECK(wrong_types == 0, "the operation got %d times another type than the call's", wrong_types);
  CHECK(wrong_lengths == 0, "the operation got %d times a negative length", wrong_lengths);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  with_each_algorithm(&run_checks);
  return finish();
}
