/* Placed behind Stretto it counts the collectives of the MPI library by which Stretto's ranks agree, PMPI_X. The
 * program's own that Stretto leaves to the library, MPI_X, are not counted. */
#include "counted_calls.h"

/* What has been counted since this was last asked. */
int counted_collectives(void) {
  const int count = made;
  made = 0;
  return count;
}

COUNTED(Barrier, (MPI_Comm comm), (comm))
COUNTED(Bcast, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm), (data, count, type, root, comm))
COUNTED(Allreduce, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (in, out, count, type, op, comm))
COUNTED(Iallreduce,
        (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request),
        (in, out, count, type, op, comm, request))
COUNTED(Allgather,
        (const void* in, int sent, MPI_Datatype sent_type, void* out, int received, MPI_Datatype type, MPI_Comm comm),
        (in, sent, sent_type, out, received, type, comm))
COUNTED(Comm_dup, (MPI_Comm comm, MPI_Comm* copy), (comm, copy))
COUNTED(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* part), (comm, group, part))
COUNTED(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* part), (comm, color, key, part))
COUNTED(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part),
        (comm, type, key, info, part))
COUNTED(Comm_free, (MPI_Comm * comm), (comm))
