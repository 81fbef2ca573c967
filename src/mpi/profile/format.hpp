// The layout of a profile: one file a rank, DIR/rank-NNNNN.stretto, little endian.
//
//   0                FileHeader; its `layout` describes the fields of a record in JSON
//   facts_offset     facts: JSON objects, one a line (the job, its clocks, communicators, datatypes, modules, ...)
//   records_offset   records, in a ring: record number n lies at place n modulo the capacity
//
// docs/profile-format.md tells what each fact and field means. The file is mapped into memory and written in place, so
// whatever kills the process loses nothing that was written before.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace stretto::profile {

inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::size_t kHeaderBytes = 4096;

/// One collective call of this rank. Times are the rank's CLOCK_MONOTONIC in ns.
struct Record {
  std::int64_t arrival_ns;     // 0: nothing here
  std::int64_t exit_ns;        // 0: has not returned (blocking) or not been found complete (non-blocking)
  std::int64_t inside_ns;      // in MPI for this call: exit - arrival, or what starting, testing and waiting took
  std::uint64_t bytes;         // what of the message size, docs/profile-format.md says for each operation
  std::uint64_t call_site;     // the return address into the caller
  std::uint32_t sequence;      // of the call on its communicator, from 1, counted alike by all ranks
  std::uint32_t communicator;  // index of a fact `communicator`
  std::int32_t root;           // a rank of the communicator; -1: the operation has none
  std::uint16_t operation;     // index into the fact `operations`
  std::uint16_t datatype;      // index of a fact `datatype`; kNone: none
  std::uint16_t reduction;     // index of a fact `reduction`; kNone: none
  std::uint16_t algorithm;     // index into the fact `algorithms`; 0: the MPI library's own
  std::uint16_t place;         // in the order of arrival, from 0, where the algorithm took one; else kNone
  std::uint16_t flags;
};
static_assert(sizeof(Record) == 64);

inline constexpr char kRecordLayout[] =
    R"([["arrival_ns","<i8"],["exit_ns","<i8"],["inside_ns","<i8"],["bytes","<u8"],["call_site","<u8"],)"
    R"(["sequence","<u4"],["communicator","<u4"],["root","<i4"],["operation","<u2"],["datatype","<u2"],)"
    R"(["reduction","<u2"],["algorithm","<u2"],["place","<u2"],["flags","<u2"]])";

inline constexpr std::uint16_t kNone = 0xffff;
inline constexpr std::uint16_t kNonBlocking = 1;
inline constexpr std::uint16_t kPersistent = 2;
inline constexpr std::uint16_t kInPlace = 4;
inline constexpr std::uint16_t kSetUp = 8;  // Stretto set up in this call what later ones use

struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint32_t record_bytes;
  std::int32_t world_rank;
  std::int32_t world_size;
  std::uint32_t finished;  // 1 after MPI_Finalize
  std::uint64_t run;       // the same for all ranks of a run, and for no other run
  std::uint64_t facts_offset;
  std::uint64_t facts_bytes;  // written
  std::uint64_t facts_lost;   // facts for which there was no room
  std::uint64_t records_offset;
  std::uint64_t records_capacity;
  std::atomic<std::uint64_t> records_begun;  // ever; the latest `records_capacity` of them are there
  std::atomic<std::uint64_t> records_lost;   // that the disk had no room for
  char host[64];
  char layout[1024];
};
static_assert(sizeof(FileHeader) <= kHeaderBytes && sizeof(kRecordLayout) <= sizeof(FileHeader::layout));
inline constexpr char kMagic[8] = {'S', 'T', 'R', 'E', 'T', 'T', 'O', 'P'};

}  // namespace stretto::profile
