! Collectives from Fortran through `mpif.h` (-DUSE_MPIF_H) or `use mpi`: values of integers and doubles, MPI_IN_PLACE,
! a user operation whose order matters, a dup'd communicator, and the error argument.
module check
  implicit none
  integer :: failures = 0
contains
  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    failures = failures + 1
    print '(a,a)', 'wrong: ', what
  end subroutine expect
end module check

! Composes maps x -> a x + b, pairs of integers; `earlier` comes from the lower ranks.
subroutine compose(earlier, later, length, datatype)
  implicit none
  integer :: length, datatype, i
  integer :: earlier(2, length), later(2, length)
  if (datatype == 0) stop 3
  do i = 1, length
    later(2, i) = later(1, i) * earlier(2, i) + later(2, i)
    later(1, i) = later(1, i) * earlier(1, i)
  end do
end subroutine compose

program collectives
  use check
#ifdef USE_MPIF_H
  implicit none
  include 'mpif.h'
#else
  use mpi
  implicit none
#endif
  integer, parameter :: sizes(4) = [1, 7, 1000, 100003]
  integer :: rank, ranks, ierror, s, root, comm
  external :: compose

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  do s = 1, size(sizes)
    call run_allreduce(MPI_COMM_WORLD, sizes(s))
    call run_allreduce(comm, sizes(s))
    do root = 0, ranks - 1
      call run_reduce(comm, sizes(s), root)
      call run_bcast(MPI_COMM_WORLD, sizes(s), root)
      call MPI_Barrier(comm, ierror)
    end do
    call run_user_operation(sizes(s))
  end do
  call run_errors()
  call MPI_Comm_free(comm, ierror)
  call MPI_Finalize(ierror)
  if (failures > 0) stop 1
  if (rank == 0) print '(a)', 'ok'

contains

  subroutine run_allreduce(where, n)
    integer, intent(in) :: where, n
    integer, allocatable :: numbers(:), sums(:)
    double precision, allocatable :: reals(:)
    integer :: i
    numbers = [(rank * 1000 + i, i = 1, n)]
    allocate (sums(n), source=-1)
    call MPI_Allreduce(numbers, sums, n, MPI_INTEGER, MPI_SUM, where, ierror)
    call expect(ierror == MPI_SUCCESS, 'allreduce ierror')
    call expect(all(sums == [(1000 * (ranks * (ranks - 1) / 2) + ranks * i, i = 1, n)]), 'allreduce integers')
    reals = [(dble(rank) + 0.5d0 * i, i = 1, n)]
    call MPI_Allreduce(MPI_IN_PLACE, reals, n, MPI_DOUBLE_PRECISION, MPI_MAX, where, ierror)
    call expect(all(reals == [(dble(ranks - 1) + 0.5d0 * i, i = 1, n)]), 'allreduce doubles in place')
  end subroutine run_allreduce

  subroutine run_reduce(where, n, root)
    integer, intent(in) :: where, n, root
    double precision, allocatable :: reals(:), sums(:)
    integer :: i
    reals = [(dble(rank) + i, i = 1, n)]
    allocate (sums(n), source=-1d0)
    call MPI_Reduce(reals, sums, n, MPI_DOUBLE_PRECISION, MPI_SUM, root, where, ierror)
    if (rank == root) call expect(all(sums == [(0.5d0 * ranks * (ranks - 1) + dble(ranks) * i, i = 1, n)]), 'reduce')
    if (rank == root) then
      call MPI_Reduce(MPI_IN_PLACE, reals, n, MPI_DOUBLE_PRECISION, MPI_SUM, root, where, ierror)
      call expect(all(reals == sums), 'reduce in place')
    else
      call MPI_Reduce(reals, sums, n, MPI_DOUBLE_PRECISION, MPI_SUM, root, where, ierror)
    end if
  end subroutine run_reduce

  subroutine run_bcast(where, n, root)
    integer, intent(in) :: where, n, root
    integer, allocatable :: numbers(:)
    complex, allocatable :: pairs(:)
    integer :: i
    allocate (numbers(n), source=-1)
    if (rank == root) numbers = [(7 * i + root, i = 1, n)]
    call MPI_Bcast(numbers, n, MPI_INTEGER, root, where, ierror)
    call expect(all(numbers == [(7 * i + root, i = 1, n)]), 'bcast integers')
    allocate (pairs(n), source=(0.0, 0.0))
    if (rank == root) pairs = (1.5, -2.5)
    call MPI_Bcast(pairs, n, MPI_COMPLEX, root, where, ierror)
    call expect(all(pairs == (1.5, -2.5)), 'bcast complex')
  end subroutine run_bcast

  subroutine run_user_operation(n)
    integer, intent(in) :: n
    integer :: op, pair, i, r
    integer :: expected(2)
    integer, allocatable :: maps(:, :), results(:, :)
    call MPI_Op_create(compose, .false., op, ierror)
    call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierror)
    call MPI_Type_commit(pair, ierror)
    allocate (maps(2, n), results(2, n))
    maps(1, :) = mod(rank, 3) + 1
    maps(2, :) = [(rank + mod(i, 100), i = 1, n)]
    call MPI_Allreduce(maps, results, n, pair, op, MPI_COMM_WORLD, ierror)
    do i = 1, n
      expected = [1, 0]
      do r = 0, ranks - 1
        expected = [expected(1) * (mod(r, 3) + 1), (mod(r, 3) + 1) * expected(2) + r + mod(i, 100)]
      end do
      if (any(results(:, i) /= expected)) exit
    end do
    call expect(i == n + 1, 'user operation')
    call MPI_Type_free(pair, ierror)
    call MPI_Op_free(op, ierror)
  end subroutine run_user_operation

  subroutine run_errors()
    integer :: value(1), code, class
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierror)
    call MPI_Bcast(value, 1, MPI_INTEGER, ranks, comm, code)
    call MPI_Error_class(code, class, ierror)
    call expect(class == MPI_ERR_ROOT, 'error class of a root that does not exist')
  end subroutine run_errors

end program collectives
