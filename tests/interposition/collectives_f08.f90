! Collectives from Fortran through `use mpi_f08`: typed handles, optional ierror, MPI_IN_PLACE, a user
! operation, and communicators of half the ranks.
module compose_module
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
contains
  ! Composes maps x -> a x + b, pairs of integers; the first argument comes from the lower ranks.
  subroutine compose(earlier_pointer, later_pointer, length, datatype)
    type(c_ptr), value :: earlier_pointer, later_pointer
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: earlier(:, :), later(:, :)
    integer :: i
    if (datatype == MPI_DATATYPE_NULL) stop 3
    call c_f_pointer(earlier_pointer, earlier, [2, length])
    call c_f_pointer(later_pointer, later, [2, length])
    do i = 1, length
      later(2, i) = later(1, i) * earlier(2, i) + later(2, i)
      later(1, i) = later(1, i) * earlier(1, i)
    end do
  end subroutine compose
end module compose_module

program collectives_f08
  use mpi_f08
  use compose_module
  implicit none
  integer, parameter :: sizes(4) = [1, 7, 1000, 100003]
  integer :: rank, ranks, s, root, failures = 0
  type(MPI_Comm) :: half

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
  do s = 1, size(sizes)
    call run_allreduce(sizes(s))
    do root = 0, ranks - 1
      call run_reduce(sizes(s), root)
      call run_bcast(sizes(s), root)
      call MPI_Barrier(MPI_COMM_WORLD)
      call MPI_Barrier(half)
    end do
    call run_user_operation(sizes(s))
  end do
  call MPI_Comm_free(half)
  call MPI_Finalize()
  if (failures > 0) stop 1
  if (rank == 0) print '(a)', 'ok'

contains

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    failures = failures + 1
    print '(a,a)', 'wrong: ', what
  end subroutine expect

  subroutine run_allreduce(n)
    integer, intent(in) :: n
    integer :: numbers(n), sums(n), i, ierror
    double precision :: reals(n)
    numbers = [(rank * 1000 + i, i = 1, n)]
    call MPI_Allreduce(numbers, sums, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call expect(ierror == MPI_SUCCESS, 'allreduce ierror')
    call expect(all(sums == [(1000 * (ranks * (ranks - 1) / 2) + ranks * i, i = 1, n)]), 'allreduce integers')
    reals = [(dble(rank) + 0.5d0 * i, i = 1, n)]
    call MPI_Allreduce(MPI_IN_PLACE, reals, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
    call expect(all(reals == [(dble(ranks - 1) + 0.5d0 * i, i = 1, n)]), 'allreduce doubles in place')
    numbers = 1
    call MPI_Allreduce(MPI_IN_PLACE, numbers, n, MPI_INTEGER, MPI_SUM, half)
    call expect(all(numbers == (ranks + 1 - mod(rank, 2)) / 2), 'allreduce in half the ranks')
  end subroutine run_allreduce

  subroutine run_reduce(n, root)
    integer, intent(in) :: n, root
    double precision :: reals(n), sums(n)
    integer :: i
    reals = [(dble(rank) + i, i = 1, n)]
    call MPI_Reduce(reals, sums, n, MPI_DOUBLE_PRECISION, MPI_SUM, root, MPI_COMM_WORLD)
    if (rank == root) call expect(all(sums == [(0.5d0 * ranks * (ranks - 1) + dble(ranks) * i, i = 1, n)]), 'reduce')
    if (rank == root) then
      call MPI_Reduce(MPI_IN_PLACE, reals, n, MPI_DOUBLE_PRECISION, MPI_SUM, root, MPI_COMM_WORLD)
      call expect(all(reals == sums), 'reduce in place')
    else
      call MPI_Reduce(reals, sums, n, MPI_DOUBLE_PRECISION, MPI_SUM, root, MPI_COMM_WORLD)
    end if
  end subroutine run_reduce

  subroutine run_bcast(n, root)
    integer, intent(in) :: n, root
    integer :: numbers(n), i
    numbers = -1
    if (rank == root) numbers = [(7 * i + root, i = 1, n)]
    call MPI_Bcast(numbers, n, MPI_INTEGER, root, MPI_COMM_WORLD)
    call expect(all(numbers == [(7 * i + root, i = 1, n)]), 'bcast integers')
  end subroutine run_bcast

  subroutine run_user_operation(n)
    integer, intent(in) :: n
    type(MPI_Op) :: op
    type(MPI_Datatype) :: pair
    integer :: maps(2, n), results(2, n), expected(2), i, r
    call MPI_Op_create(compose, .false., op)
    call MPI_Type_contiguous(2, MPI_INTEGER, pair)
    call MPI_Type_commit(pair)
    maps(1, :) = mod(rank, 3) + 1
    maps(2, :) = [(rank + mod(i, 100), i = 1, n)]
    call MPI_Allreduce(maps, results, n, pair, op, MPI_COMM_WORLD)
    do i = 1, n
      expected = [1, 0]
      do r = 0, ranks - 1
        expected = [expected(1) * (mod(r, 3) + 1), (mod(r, 3) + 1) * expected(2) + r + mod(i, 100)]
      end do
      if (any(results(:, i) /= expected)) exit
    end do
    call expect(i == n + 1, 'user operation')
    call MPI_Type_free(pair)
    call MPI_Op_free(op)
  end subroutine run_user_operation

end program collectives_f08
