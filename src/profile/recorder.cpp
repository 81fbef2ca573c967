#include "profile/recorder.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace stretto {

Recorder::~Recorder() {
  if (header_ == nullptr) return;
  const std::size_t used = sizeof(Header) + header_->record_count * sizeof(Record);
  munmap(header_, mapped_bytes_);
  // Cuts off the reserve; a crash leaves it, and readers go by the header's count.
  if (ftruncate(descriptor_, static_cast<off_t>(used)) != 0) std::perror("stretto: ftruncate");
  close(descriptor_);
}

bool Recorder::open(const std::string& directory, int world_rank, int world_size, std::string& error) {
  char name[32];
  std::snprintf(name, sizeof name, "/rank-%05d.stretto", world_rank);
  const std::string path = directory + name;
  if (mkdir(directory.c_str(), 0777) != 0 && errno != EEXIST) {
    error = "creating directory " + directory + ": " + std::strerror(errno);
    return false;
  }
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0 || !grow()) {
    error = "opening " + path + ": " + std::strerror(errno);
    return false;
  }
  Header header{
      {'S', 'T', 'R', 'E', 'T', 'T', 'O', '1'}, 1, sizeof(Header), sizeof(Record), world_rank, world_size, 0, {}, 0};
  gethostname(header.host, sizeof header.host - 1);
  *header_ = header;
  return true;
}

bool Recorder::grow() {
  const std::size_t bytes = std::max(mapped_bytes_, sizeof(Header)) + kGrowRecords * sizeof(Record);
  // Reserved, not only promised: a full disk must not become a SIGBUS in the middle of the program.
  if (posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes)) != 0) return false;
  void* memory = header_ == nullptr ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0)
                                    : mremap(header_, mapped_bytes_, bytes, MREMAP_MAYMOVE);
  if (memory == MAP_FAILED) return false;
  header_ = static_cast<Header*>(memory);
  mapped_bytes_ = bytes;
  return true;
}

void Recorder::add(Record record, std::string_view algorithm) {
  std::memcpy(record.algorithm, algorithm.data(), std::min(algorithm.size(), sizeof record.algorithm - 1));
  const std::scoped_lock lock(mutex_);
  const std::size_t at = sizeof(Header) + header_->record_count * sizeof(Record);
  if (at + sizeof(Record) > mapped_bytes_ && !grow()) return;
  std::memcpy(reinterpret_cast<std::byte*>(header_) + at, &record, sizeof record);
  ++header_->record_count;
}

}  // namespace stretto
