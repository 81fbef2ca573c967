/* Placed behind Stretto it counts what Stretto makes that takes a context of the MPI library's, communicators and
 * windows, and comparisons of groups, which take time by the square of the ranks. The program's own, by MPI_X, are not
 * counted. */
#include "counted_calls.h"

COUNTED(Comm_dup, (MPI_Comm comm, MPI_Comm* made_), (comm, made_))
COUNTED(Comm_idup, (MPI_Comm comm, MPI_Comm* made_, MPI_Request* request), (comm, made_, request))
COUNTED(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* made_), (comm, group, made_))
COUNTED(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made_), (comm, group, tag, made_))
COUNTED(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made_), (comm, color, key, made_))
COUNTED(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made_),
        (comm, type, key, info, made_))
COUNTED(Win_allocate, (MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void* memory, MPI_Win* window),
        (bytes, unit, info, comm, memory, window))
COUNTED(Win_create, (void* memory, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* window),
        (memory, bytes, unit, info, comm, window))
COUNTED(Group_intersection, (MPI_Group one, MPI_Group other, MPI_Group* common), (one, other, common))
COUNTED(Group_translate_ranks, (MPI_Group from, int count, const int ranks[], MPI_Group to, int translated[]),
        (from, count, ranks, to, translated))

__attribute__((destructor)) static void say(void) { printf("made: %d\n", made); }
