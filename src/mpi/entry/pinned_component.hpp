// A defect of Open MPI 4.1 that ends programs whose MPI_Finalize follows soon after MPI_Init, on busy machines, with a
// segmentation fault (seen in one of a thousand jobs, most of them without Stretto).
#pragma once

namespace stretto::mpi {

/// MPI_Init has PMIx tell Open MPI's progress thread of an event, and MPI_Finalize unloads the component with the
/// handler (mca_pmix_ext3x.so, mca_pmix_pmix3x.so) before it ends that thread, which may come to run the handler only
/// then. So that component stays loaded from here on.
void pin_pmix_component();

}  // namespace stretto::mpi
