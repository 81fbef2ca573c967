/* A library without contents: while it is the last that a process has loaded, no driver of a GPU is new there
 * (src/mpi/devices/gpu_drivers.hpp). */
extern const int stretto_last_library;
const int stretto_last_library = 1;
