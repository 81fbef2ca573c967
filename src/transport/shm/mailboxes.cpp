#include "transport/shm/mailboxes.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace stretto::shm {
namespace {

void complete(Transfer& transfer, Executor& executor) {
  transfer.complete = true;
  if (transfer.waiter) executor.post(transfer.waiter);
}

// Whether one of these receives is for the same messages as `transfer`.
template <class Iterator>
bool is_earlier(Iterator begin, Iterator end, const Transfer& transfer) {
  return std::any_of(begin, end, [&](const Transfer* earlier) {
    return earlier->peer == transfer.peer && earlier->stream == transfer.stream;
  });
}

}  // namespace

std::size_t MailboxTransport::memory_bytes(int ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  return sizeof(Usage) + count * count * kCells * sizeof(Cell) + count * kAcknowledgements * sizeof(Acknowledgement);
}

void MailboxTransport::clear(std::byte* memory, int ranks) {
  if (reinterpret_cast<Usage*>(memory)->used.load(std::memory_order_acquire) != 0) {
    std::memset(memory, 0, memory_bytes(ranks));
  }
}

MailboxTransport::MailboxTransport(std::byte* memory, int ranks, int rank, Platform& platform)
    : usage_(reinterpret_cast<Usage*>(memory)),
      cells_(reinterpret_cast<Cell*>(memory + sizeof(Usage))),
      ranks_(ranks),
      rank_(rank),
      platform_(platform),
      sent_(static_cast<std::size_t>(ranks), 0),
      received_(static_cast<std::size_t>(ranks), 0),
      early_(static_cast<std::size_t>(ranks)),
      raised_(kAcknowledgements, 0),
      acknowledgement_used_(kAcknowledgements, false) {
  const auto count = static_cast<std::size_t>(ranks);
  acknowledgements_ = reinterpret_cast<Acknowledgement*>(cells_ + count * count * kCells);
}

Cell& MailboxTransport::cell(int from, int to, std::uint64_t number) const {
  const auto pair = static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks_) + static_cast<std::size_t>(to);
  return cells_[pair * kCells + number % kCells];
}

Acknowledgement& MailboxTransport::acknowledgement(int rank, std::size_t index) const {
  return acknowledgements_[static_cast<std::size_t>(rank) * kAcknowledgements + index];
}

void MailboxTransport::start(Transfer& transfer) {
  if (transfer.kind == Transfer::Kind::receive) {
    if (!is_earlier(receives_.begin(), receives_.end(), transfer) && receive(transfer)) {
      transfer.complete = true;
    } else {
      receives_.push_back(&transfer);
    }
    return;
  }
  Send send{&transfer, kNone, 0};
  // Never before an earlier message to the same rank that still waits for a cell.
  const bool queue = std::any_of(sends_.begin(), sends_.end(), [&](const Send& earlier) {
    return earlier.acknowledgement == kNone && earlier.transfer->peer == transfer.peer;
  });
  if (!queue && post(send) && send.acknowledgement == kNone) {
    transfer.complete = true;
  } else {
    sends_.push_back(send);
  }
}

// Puts the message into a cell, if one is free (and an acknowledgement, if it needs one). A long message has an
// acknowledgement from then on.
bool MailboxTransport::post(Send& send) {
  Transfer& transfer = *send.transfer;
  std::uint64_t& sent = sent_[static_cast<std::size_t>(transfer.peer)];
  const std::uint64_t number = sent + 1;
  if (sent == 0) usage_->used.store(1, std::memory_order_relaxed);
  Cell& target = cell(rank_, transfer.peer, number);
  // acquire: the reader is done with the cell before we write to it.
  if (number > kCells && target.taken.load(std::memory_order_acquire) < number - kCells) return false;
  if (transfer.bytes > kCellPayload) {
    const auto free = std::find(acknowledgement_used_.begin(), acknowledgement_used_.end(), false);
    if (free == acknowledgement_used_.end()) return false;
    *free = true;
    send.acknowledgement = static_cast<std::size_t>(free - acknowledgement_used_.begin());
    send.number = ++raised_[send.acknowledgement];
    target.address = reinterpret_cast<std::uint64_t>(transfer.data);
    target.acknowledgement = static_cast<std::uint32_t>(send.acknowledgement);
  } else if (transfer.bytes > 0) {
    std::memcpy(target.payload, transfer.data, transfer.bytes);
  }
  target.bytes = transfer.bytes;
  target.stream = transfer.stream;
  target.signature = signature_;
  schedule_point();
  // release: cell and, for a long message, the sender's buffer are visible to who sees the number.
  target.filled.store(number, std::memory_order_release);
  sent = number;
  return true;
}

// Whether the send is complete.
bool MailboxTransport::advance(Send& send) {
  if (send.acknowledgement == kNone) return post(send) && send.acknowledgement == kNone;
  // acquire: the receiver has read the buffer before the program writes to it again.
  if (acknowledgement(rank_, send.acknowledgement).done.load(std::memory_order_acquire) < send.number) return false;
  acknowledgement_used_[send.acknowledgement] = false;
  return true;
}

bool MailboxTransport::progress(Executor& executor, bool) {
  bool progressed = false;
  std::vector<bool> blocked(sends_.empty() ? 0 : static_cast<std::size_t>(ranks_), false);
  for (auto send = sends_.begin(); send != sends_.end();) {
    const auto peer = static_cast<std::size_t>(send->transfer->peer);
    const bool waits_for_cell = send->acknowledgement == kNone;
    const bool done = !(waits_for_cell && blocked[peer]) && advance(*send);
    if (waits_for_cell && !done && send->acknowledgement == kNone) blocked[peer] = true;
    if (done) complete(*send->transfer, executor);
    progressed = progressed || done;
    send = done ? sends_.erase(send) : send + 1;
  }
  for (auto receive = receives_.begin(); receive != receives_.end();) {
    // A message may come between two looks, and is the earlier receive's.
    const bool done = !is_earlier(receives_.begin(), receive, **receive) && this->receive(**receive);
    if (done) complete(**receive, executor);
    progressed = progressed || done;
    receive = done ? receives_.erase(receive) : receive + 1;
  }
  return progressed;
}

bool MailboxTransport::receive(Transfer& transfer) {
  if (transfer.peer != kAnyRank) return receive_from(transfer.peer, transfer);
  for (int peer = 0; peer < ranks_; ++peer) {
    if (receive_from(peer, transfer)) return true;
  }
  return false;
}

// The first message from the peer with the transfer's stream, if it has come.
bool MailboxTransport::receive_from(int peer, Transfer& transfer) {
  take_cells(peer);
  std::deque<Pending>& early = early_[static_cast<std::size_t>(peer)];
  const auto match = std::find_if(early.begin(), early.end(),
                                  [&](const Pending& message) { return message.stream == transfer.stream; });
  if (match == early.end()) return false;
  fill(transfer, peer, *match);
  early.erase(match);
  return true;
}

void MailboxTransport::take_cells(int from) {
  std::uint64_t& received = received_[static_cast<std::size_t>(from)];
  while (true) {
    Cell& next = cell(from, rank_, received + 1);
    if (next.filled.load(std::memory_order_acquire) != received + 1) return;
    Pending message{next.bytes, next.address, next.stream, next.acknowledgement, next.signature, {}};
    if (message.bytes <= kCellPayload) message.payload.assign(next.payload, next.payload + message.bytes);
    ++received;
    next.taken.store(received, std::memory_order_release);
    early_[static_cast<std::size_t>(from)].push_back(std::move(message));
  }
}

void MailboxTransport::fill(Transfer& transfer, int from, const Pending& message) {
  // Others are not of the program's present call.
  if (message.stream < kStreamsOfCall && message.signature != signature_) mismatched_ = true;
  if (message.bytes > transfer.bytes) truncated_ = true;
  const std::size_t bytes = std::min<std::size_t>(message.bytes, transfer.bytes);
  if (message.bytes <= kCellPayload) {
    if (bytes > 0) std::memcpy(transfer.data, message.payload.data(), bytes);
    return;
  }
  schedule_point();
  if (!platform_.read_peer(from, transfer.data, message.address, bytes)) {
    std::fprintf(stderr,
                 "stretto: the kernel has begun to refuse reading another rank's memory; set STRETTO_CMA=off\n");
    std::abort();
  }
  Acknowledgement& done = acknowledgement(from, message.acknowledgement);
  // One send at a time uses the word, and numbers its uses: this is the next one. release: after our reading.
  done.done.fetch_add(1, std::memory_order_release);
}

}  // namespace stretto::shm
