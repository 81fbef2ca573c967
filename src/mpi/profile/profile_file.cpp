#include "mpi/profile/profile_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace stretto::profile {
namespace {

constexpr std::uint64_t kGrowRecords = 16384;
constexpr std::size_t kRecordsOffset = kHeaderBytes + kFactsBytes;

}  // namespace

bool ProfileFile::open(const Place& place, std::string& error) {
  char name[32];
  std::snprintf(name, sizeof name, "/rank-%05d.stretto", place.world_rank);
  const std::string path = place.directory + name;
  if (mkdir(place.directory.c_str(), 0777) != 0 && errno != EEXIST) {
    error = "creating directory " + place.directory + ": " + std::strerror(errno);
    return false;
  }
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const std::uint64_t capacity =
      std::max(kGrowRecords, (std::max(place.max_bytes, kRecordsOffset) - kRecordsOffset) / sizeof(Record));
  reserved_bytes_ = kRecordsOffset + capacity * sizeof(Record);
  // Address space for the whole file at once, so that records never move; only what the file has grown to is touched.
  void* memory = MAP_FAILED;
  // Reserved on the disk, not only promised: a full disk must not become a SIGBUS in the middle of the program.
  if (descriptor_ >= 0) errno = posix_fallocate(descriptor_, 0, static_cast<off_t>(kRecordsOffset));
  if (descriptor_ >= 0 && errno == 0)
    memory = mmap(nullptr, reserved_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (memory == MAP_FAILED) {
    error = "opening " + path + ": " + std::strerror(errno);
    if (descriptor_ >= 0) ::close(descriptor_);
    return false;
  }
  header_ = static_cast<FileHeader*>(memory);
  ring_ = reinterpret_cast<Record*>(static_cast<std::byte*>(memory) + kRecordsOffset);
  header_->version = kVersion;
  header_->header_bytes = kHeaderBytes;
  header_->record_bytes = sizeof(Record);
  header_->world_rank = place.world_rank;
  header_->world_size = place.world_size;
  header_->run = place.run;
  header_->facts_offset = kHeaderBytes;
  header_->records_offset = kRecordsOffset;
  header_->records_capacity = capacity;
  gethostname(header_->host, sizeof header_->host - 1);
  std::memcpy(header_->layout, kRecordLayout, sizeof kRecordLayout);
  std::memcpy(header_->magic, kMagic, sizeof kMagic);
  return true;
}

void ProfileFile::close() {
  if (header_ == nullptr) return;
  const std::uint64_t kept =
      std::min(header_->records_begun.load(), std::min(header_->records_capacity, backed_records_.load()));
  munmap(header_, reserved_bytes_);
  header_ = nullptr;
  const auto used = static_cast<off_t>(kRecordsOffset + kept * sizeof(Record));
  if (ftruncate(descriptor_, used) != 0) std::perror("stretto: cutting the profile to its length");
  ::close(descriptor_);
}

Ticket ProfileFile::begin(const Record& record) {
  const std::uint64_t number = header_->records_begun.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t at = number < header_->records_capacity ? number : number % header_->records_capacity;
  if (at >= backed_records_.load(std::memory_order_acquire) && !grow(at + 1)) {
    header_->records_lost.fetch_add(1, std::memory_order_relaxed);
    return {};
  }
  // A reader, after whatever stops this thread here, finds the place empty or the record whole.
  std::atomic_ref<std::int64_t> arrival(ring_[at].arrival_ns);
  arrival.store(0, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_release);
  Record unborn = record;
  unborn.arrival_ns = 0;
  ring_[at] = unborn;
  arrival.store(record.arrival_ns, std::memory_order_release);
  return {&ring_[at], number};
}

bool ProfileFile::grow(std::uint64_t records) {
  if (disk_full_.load(std::memory_order_relaxed)) return false;
  const std::scoped_lock lock(mutex_);
  const std::uint64_t backed = backed_records_.load(std::memory_order_relaxed);
  if (records <= backed) return true;
  const std::uint64_t wanted =
      std::min((records + kGrowRecords - 1) / kGrowRecords * kGrowRecords, header_->records_capacity);
  const auto begin = static_cast<off_t>(kRecordsOffset + backed * sizeof(Record));
  if (posix_fallocate(descriptor_, begin, static_cast<off_t>((wanted - backed) * sizeof(Record))) != 0) {
    disk_full_.store(true, std::memory_order_relaxed);
    std::fprintf(stderr, "stretto: no room for more records of rank %d: later calls are counted, not recorded\n",
                 header_->world_rank);
    return false;
  }
  backed_records_.store(wanted, std::memory_order_release);
  return true;
}

void ProfileFile::add_fact(const std::string& json) {
  const std::scoped_lock lock(mutex_);
  if (header_->facts_bytes + json.size() + 1 > kFactsBytes) {
    ++header_->facts_lost;
    return;
  }
  char* const line = reinterpret_cast<char*>(header_) + header_->facts_offset + header_->facts_bytes;
  std::copy(json.begin(), json.end(), line);
  line[json.size()] = '\n';
  std::atomic_signal_fence(std::memory_order_release);
  header_->facts_bytes += json.size() + 1;
}

std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      quoted += '\\';
      quoted += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", letter);
      quoted += escaped;
    } else {
      quoted += letter;
    }
  }
  return quoted + '"';
}

}  // namespace stretto::profile
