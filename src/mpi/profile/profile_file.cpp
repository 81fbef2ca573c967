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
constexpr std::size_t kGrowFactsBytes = std::size_t{256} << 10;
constexpr std::size_t kFactsPart = 8;  // of the file at most

// A file to write over from its beginning: new, or an earlier profile of this user's. -1, with `error` set, where there
// is something else.
int open_own(const std::string& path, mode_t mode, std::string& error) {
  int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (descriptor >= 0) {
    fchmod(descriptor, mode);  // the umask may have taken the group's right
    return descriptor;
  }
  if (errno == EEXIST) descriptor = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  struct stat status {};
  if (descriptor < 0 || fstat(descriptor, &status) != 0) {
    error = "opening " + path + ": " + (errno == ELOOP ? "a link, which is not followed" : std::strerror(errno));
    if (descriptor >= 0) ::close(descriptor);
    return -1;
  }
  char magic[sizeof kMagic] = {};
  const bool ours = S_ISREG(status.st_mode) && status.st_uid == geteuid() && status.st_nlink == 1;
  const bool profile = status.st_size == 0 || (pread(descriptor, magic, sizeof magic, 0) == ssize_t{sizeof magic} &&
                                               std::memcmp(magic, kMagic, sizeof magic) == 0);
  if (!ours || !profile) {
    error = path + " is there and is " + (ours ? "no profile" : "not this user's own file") +
            ": remove it or name another directory";
  } else if (fchmod(descriptor, mode) != 0 || ftruncate(descriptor, 0) != 0) {
    error = "emptying " + path + ": " + std::strerror(errno);
  } else {
    return descriptor;
  }
  ::close(descriptor);
  return -1;
}

}  // namespace

bool ProfileFile::open(const Place& place, std::string& error) {
  char name[32];
  std::snprintf(name, sizeof name, "/rank-%05d.stretto", place.world_rank);
  const std::string path = place.directory + name;
  if (mkdir(place.directory.c_str(), 0777) != 0 && errno != EEXIST) {
    error = "creating directory " + place.directory + ": " + std::strerror(errno);
    return false;
  }
  descriptor_ = open_own(path, place.group_may_read ? 0640 : 0600, error);
  if (descriptor_ < 0) return false;
  most_facts_bytes_ = std::max(kGrowFactsBytes, place.max_bytes / kFactsPart / kGrowFactsBytes * kGrowFactsBytes);
  const std::size_t records_offset = kHeaderBytes + most_facts_bytes_;
  const std::uint64_t capacity =
      std::max(kGrowRecords, (std::max(place.max_bytes, records_offset) - records_offset) / sizeof(Record));
  reserved_bytes_ = records_offset + capacity * sizeof(Record);
  // Address space for the whole file at once, so that records never move; only what the file has grown to is touched.
  void* memory = MAP_FAILED;
  // Reserved on the disk, not only promised: a full disk must not become a SIGBUS in the middle of the program.
  errno = posix_fallocate(descriptor_, 0, static_cast<off_t>(kHeaderBytes + kGrowFactsBytes));
  if (errno == 0) memory = mmap(nullptr, reserved_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (memory == MAP_FAILED) {
    error = "opening " + path + ": " + std::strerror(errno);
    ::close(descriptor_);
    return false;
  }
  backed_facts_bytes_ = kGrowFactsBytes;
  header_ = static_cast<FileHeader*>(memory);
  ring_ = reinterpret_cast<Record*>(static_cast<std::byte*>(memory) + records_offset);
  header_->version = kVersion;
  header_->header_bytes = kHeaderBytes;
  header_->record_bytes = sizeof(Record);
  header_->world_rank = place.world_rank;
  header_->world_size = place.world_size;
  header_->run = place.run;
  header_->facts_offset = kHeaderBytes;
  header_->records_offset = records_offset;
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
  const auto used = static_cast<off_t>(header_->records_offset + kept * sizeof(Record));
  munmap(header_, reserved_bytes_);
  header_ = nullptr;
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
  const auto begin = static_cast<off_t>(header_->records_offset + backed * sizeof(Record));
  if (posix_fallocate(descriptor_, begin, static_cast<off_t>((wanted - backed) * sizeof(Record))) != 0) {
    disk_full_.store(true, std::memory_order_relaxed);
    std::fprintf(stderr, "stretto: no room for more records of rank %d: later calls are counted, not recorded\n",
                 header_->world_rank);
    return false;
  }
  backed_records_.store(wanted, std::memory_order_release);
  return true;
}

// Under the lock.
bool ProfileFile::grow_facts(std::size_t bytes) {
  if (bytes <= backed_facts_bytes_) return true;
  const std::size_t wanted = (bytes + kGrowFactsBytes - 1) / kGrowFactsBytes * kGrowFactsBytes;
  const auto begin = static_cast<off_t>(header_->facts_offset + backed_facts_bytes_);
  if (wanted > most_facts_bytes_ ||
      posix_fallocate(descriptor_, begin, static_cast<off_t>(wanted - backed_facts_bytes_)) != 0) {
    return false;
  }
  backed_facts_bytes_ = wanted;
  return true;
}

void ProfileFile::add_fact(const std::string& json) {
  const std::scoped_lock lock(mutex_);
  if (!grow_facts(header_->facts_bytes + json.size() + 1)) {
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
