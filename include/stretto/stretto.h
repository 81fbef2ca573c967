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

#define STRETTO_API __attribute__((visibility("default")))

enum { STRETTO_OK = 0, STRETTO_UNKNOWN_COLLECTIVE = 1, STRETTO_UNKNOWN_ALGORITHM = 2 };

/* Which algorithm later calls of `collective` ("allreduce", "reduce", "bcast", "barrier", "scatter", "gather",
 * "scatterv", "gatherv") use: a name that `stretto algorithms` lists, "native" for the MPI library's own, "default" for
 * Stretto's choice. Every rank must call it alike, between the same two collectives. Returns STRETTO_OK or an error
 * from above. */
STRETTO_API int Stretto_force(const char* collective, const char* algorithm);

/* The algorithm that ran in this process' latest call of `collective`, "native" where it was passed through, and ""
 * before the first. The string is static. NULL for an unknown collective. */
STRETTO_API const char* Stretto_last_algorithm(const char* collective);

#ifdef __cplusplus
}
#endif
#endif
