! Hints from Fortran: what is taken and what is refused, and gathers after them.
include 'stretto.f90'

program hints
  use mpi_f08
  use stretto
  implicit none
  integer, parameter :: n = 2000
  integer :: rank, ranks, round, wrong, i
  integer :: mine(n)
  integer, allocatable :: all(:, :)

  wrong = 0
  call check(stretto_compute_begin() == stretto_not_active)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  allocate (all(n, ranks))
  call check(stretto_progress_mark(0.5d0) == stretto_not_begun)
  do round = 1, 40
    call check(stretto_compute_begin() == stretto_ok)
    mine = 1000 * rank + round
    call check(stretto_progress_mark(0.5d0) == stretto_ok)
    call check(stretto_progress_mark(0.5d0) == stretto_mark_out_of_order)
    call check(stretto_progress_mark(1.5d0) == stretto_bad_fraction)
    call MPI_Gather(mine, n, MPI_INTEGER, all, n, MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (rank == 0) call check(count(all(n, :) == [(1000 * i + round, i=0, ranks - 1)]) == ranks)
  end do
  call MPI_Finalize()
  call check(stretto_compute_begin() == stretto_not_active)
  if (wrong > 0) error stop 1
  print *, "ok"

contains
  subroutine check(right)
    logical, intent(in) :: right
    if (.not. right) wrong = wrong + 1
  end subroutine
end program
