#include "exchange.hpp"

#include <mpi.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "options.hpp"

namespace stretto::asp {
namespace {

constexpr int kMaster = 0, kTag = 1;

// How many edges go to each rank, and where they begin.
struct Parts {
  std::vector<int> counts, starts;
};

Parts divide(const std::vector<Edge>& edges, const Blocks& blocks, int ranks) {
  Parts parts;
  auto next = edges.begin();
  for (int rank = 0; rank < ranks; ++rank) {
    const auto end =
        std::partition_point(next, edges.end(), [end = blocks.end(rank)](const Edge& edge) { return edge.from < end; });
    parts.starts.push_back(static_cast<int>(next - edges.begin()));
    parts.counts.push_back(static_cast<int>(end - next));
    next = end;
  }
  return parts;
}

}  // namespace

void Exchange::on_master(const std::function<void()>& action) const {
  std::string refusal;
  if (is_master()) {
    try {
      action();
    } catch (const std::runtime_error& error) {
      refusal = error.what();
    }
  }
  if (tell_all(refusal.empty() ? 0 : 1) != 0) throw UsageError(refusal);
}

int Exchange::tell_all(int value) {
  MPI_Bcast(&value, 1, MPI_INT, kMaster, MPI_COMM_WORLD);
  return value;
}

bool Exchange::do_all(bool value) {
  const int mine = value ? 1 : 0;
  int least = 0;
  MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return least != 0;
}

std::int64_t Exchange::sum(std::int64_t value) {
  std::int64_t total = 0;
  MPI_Reduce(&value, &total, 1, MPI_INT64_T, MPI_SUM, kMaster, MPI_COMM_WORLD);
  return total;
}

std::vector<Edge> Exchange::hand_out(const std::vector<Edge>& edges, const Blocks& blocks) const {
  const Parts parts = is_master() ? divide(edges, blocks, ranks_) : Parts{};
  int count = 0;
  MPI_Scatter(parts.counts.data(), 1, MPI_INT, &count, 1, MPI_INT, kMaster, MPI_COMM_WORLD);
  std::vector<Edge> mine(static_cast<std::size_t>(count));
  MPI_Datatype edge_type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(sizeof(Edge), MPI_BYTE, &edge_type);
  MPI_Type_commit(&edge_type);
  MPI_Scatterv(edges.data(), parts.counts.data(), parts.starts.data(), edge_type, mine.data(), count, edge_type,
               kMaster, MPI_COMM_WORLD);
  MPI_Type_free(&edge_type);
  return mine;
}

// One row after the other: rank 0 needs no memory for those of others.
void Exchange::collect(Distances& distances, const Blocks& blocks, int vertices,
                       const std::function<void(std::span<const Weight>)>& take) const {
  std::vector<Weight> received(static_cast<std::size_t>(vertices));
  for (int vertex = 0; vertex < vertices; ++vertex) {
    const int owner = blocks.owner(vertex);
    if (owner != rank_ && !is_master()) continue;
    const std::span<Weight> row = owner == rank_ ? distances.row(vertex) : std::span(received);
    if (!is_master())
      MPI_Send(row.data(), vertices, MPI_FLOAT, kMaster, kTag, MPI_COMM_WORLD);
    else if (owner != kMaster)
      MPI_Recv(row.data(), vertices, MPI_FLOAT, owner, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is_master()) take(row);
  }
}

}  // namespace stretto::asp
