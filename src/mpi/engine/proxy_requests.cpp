#include "mpi/engine/proxy_requests.hpp"

namespace stretto::mpi {

void ProxyRequests::open() { PMPI_Comm_dup(MPI_COMM_SELF, &comm_); }

void ProxyRequests::close() {
  if (is_open()) PMPI_Comm_free(&comm_);
}

int ProxyRequests::take_tag() {
  const std::scoped_lock lock(mutex_);
  if (free_tags_.empty()) return tags_++;
  const int tag = free_tags_.back();
  free_tags_.pop_back();
  return tag;
}

// The next request of this tag cannot take the message of this one: messages from one sender do not overtake.
void ProxyRequests::give_tag(int tag) {
  const std::scoped_lock lock(mutex_);
  free_tags_.push_back(tag);
}

int ProxyRequests::start(int tag, MPI_Request* request) const {
  return PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, tag, comm_, request);
}

int ProxyRequests::make_persistent(int tag, MPI_Request* request) const {
  return PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, tag, comm_, request);
}

void ProxyRequests::complete(int tag) const { PMPI_Send(nullptr, 0, MPI_BYTE, 0, tag, comm_); }

}  // namespace stretto::mpi
