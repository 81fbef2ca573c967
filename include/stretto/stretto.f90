! Stretto's hints for Fortran; stretto.h says what they mean. Compile it with the program, and link the preload library
! (libstretto_openmpi.so or libstretto_mpich.so) or preload it.
module stretto
  use, intrinsic :: iso_c_binding, only: c_int, c_double
  implicit none
  integer(c_int), parameter :: stretto_ok = 0, stretto_not_active = 3, stretto_not_begun = 4, &
                               stretto_bad_fraction = 5, stretto_mark_out_of_order = 6

  interface
    integer(c_int) function stretto_compute_begin() bind(c, name="Stretto_compute_begin")
      import :: c_int
    end function
    integer(c_int) function stretto_progress_mark(fraction) bind(c, name="Stretto_progress_mark")
      import :: c_int, c_double
      real(c_double), value :: fraction
    end function
  end interface
end module
