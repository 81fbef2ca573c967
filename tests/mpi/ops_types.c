/* All predefined operations x the C types that the standard allows them, against a local reference.
 *
 * Values are such that no signed result overflows and every floating-point result is exact, in any order. */
#include <complex.h>

#include "check.h"

enum Op { kSum, kProd, kMin, kMax, kLand, kLor, kLxor, kBand, kBor, kBxor, kMinloc, kMaxloc, kOps };

static const char* const op_names[kOps] = {"SUM",  "PROD", "MIN", "MAX",  "LAND",   "LOR",
                                           "LXOR", "BAND", "BOR", "BXOR", "MINLOC", "MAXLOC"};

static MPI_Op op_handle(enum Op op) {
  const MPI_Op handles[kOps] = {MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,  MPI_LAND,   MPI_LOR,
                                MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
  return handles[op];
}

/* Any small number; for products mostly 1, so that eight of them stay below 2^7. */
static int raw_value(enum Op op, int rank, int index) {
  const uint32_t mixed = ((uint32_t)rank * 2654435761u) ^ ((uint32_t)index * 40503u) ^ ((uint32_t)op << 7);
  if (op == kSum) return (rank + 2 * index) % 13;
  if (op == kProd) return (rank + index) % 4 == 0 ? 3 : 1;
  if (op == kLand) return (mixed >> 9) % 16 != 0;
  if (op == kLor || op == kLxor) return (mixed >> 9) % 4 == 0;
  return (int)((mixed >> 8) & 0xFF);
}

/* Writes this test's value for (op, rank, index), combines b into a, and compares: one set of functions a type. */
typedef struct {
  const char* name;
  MPI_Datatype type;
  size_t size;
  void (*store)(void* at, enum Op op, int rank, int index);
  void (*combine)(void* a, const void* b, enum Op op);
  bool (*equal)(const void* a, const void* b);
  unsigned ops; /* a bit for each allowed Op */
} Kind;

#define BIT(op) (1u << (op))
enum {
  kArithmetic = BIT(kSum) | BIT(kProd) | BIT(kMin) | BIT(kMax),
  kLogical = BIT(kLand) | BIT(kLor) | BIT(kLxor),
  kBitwise = BIT(kBand) | BIT(kBor) | BIT(kBxor),
  kInteger = kArithmetic | kLogical | kBitwise,
  kComplex = BIT(kSum) | BIT(kProd),
  kLocation = BIT(kMinloc) | BIT(kMaxloc),
  kMayPass = 1u << kOps, /* rare, or with gaps: Stretto may leave the type to the MPI library */
};

#define DEFINE_STORE_AND_EQUAL(name, T)                                                                            \
  static void store_##name(void* at, enum Op op, int rank, int index) { *(T*)at = (T)raw_value(op, rank, index); } \
  static bool equal_##name(const void* a, const void* b) { return *(const T*)a == *(const T*)b; }

#define DEFINE_ORDERED(name, T)                               \
  static bool combine_ordered_##name(T* x, T y, enum Op op) { \
    if (op == kMin) return *x = y < *x ? y : *x, true;        \
    if (op == kMax) return *x = y > *x ? y : *x, true;        \
    if (op == kSum) return *x = (T)(*x + y), true;            \
    if (op == kProd) return *x = (T)(*x * y), true;           \
    return false;                                             \
  }

#define DEFINE_INTEGER(name, T)                                    \
  DEFINE_STORE_AND_EQUAL(name, T)                                  \
  DEFINE_ORDERED(name, T)                                          \
  static void combine_##name(void* a, const void* b, enum Op op) { \
    T* x = a;                                                      \
    const T y = *(const T*)b;                                      \
    if (combine_ordered_##name(x, y, op)) return;                  \
    if (op == kLand) *x = *x && y;                                 \
    if (op == kLor) *x = *x || y;                                  \
    if (op == kLxor) *x = !*x != !y;                               \
    if (op == kBand) *x = (T)(*x & y);                             \
    if (op == kBor) *x = (T)(*x | y);                              \
    if (op == kBxor) *x = (T)(*x ^ y);                             \
  }

#define DEFINE_REAL(name, T)      \
  DEFINE_STORE_AND_EQUAL(name, T) \
  DEFINE_ORDERED(name, T)         \
  static void combine_##name(void* a, const void* b, enum Op op) { combine_ordered_##name(a, *(const T*)b, op); }

#define DEFINE_COMPLEX(name, T)                                                                           \
  static void store_##name(void* at, enum Op op, int rank, int index) {                                   \
    const T unit = (rank + index) % 3 == 0 ? (T)I : (T)1;                                                 \
    *(T*)at = op == kProd ? unit * raw_value(op, rank, index) : raw_value(op, rank, index) + (T)I * rank; \
  }                                                                                                       \
  static bool equal_##name(const void* a, const void* b) { return *(const T*)a == *(const T*)b; }         \
  static void combine_##name(void* a, const void* b, enum Op op) {                                        \
    T* x = a;                                                                                             \
    *x = op == kSum ? *x + *(const T*)b : *x * *(const T*)b;                                              \
  }

/* A value and where it is; equal values are frequent, so that the lowest place must win. */
#define DEFINE_LOCATION(name, T)                                                   \
  typedef struct {                                                                 \
    T value;                                                                       \
    int place;                                                                     \
  } Located_##name;                                                                \
  static void store_##name(void* at, enum Op op, int rank, int index) {            \
    Located_##name* x = at;                                                        \
    x->value = (T)(raw_value(op, rank, index) % 4);                                \
    x->place = (rank * 5) % 8;                                                     \
  }                                                                                \
  static bool equal_##name(const void* a, const void* b) {                         \
    const Located_##name *x = a, *y = b;                                           \
    return x->value == y->value && x->place == y->place;                           \
  }                                                                                \
  static void combine_##name(void* a, const void* b, enum Op op) {                 \
    Located_##name* x = a;                                                         \
    const Located_##name* y = b;                                                   \
    const bool better = op == kMinloc ? y->value < x->value : y->value > x->value; \
    if (better || (y->value == x->value && y->place < x->place)) *x = *y;          \
  }

DEFINE_INTEGER(int8, int8_t)
DEFINE_INTEGER(int16, int16_t)
DEFINE_INTEGER(int32, int32_t)
DEFINE_INTEGER(int64, int64_t)
DEFINE_INTEGER(uint8, uint8_t)
DEFINE_INTEGER(uint16, uint16_t)
DEFINE_INTEGER(uint32, uint32_t)
DEFINE_INTEGER(uint64, uint64_t)
DEFINE_STORE_AND_EQUAL(boolean, bool)
DEFINE_REAL(real, float)
DEFINE_REAL(twice, double)
DEFINE_REAL(longest, long double)
DEFINE_COMPLEX(complex_float, float complex)
DEFINE_COMPLEX(complex_double, double complex)
DEFINE_COMPLEX(complex_longest, long double complex)
DEFINE_LOCATION(at_float, float)
DEFINE_LOCATION(at_double, double)
DEFINE_LOCATION(at_long, long)
DEFINE_LOCATION(at_int, int)
DEFINE_LOCATION(at_short, short)
DEFINE_LOCATION(at_longest, long double)

static void combine_boolean(void* a, const void* b, enum Op op) {
  bool* x = a;
  const bool y = *(const bool*)b;
  *x = op == kLand ? *x && y : op == kLor ? *x || y : *x != y;
}

static void run(const Kind* kind, enum Op op, int count, int root) {
  const size_t bytes = kind->size * (size_t)count;
  char* input = guarded_new(bytes);
  char* expected = guarded_new(bytes);
  char* output = guarded_new(bytes);
  char* other = guarded_new(kind->size);
  for (int i = 0; i < count; i++) {
    char* element = expected + kind->size * (size_t)i;
    kind->store(input + kind->size * (size_t)i, op, world_rank, i);
    kind->store(element, op, 0, i);
    for (int rank = 1; rank < world_size; rank++) {
      kind->store(other, op, rank, i);
      kind->combine(element, other, op);
    }
  }
  for (int reduce = 0; reduce < 2; reduce++) {
    if (reduce)
      MPI_Reduce(input, output, count, kind->type, op_handle(op), root, MPI_COMM_WORLD);
    else
      MPI_Allreduce(input, output, count, kind->type, op_handle(op), MPI_COMM_WORLD);
    if (!(kind->ops & kMayPass)) check_forced(reduce ? "reduce" : "allreduce", bytes);
    if (reduce && world_rank != root) continue;
    int wrong = 0;
    for (int i = 0; i < count; i++)
      wrong += !kind->equal(output + kind->size * (size_t)i, expected + kind->size * (size_t)i);
    CHECK(wrong == 0, "%s of %d %s, root %d: %d wrong", op_names[op], count, kind->name, reduce ? root : -1, wrong);
    CHECK(guarded_intact(output, bytes), "%s of %d %s: wrote beyond the result", op_names[op], count, kind->name);
    memset(output, kGuardValue, bytes);
  }
  guarded_free(input);
  guarded_free(expected);
  guarded_free(output);
  guarded_free(other);
}

static void run_all_ops(const Kind* kind) {
  const int counts[] = {1, 5, 67, 3001};
  for (enum Op op = 0; op < kOps; op++)
    if (kind->ops & BIT(op))
      for (int c = 0; c < 4; c++) run(kind, op, counts[c], (int)(op + (unsigned)c) % world_size);
}

#define KIND(name, T, handle, ops) \
  { #handle, handle, sizeof(T), store_##name, combine_##name, equal_##name, ops }

static void run_checks(void) {
  const Kind kinds[] = {
      KIND(int8, int8_t, MPI_INT8_T, kInteger),
      KIND(int8, signed char, MPI_SIGNED_CHAR, kInteger),
      KIND(int16, int16_t, MPI_INT16_T, kInteger),
      KIND(int16, short, MPI_SHORT, kInteger),
      KIND(int32, int32_t, MPI_INT32_T, kInteger),
      KIND(int32, int, MPI_INT, kInteger),
      KIND(int64, int64_t, MPI_INT64_T, kInteger),
      KIND(int64, long, MPI_LONG, kInteger),
      KIND(int64, long long, MPI_LONG_LONG, kInteger),
      KIND(uint8, uint8_t, MPI_UINT8_T, kInteger),
      KIND(uint8, unsigned char, MPI_UNSIGNED_CHAR, kInteger),
      KIND(uint8, unsigned char, MPI_BYTE, kBitwise | kMayPass),
      KIND(uint16, uint16_t, MPI_UINT16_T, kInteger),
      KIND(uint32, uint32_t, MPI_UINT32_T, kInteger),
      KIND(uint64, uint64_t, MPI_UINT64_T, kInteger),
      KIND(uint64, unsigned long, MPI_UNSIGNED_LONG, kInteger),
      KIND(int64, MPI_Aint, MPI_AINT, kArithmetic | kBitwise),
      KIND(int64, MPI_Offset, MPI_OFFSET, kArithmetic | kBitwise),
      KIND(int64, MPI_Count, MPI_COUNT, kArithmetic | kBitwise),
      KIND(boolean, bool, MPI_C_BOOL, kLogical),
      KIND(real, float, MPI_FLOAT, kArithmetic),
      KIND(twice, double, MPI_DOUBLE, kArithmetic),
      KIND(longest, long double, MPI_LONG_DOUBLE, kArithmetic),
      KIND(complex_float, float complex, MPI_C_FLOAT_COMPLEX, kComplex),
      KIND(complex_double, double complex, MPI_C_DOUBLE_COMPLEX, kComplex),
      KIND(complex_longest, long double complex, MPI_C_LONG_DOUBLE_COMPLEX, kComplex | kMayPass),
      KIND(at_float, Located_at_float, MPI_FLOAT_INT, kLocation | kMayPass),
      KIND(at_double, Located_at_double, MPI_DOUBLE_INT, kLocation | kMayPass),
      KIND(at_long, Located_at_long, MPI_LONG_INT, kLocation | kMayPass),
      KIND(at_int, Located_at_int, MPI_2INT, kLocation | kMayPass),
      KIND(at_short, Located_at_short, MPI_SHORT_INT, kLocation | kMayPass),
      KIND(at_longest, Located_at_longest, MPI_LONG_DOUBLE_INT, kLocation | kMayPass),
  };
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) run_all_ops(&kinds[k]);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  with_each_algorithm(&run_checks);
  return finish();
}
