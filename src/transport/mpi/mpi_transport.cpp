#include "transport/mpi/mpi_transport.hpp"

#include <algorithm>

namespace stretto::mpi {

void MpiTransport::start(Transfer& transfer) {
  if (transfer.kind == Transfer::Kind::send && !may_send(transfer)) {
    waiting_sends_.push_back(&transfer);
    return;
  }
  post(transfer);
}

bool MpiTransport::may_send(const Transfer& transfer) const {
  if (sends_ < kMaxSends) return true;
  const auto of_same_call = [&](const Transfer* other) {
    return other->kind == Transfer::Kind::send && other->stream / kStreamsOfCall == transfer.stream / kStreamsOfCall;
  };
  return std::count_if(owners_.begin(), owners_.end(), of_same_call) < kMaxSends;
}

void MpiTransport::post(Transfer& transfer) {
  const bool sends = transfer.kind == Transfer::Kind::send;
  transfer.parts = static_cast<unsigned>(transfer.bytes / kPartBytes) + 1;
  if (sends) ++sends_;
  const bool ahead = transfer.stream == abandonable_ && abandonable_ != 0;
  if (sends && ahead) sent_to_.push_back(transfer.peer);
  for (std::size_t part = 0, parts = transfer.parts; part < parts; ++part) {
    const std::size_t at = part * kPartBytes;
    const int count = static_cast<int>(std::min(kPartBytes, transfer.bytes - at));
    MPI_Request request = MPI_REQUEST_NULL;
    int result = MPI_SUCCESS;
    if (sends) {
      result = PMPI_Isend(transfer.data + at, count, MPI_BYTE, channel_.real(transfer.peer),
                          channel_.tag_of(transfer.peer, transfer.stream), channel_.comm(), &request);
    } else {
      const int source = transfer.peer == kAnyRank ? MPI_ANY_SOURCE : channel_.real(transfer.peer);
      result = PMPI_Irecv(transfer.data + at, count, MPI_BYTE, source, channel_.own_tag(transfer.stream),
                          channel_.comm(), &request);
    }
    int done = 0;
    // Most small messages are, and then cost no round through progress(). Those that are begun ahead are not, and MPI
    // that is asked in vain may give the core away: 0.6 ms for each of a root's receives on emulated nodes.
    if (result == MPI_SUCCESS && !ahead) result = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
    failed_ = failed_ || result != MPI_SUCCESS;
    if (failed_) return;  // nobody goes on with what has not come; progress() stops the call
    if (done != 0) {
      finish_part(transfer);
    } else {
      requests_.push_back(request);
      owners_.push_back(&transfer);
    }
  }
}

bool MpiTransport::finish_part(Transfer& transfer) {
  if (--transfer.parts > 0) return false;
  if (transfer.kind == Transfer::Kind::send) --sends_;
  transfer.complete = true;
  return true;
}

bool MpiTransport::progress(Executor& executor, bool may_wait) {
  if (failed_) {
    executor.stop();
    return true;
  }
  if (requests_.empty()) return false;
  completed_.resize(requests_.size());
  int count = 0;
  const auto look =
      may_wait && waiting_ == Waiting::blocking && executor.awaits_messages_only() ? &PMPI_Waitsome : &PMPI_Testsome;
  failed_ = look(static_cast<int>(requests_.size()), requests_.data(), &count, completed_.data(),
                 MPI_STATUSES_IGNORE) != MPI_SUCCESS;
  if (failed_) return true;
  if (count <= 0) return false;
  // From the back, so that filling a gap with the last entry moves none of the indices still to come.
  std::sort(completed_.begin(), completed_.begin() + count, std::greater<>());
  for (int i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]);
    Transfer& transfer = *owners_[index];
    requests_[index] = requests_.back();
    owners_[index] = owners_.back();
    requests_.pop_back();
    owners_.pop_back();
    if (finish_part(transfer) && transfer.waiter) executor.post(transfer.waiter);
  }
  for (auto waiting = waiting_sends_.begin(); waiting != waiting_sends_.end();) {
    Transfer& next = **waiting;
    if (!may_send(next)) {
      ++waiting;
      continue;
    }
    waiting = waiting_sends_.erase(waiting);
    post(next);
    if (next.complete && next.waiter) executor.post(next.waiter);
  }
  return true;
}

std::vector<int> MpiTransport::abandon(std::uint32_t stream, int ranks) {
  for (std::size_t i = 0; i < requests_.size();) {
    if (owners_[i]->stream != stream) {
      ++i;
      continue;
    }
    // An empty message ends by itself, and somebody will look for it.
    if (owners_[i]->kind == Transfer::Kind::receive) PMPI_Cancel(&requests_[i]);
    PMPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
    if (owners_[i]->kind == Transfer::Kind::send && --owners_[i]->parts == 0) --sends_;
    requests_[i] = requests_.back();
    owners_[i] = owners_.back();
    requests_.pop_back();
    owners_.pop_back();
  }
  std::erase_if(waiting_sends_, [&](const Transfer* transfer) { return transfer->stream == stream; });
  std::vector<int> messages(static_cast<std::size_t>(ranks));
  for (int peer : sent_to_) ++messages[static_cast<std::size_t>(peer)];
  if (stream != abandonable_) messages.assign(messages.size(), 0);
  return messages;
}

}  // namespace stretto::mpi
