// The requests that a program holds for collectives that run on the engine.
//
// Each is an MPI request of its own: a receive, from the process itself, that a message without data completes when the
// collective has ended. So the MPI library's own functions complete, test, mix and free it, in any language.
#pragma once

#include <mpi.h>

#include <mutex>
#include <vector>

namespace stretto::mpi {

class ProxyRequests {
 public:
  /// After MPI_Init; and before MPI_Finalize, when all have been completed.
  void open();
  void close();
  bool is_open() const { return comm_ != MPI_COMM_NULL; }

  /// Whose completion is told by complete(); then the tag is free for another.
  int take_tag();
  void give_tag(int tag);

  int start(int tag, MPI_Request* request) const;            // active
  int make_persistent(int tag, MPI_Request* request) const;  // inactive, for PMPI_Start
  void complete(int tag) const;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::mutex mutex_;
  std::vector<int> free_tags_;
  int tags_ = 0;
};

}  // namespace stretto::mpi
