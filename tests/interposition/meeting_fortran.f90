! The Fortran half of an MPMD job whose other half is meeting.c: both must make the same calls.
program meeting
  use mpi_f08
  implicit none
  integer, parameter :: counts(4) = [1, 5, 3000, 200000]
  integer :: rank, ranks, round, count, root, i, failures
  integer, allocatable :: numbers(:), sums(:)

  failures = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  do round = 0, 19
    count = counts(mod(round, 4) + 1)
    root = mod(round, ranks)
    allocate (numbers(count), sums(count))
    numbers = [(1000 * rank + i + round, i = 1, count)]
    call MPI_Allreduce(numbers, sums, count, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (any(sums /= [(1000 * (ranks * (ranks - 1) / 2) + ranks * (i + round), i = 1, count)])) failures = failures + 1
    call MPI_Allreduce(MPI_IN_PLACE, numbers, count, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    if (numbers(1) /= 1000 * (ranks - 1) + 1 + round) failures = failures + 1
    call MPI_Bcast(sums, count, MPI_INTEGER, root, MPI_COMM_WORLD)
    if (rank == root) then
      call MPI_Reduce(MPI_IN_PLACE, sums, count, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD)
    else
      call MPI_Reduce(sums, sums, count, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD)
    end if
    call MPI_Barrier(MPI_COMM_WORLD)
    deallocate (numbers, sums)
  end do
  call MPI_Finalize()
  if (failures > 0) print '(a,i0,a)', 'wrong: ', failures, ' results in Fortran'
  if (failures > 0) stop 1
end program meeting
