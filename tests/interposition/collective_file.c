/* MPI-IO: the library inside the MPI (ROMIO, OMPIO) calls collectives itself. Argument: the file to write. */
#include "../mpi/check.h"

enum { kCount = 50000 };

int main(int argc, char** argv) {
  start(&argc, &argv);
  static int32_t data[kCount];
  MPI_File file;
  for (int i = 0; i < kCount; i++) data[i] = (int32_t)value_at(world_rank, i);
  CHECK(argc == 2, "usage: collective_file PATH");
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  /* Interleaved: element i of rank r is at i * P + r. */
  MPI_Datatype every;
  MPI_Type_vector(kCount, 1, world_size, MPI_INT32_T, &every);
  MPI_Type_commit(&every);
  MPI_File_set_view(file, (MPI_Offset)world_rank * 4, MPI_INT32_T, every, "native", MPI_INFO_NULL);
  CHECK(MPI_File_write_all(file, data, kCount, MPI_INT32_T, MPI_STATUS_IGNORE) == MPI_SUCCESS, "write_all");
  memset(data, 0, sizeof data);
  MPI_File_set_view(file, 0, MPI_INT32_T, MPI_INT32_T, "native", MPI_INFO_NULL);
  const MPI_Offset first = (MPI_Offset)world_rank * kCount;
  CHECK(MPI_File_read_at_all(file, first, data, kCount, MPI_INT32_T, MPI_STATUS_IGNORE) == MPI_SUCCESS, "read_at_all");
  int wrong = 0;
  for (int64_t i = 0; i < kCount; i++)
    wrong += data[i] != (int32_t)value_at((int)((first + i) % world_size), (first + i) / world_size);
  CHECK(wrong == 0, "%d elements of the file are wrong", wrong);
  MPI_File_close(&file);
  MPI_Type_free(&every);
  return finish();
}
