! Non-blocking and persistent calls from Fortran through `mpif.h` (-DUSE_MPIF_H), `use mpi`, or `use mpi_f08`
! (-DUSE_MPI_F08): collectives and messages in one array of requests, completed in every way that there is. With
! -DPERSISTENT_COLLECTIVES, which MPI 4 has, those too; persistent messages in any case. -DLOWEST_INDEX=0 is for an MPI
! that counts requests wrongly.
#ifndef LOWEST_INDEX
#define LOWEST_INDEX 1
#endif
#ifdef USE_MPI_F08
#define REQUEST_TYPE type(MPI_Request)
#define SOURCE_OF(status) status%MPI_SOURCE
#define STATUS_ARRAY(name, length) type(MPI_Status) :: name(length)
#define STATUS_AT(name, index) name(index)
#else
#define REQUEST_TYPE integer
#define SOURCE_OF(status) status(MPI_SOURCE)
#define STATUS_ARRAY(name, length) integer :: name(MPI_STATUS_SIZE, length)
#define STATUS_AT(name, index) name(:, index)
#endif

program non_blocking
#if defined(USE_MPI_F08)
  use mpi_f08
  implicit none
#elif defined(USE_MPIF_H)
  implicit none
  include 'mpif.h'
#else
  use mpi
  implicit none
#endif
  integer, parameter :: sizes(3) = [1, 1000, 30011], requests_each = 7, ways = 6
  integer, allocatable, asynchronous :: numbers(:), sums(:), gathered(:)
  double precision, allocatable, asynchronous :: reals(:), reduced(:), told(:)
  integer, asynchronous :: sent, received
  integer :: rank, ranks, root, salt = 0, failures = 0, ierror, s, way
  REQUEST_TYPE :: requests(requests_each)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  do s = 1, size(sizes)
    call make_buffers(sizes(s))
    do way = 1, ways
      call fill()
      call start(sizes(s))
      call complete(way)
      call check(way)
    end do
    call run_persistent(sizes(s))
    deallocate (numbers, sums, gathered, reals, reduced, told)
  end do
  call MPI_Finalize(ierror)
  if (failures > 0) stop 1
  if (rank == 0) print '(a)', 'ok'

contains

  subroutine expect(condition, what, which)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    integer, intent(in) :: which
    if (condition) return
    failures = failures + 1
    print '(a,a,a,i0,a,i0)', 'wrong: ', what, ' ', which, ' on rank ', rank
  end subroutine expect

  subroutine make_buffers(n)
    integer, intent(in) :: n
    allocate (numbers(n), sums(n), gathered(n * ranks), reals(n), reduced(n), told(n))
  end subroutine make_buffers

  ! Other values and another root each time, so that nothing old passes for new.
  subroutine fill()
    integer :: i
    salt = salt + 1
    root = mod(salt, ranks)
    numbers = [(100000 * rank + i + 7 * salt, i = 1, size(numbers))]
    reals = dble(numbers) + 0.5d0
    told = merge(reals, -1d0, rank == root)
    sent = 10 * rank + salt
    received = -1
  end subroutine fill

  subroutine start(n)
    integer, intent(in) :: n
    call MPI_Iallreduce(numbers, sums, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Irecv(received, 1, MPI_INTEGER, previous(), salt, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Ibcast(told, n, MPI_DOUBLE_PRECISION, root, MPI_COMM_WORLD, requests(3), ierror)
    call MPI_Ireduce(reals, reduced, n, MPI_DOUBLE_PRECISION, MPI_MAX, root, MPI_COMM_WORLD, requests(4), ierror)
    call MPI_Isend(sent, 1, MPI_INTEGER, mod(rank + 1, ranks), salt, MPI_COMM_WORLD, requests(5), ierror)
    call MPI_Iallgather(numbers, n, MPI_INTEGER, gathered, n, MPI_INTEGER, MPI_COMM_WORLD, requests(6), ierror)
    call MPI_Ibarrier(MPI_COMM_WORLD, requests(7), ierror)
  end subroutine start

  integer function previous()
    previous = mod(rank + ranks - 1, ranks)
  end function previous

  subroutine complete(how)
    integer, intent(in) :: how
    integer :: done, some, i, indices(requests_each)
    logical :: flag
    STATUS_ARRAY(statuses, requests_each)
    done = 0
    flag = .false.
    select case (how)
    case (1)
      call MPI_Waitall(requests_each, requests, MPI_STATUSES_IGNORE, ierror)
    case (2)
      call MPI_Waitall(requests_each, requests, statuses, ierror)
      call expect(previous() == message_source(STATUS_AT(statuses, 2)), 'source of the message', how)
    case (3)
      do while (done < requests_each)
        call MPI_Testsome(requests_each, requests, some, indices, MPI_STATUSES_IGNORE, ierror)
        call expect(all(indices(:some) >= LOWEST_INDEX .and. indices(:some) <= requests_each), 'index', how)
        done = done + some
      end do
      call MPI_Testsome(requests_each, requests, some, indices, MPI_STATUSES_IGNORE, ierror)
      call expect(some == MPI_UNDEFINED, 'some where there are none', how)
    case (4)
      do i = 1, requests_each
        call MPI_Waitany(requests_each, requests, some, MPI_STATUS_IGNORE, ierror)
        call expect(some >= LOWEST_INDEX .and. some <= requests_each, 'index', how)
      end do
    case (5)
      do while (.not. flag)
        call MPI_Testall(requests_each, requests, flag, MPI_STATUSES_IGNORE, ierror)
      end do
    case default
      do i = requests_each, 1, -1
        call MPI_Wait(requests(i), MPI_STATUS_IGNORE, ierror)
      end do
    end select
    call expect(ierror == MPI_SUCCESS, 'ierror', how)
    do i = 1, requests_each
      call expect(requests(i) == MPI_REQUEST_NULL, 'a request that is still there', how)
    end do
  end subroutine complete

  integer function message_source(status)
#ifdef USE_MPI_F08
    type(MPI_Status), intent(in) :: status
#else
    integer, intent(in) :: status(MPI_STATUS_SIZE)
#endif
    message_source = SOURCE_OF(status)
  end function message_source

  subroutine check(which)
    integer, intent(in) :: which
    integer :: i, r, n
    n = size(numbers)
    call expect(all(sums == [(50000 * ranks * (ranks - 1) + ranks * (i + 7 * salt), i = 1, n)]), 'allreduce', which)
    call expect(all(told == [(100000 * root + i + 7 * salt + 0.5d0, i = 1, n)]), 'bcast', which)
    if (rank == root) then
      call expect(all(reduced == [(100000 * (ranks - 1) + i + 7 * salt + 0.5d0, i = 1, n)]), 'reduce', which)
    end if
    do r = 0, ranks - 1
      call expect(all(gathered(r * n + 1:(r + 1) * n) == [(100000 * r + i + 7 * salt, i = 1, n)]), 'allgather', which)
    end do
    call expect(received == 10 * previous() + salt, 'message', which)
  end subroutine check

  ! The persistent ones are made once and started several times, beside those that start anew each time.
  subroutine run_persistent(n)
    integer, intent(in) :: n
    integer, parameter :: tag = 9999
    integer, allocatable, asynchronous :: again(:), again_sums(:)
    integer :: i, round, made
    integer, asynchronous :: to_next, from_previous
    REQUEST_TYPE :: lasting(3), one
    allocate (again(n), again_sums(n))
    call MPI_Send_init(to_next, 1, MPI_INTEGER, mod(rank + 1, ranks), tag, MPI_COMM_WORLD, lasting(1), ierror)
    call MPI_Recv_init(from_previous, 1, MPI_INTEGER, previous(), tag, MPI_COMM_WORLD, lasting(2), ierror)
    made = 2
#ifdef PERSISTENT_COLLECTIVES
    call MPI_Allreduce_init(again, again_sums, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, lasting(3), &
                            ierror)
    made = 3
#endif
    do round = 1, 4
      again = [(rank + i * round, i = 1, n)]
      to_next = 100 * round + rank
      call MPI_Startall(made, lasting, ierror)
      if (made == 2) call MPI_Iallreduce(again, again_sums, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, one, ierror)
      if (made == 2) call MPI_Wait(one, MPI_STATUS_IGNORE, ierror)
      call MPI_Waitall(made, lasting, MPI_STATUSES_IGNORE, ierror)
      call expect(ierror == MPI_SUCCESS, 'ierror in round', round)
      call expect(from_previous == 100 * round + previous(), 'persistent message in round', round)
      call expect(all(again_sums == [(ranks * (ranks - 1) / 2 + ranks * i * round, i = 1, n)]), 'sum in round', round)
    end do
    do i = 1, made
      call MPI_Request_free(lasting(i), ierror)
    end do
  end subroutine run_persistent

end program non_blocking
