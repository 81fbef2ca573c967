#include "transport/mpi/channel.hpp"

#include <algorithm>

namespace stretto::mpi {

std::unique_ptr<Channel> Channel::open(MPI_Comm comm, PrivateCommunicator& carrier, std::uint32_t runs,
                                       std::int32_t* word) {
  struct Card {
    Address address;
    std::int32_t word;
  };
  int rank = 0;
  int size = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  const std::optional<std::uint32_t> first = carrier.tags.take(runs);
  const Card mine{{carrier.rank, first ? static_cast<std::int32_t>(*first) : -1}, word == nullptr ? 0 : *word};
  std::vector<Card> cards(static_cast<std::size_t>(size));
  const int result = PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards.data(), sizeof mine, MPI_BYTE, comm);
  if (result != MPI_SUCCESS ||
      std::ranges::any_of(cards, [](const Card& card) { return card.address.first_tag < 0; })) {
    if (first) carrier.tags.give(*first, runs);
    return nullptr;
  }
  if (word != nullptr) *word = cards.front().word;
  std::vector<Address> addresses;
  addresses.reserve(cards.size());
  for (const Card& card : cards) addresses.push_back(card.address);
  return std::unique_ptr<Channel>(new Channel(carrier, rank, runs, std::move(addresses)));
}

Channel::~Channel() { carrier_.tags.give(static_cast<std::uint32_t>(own_tag(0)), runs_); }

void Channel::send(const void* data, std::size_t bytes, int to, std::uint32_t stream) const {
  PMPI_Send(data, static_cast<int>(bytes), MPI_BYTE, real(to), tag_of(to, stream), comm());
}

void Channel::receive(void* data, std::size_t bytes, int from, std::uint32_t stream) const {
  PMPI_Recv(data, static_cast<int>(bytes), MPI_BYTE, real(from), own_tag(stream), comm(), MPI_STATUS_IGNORE);
}

}  // namespace stretto::mpi
