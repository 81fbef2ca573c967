#include "mpi/calls/wrong_use.hpp"

#include <atomic>
#include <cstdio>
#include <string>

#include "mpi/entry/functions.hpp"

namespace stretto::mpi {
namespace {

std::string name_of_call(Collective collective) {
  return "MPI_" + std::string(kFunctionNames[static_cast<std::size_t>(function_of(collective))]);
}

bool has_root(Collective collective) {
  switch (collective) {
    case Collective::reduce:
    case Collective::bcast:
    case Collective::scatter:
    case Collective::gather:
    case Collective::scatterv:
    case Collective::gatherv:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string name_of_communicator(MPI_Comm comm) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  PMPI_Comm_get_name(comm, name, &length);
  return length > 0 ? name : "a communicator without a name";
}

std::string text_of(const CallEntry& call) {
  std::string text = name_of_call(call.collective);
  if (call.bytes > 0) text += " of " + std::to_string(call.bytes) + " bytes";
  if (has_root(call.collective)) text += " with root " + std::to_string(call.root);
  if (call.reduction != 0) text += " by " + name_of_code(call.reduction);
  return text;
}

int class_of(const Difference& difference) {
  if (difference.in_count_only()) return MPI_ERR_TRUNCATE;
  if (difference.mine.collective != difference.theirs.collective) return MPI_ERR_OTHER;
  if (difference.mine.root != difference.theirs.root) return MPI_ERR_ROOT;
  if (difference.mine.reduction != difference.theirs.reduction) return MPI_ERR_OP;
  return MPI_ERR_TRUNCATE;  // of lengths so different that the MPI library serves one of them
}

namespace {

std::string explain(const Difference& difference, int rank, MPI_Comm comm) {
  const CallEntry& mine = difference.mine;
  const CallEntry& theirs = difference.theirs;
  std::string text = "stretto: rank " + std::to_string(rank) + " is in " + text_of(mine) + ", rank " +
                     std::to_string(difference.rank) + " in " + text_of(theirs) + ", at call " +
                     std::to_string(difference.number) + " of " + name_of_communicator(comm);
  if (text_of(mine) != text_of(theirs)) return text;
  return text + ", with arguments that only one of both can have meant";
}

}  // namespace

int raise_quietly(int error, MPI_Comm comm) {
  PMPI_Comm_call_errhandler(comm, error);
  return error;
}

int raise(const Fault& fault, Collective collective, int rank, MPI_Comm comm) {
  int error = MPI_ERR_OTHER;
  std::string text;
  if (fault.kind == Fault::Kind::truncated) {
    error = MPI_ERR_TRUNCATE;
    text = "stretto: rank " + std::to_string(rank) + ": " + name_of_call(collective) + " on " +
           name_of_communicator(comm) + ": another rank has given more data than this one has room for";
  } else if (fault.kind == Fault::Kind::failed_peer) {
    return raise_quietly(kProcessFailed, comm);  // the program's to tell, as of a call of the MPI library's
  } else if (fault.difference) {
    error = class_of(*fault.difference);
    text = explain(*fault.difference, rank, comm);
  } else {
    text = "stretto: rank " + std::to_string(rank) + ": " + name_of_call(collective) + " on " +
           name_of_communicator(comm) + ": the ranks have been in different calls, so none can follow";
  }
  static std::atomic<bool> told{false};
  if (!told.exchange(true)) std::fprintf(stderr, "%s\n", text.c_str());
  return raise_quietly(error, comm);
}

}  // namespace stretto::mpi
