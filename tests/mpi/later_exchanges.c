/* MPI_Iallgather, MPI_Ireduce_scatter_block, MPI_Ialltoall and their kinds with lengths; and, with MPI 4, persistent
 * ones. Argument: the collective. */
#include "exchanges.h"

static int wait_for(MPI_Request* request, int code) {
  if (code != MPI_SUCCESS) return code;
  return MPI_Wait(request, MPI_STATUS_IGNORE);
}

static int allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                     MPI_Datatype out_type, MPI_Comm comm) {
  MPI_Request request;
  return wait_for(&request, MPI_Iallgather(in, in_count, in_type, out, out_count, out_type, comm, &request));
}

static int allgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* out_counts,
                      const int* places, MPI_Datatype out_type, MPI_Comm comm) {
  MPI_Request request;
  return wait_for(&request, MPI_Iallgatherv(in, in_count, in_type, out, out_counts, places, out_type, comm, &request));
}

static int reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  MPI_Request request;
  return wait_for(&request, MPI_Ireduce_scatter_block(in, out, count, type, op, comm, &request));
}

static int reduce_scatter(const void* in, void* out, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  MPI_Request request;
  return wait_for(&request, MPI_Ireduce_scatter(in, out, counts, type, op, comm, &request));
}

static int alltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count, MPI_Datatype out_type,
                    MPI_Comm comm) {
  MPI_Request request;
  return wait_for(&request, MPI_Ialltoall(in, in_count, in_type, out, out_count, out_type, comm, &request));
}

static int alltoallv(const void* in, const int* in_counts, const int* in_places, MPI_Datatype in_type, void* out,
                     const int* out_counts, const int* out_places, MPI_Datatype out_type, MPI_Comm comm) {
  MPI_Request request;
  return wait_for(&request, MPI_Ialltoallv(in, in_counts, in_places, in_type, out, out_counts, out_places, out_type,
                                           comm, &request));
}

static const ExchangeCalls kNonBlocking = {"i",       &allgather, &allgatherv, &reduce_scatter_block, &reduce_scatter,
                                           &alltoall, &alltoallv};

#if MPI_VERSION >= 4
static int run_once(MPI_Request* request, int code) {
  if (code != MPI_SUCCESS) return code;
  MPI_Start(request);
  code = MPI_Wait(request, MPI_STATUS_IGNORE);
  MPI_Request_free(request);
  return code;
}

static int made_allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                          MPI_Datatype out_type, MPI_Comm comm) {
  MPI_Request request;
  return run_once(&request,
                  MPI_Allgather_init(in, in_count, in_type, out, out_count, out_type, comm, MPI_INFO_NULL, &request));
}

static int made_allgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* out_counts,
                           const int* places, MPI_Datatype out_type, MPI_Comm comm) {
  MPI_Request request;
  return run_once(&request, MPI_Allgatherv_init(in, in_count, in_type, out, out_counts, places, out_type, comm,
                                                MPI_INFO_NULL, &request));
}

static int made_reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                                     MPI_Comm comm) {
  MPI_Request request;
  return run_once(&request, MPI_Reduce_scatter_block_init(in, out, count, type, op, comm, MPI_INFO_NULL, &request));
}

static int made_reduce_scatter(const void* in, void* out, const int* counts, MPI_Datatype type, MPI_Op op,
                               MPI_Comm comm) {
  MPI_Request request;
  return run_once(&request, MPI_Reduce_scatter_init(in, out, counts, type, op, comm, MPI_INFO_NULL, &request));
}

static int made_alltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                         MPI_Datatype out_type, MPI_Comm comm) {
  MPI_Request request;
  return run_once(&request,
                  MPI_Alltoall_init(in, in_count, in_type, out, out_count, out_type, comm, MPI_INFO_NULL, &request));
}

static int made_alltoallv(const void* in, const int* in_counts, const int* in_places, MPI_Datatype in_type, void* out,
                          const int* out_counts, const int* out_places, MPI_Datatype out_type, MPI_Comm comm) {
  MPI_Request request;
  return run_once(&request, MPI_Alltoallv_init(in, in_counts, in_places, in_type, out, out_counts, out_places, out_type,
                                               comm, MPI_INFO_NULL, &request));
}

static const ExchangeCalls kPersistent = {"i",
                                          &made_allgather,
                                          &made_allgatherv,
                                          &made_reduce_scatter_block,
                                          &made_reduce_scatter,
                                          &made_alltoall,
                                          &made_alltoallv};
#endif

static const char* collective;

static void run_all(void) {
  exchanges_run_all(&kNonBlocking, collective);
#if MPI_VERSION >= 4
  exchanges_run_all(&kPersistent, collective);
#endif
}

int main(int argc, char** argv) {
  collective = argv[1];
  start(&argc, &argv);
  with_each_algorithm(&run_all);
  return finish();
}
