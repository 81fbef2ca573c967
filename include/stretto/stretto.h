/* Stretto's public C interface.
 *
 * An unmodified MPI program needs none of it: preloading the library is enough. It is for programs that want to
 * steer or to ask, such as Stretto's own benchmark. Every function may be called between MPI_Init and MPI_Finalize.
 */
#ifndef STRETTO_STRETTO_H
#define STRETTO_STRETTO_H

#ifdef __cplusplus
extern "C" {
#endif

#define STRETTO_VERSION "0.1.0"

#define STRETTO_API __attribute__((visibility("default")))

enum {
  STRETTO_OK = 0,
  STRETTO_UNKNOWN_COLLECTIVE = 1,
  STRETTO_UNKNOWN_ALGORITHM = 2,
  STRETTO_NOT_ACTIVE = 3,        /* before MPI_Init or after MPI_Finalize */
  STRETTO_NOT_BEGUN = 4,         /* a mark without Stretto_compute_begin */
  STRETTO_BAD_FRACTION = 5,      /* not in (0, 1] */
  STRETTO_MARK_OUT_OF_ORDER = 6, /* not more than at the mark before */
  STRETTO_NOT_WRITTEN = 7        /* a file */
};

/* Which algorithm later calls of `collective` ("allreduce", "reduce", "bcast", "barrier", "scatter", "gather",
 * "scatterv", "gatherv", "allgather", "allgatherv", "reduce_scatter_block", "reduce_scatter", "alltoall", "alltoallv")
 * use: a name that `stretto algorithms` lists, also on segments ("ring+4", "ring+1M"), "native" for the MPI library's
 * own, "default" for Stretto's choice. "iallreduce" and the like mean the non-blocking and persistent forms;
 * STRETTO_NOT_ACTIVE unless one of them was set when MPI began (STRETTO_IALLREDUCE=default will do). Every rank must
 * call it alike, between the same two collectives. Returns STRETTO_OK or an error from above. */
STRETTO_API int Stretto_force(const char* collective, const char* algorithm);

/* The algorithm that ran in this process' latest call of `collective`, "native" where it was passed through, and ""
 * before the first. The string is static. NULL for an unknown collective. */
STRETTO_API const char* Stretto_last_algorithm(const char* collective);

/* Hints: with them Stretto knows when this rank will arrive at its next collective (Proficz 2020, section 3, where
 * the mark is PAT_Edge). Both calls are cheap, local, and may come from any thread: they tell of the process, in the
 * order in which they come.
 *
 * Stretto_compute_begin: a computation begins, at whose end this rank calls a collective. Marks of an earlier one no
 * longer count. Returns STRETTO_OK or STRETTO_NOT_ACTIVE.
 *
 * Stretto_progress_mark: `fraction` of it is done, in (0, 1], rising from mark to mark; the time that is left follows
 * from the time it took. The first mark before a collective is told to the other ranks; any mark lets collectives that
 * run in the background go on. Returns STRETTO_OK, STRETTO_NOT_ACTIVE, STRETTO_NOT_BEGUN, STRETTO_BAD_FRACTION or
 * STRETTO_MARK_OUT_OF_ORDER; a refused mark changes nothing.
 *
 * Hints are used where all ranks of a communicator give them, from a call on that all agree on. A rank that leaves out
 * some is taken to tell of its arrival when it arrives. Wrong hints cost time, never a result. */
STRETTO_API int Stretto_compute_begin(void);
STRETTO_API int Stretto_progress_mark(double fraction);

/* Measures what messages, copies and sums take on the ranks of MPI_COMM_WORLD, and writes it to `file`, on rank 0's
 * node; docs/machine.md says how. Half a minute. Every rank must call it, when nobody else uses cores and network;
 * `stretto tune --machine` does. Returns, on all ranks alike, STRETTO_OK, STRETTO_NOT_ACTIVE or STRETTO_NOT_WRITTEN. */
STRETTO_API int Stretto_measure_machine(const char* file);

#ifdef __cplusplus
}
#endif
#endif
