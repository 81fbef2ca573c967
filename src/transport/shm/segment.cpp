#include "transport/shm/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace stretto::shm {
namespace {

bool promises_are_kept() {
  static const bool kept = [] {
    std::ifstream mode("/proc/sys/vm/overcommit_memory");
    return mode.get() == '2';
  }();
  return kept;
}

}  // namespace

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Segment::~Segment() {
  close_descriptor();
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

void Segment::close_descriptor() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

Segment Segment::create(std::size_t bytes, std::string& error) {
  const int descriptor = memfd_create("stretto", MFD_CLOEXEC);
  if (descriptor < 0) {
    error = std::string("memfd_create: ") + std::strerror(errno);
    return {};
  }
  int failure = ftruncate(descriptor, static_cast<off_t>(bytes)) != 0 ? errno : 0;
  if (failure == 0 && promises_are_kept()) failure = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  if (failure != 0) {
    error = std::string("reserving shared memory: ") + std::strerror(failure);
    close(descriptor);
    return {};
  }
  return map(descriptor, bytes, error);
}

Segment Segment::attach(pid_t creator, int descriptor, std::size_t bytes, std::string& error) {
  const std::string path = "/proc/" + std::to_string(creator) + "/fd/" + std::to_string(descriptor);
  const int own = open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat status {};
  if (own < 0 || fstat(own, &status) != 0 || static_cast<std::size_t>(status.st_size) != bytes) {
    error =
        "opening " + path + ": " + (own < 0 ? std::strerror(errno) : "not the shared memory (other PID namespace?)");
    if (own >= 0) close(own);
    return {};
  }
  return map(own, bytes, error);
}

Segment Segment::map(int descriptor, std::size_t bytes, std::string& error) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) {
    error = std::string("mmap of shared memory: ") + std::strerror(errno);
    close(descriptor);
    return {};
  }
  Segment segment;
  segment.memory_ = static_cast<std::byte*>(memory);
  segment.bytes_ = bytes;
  segment.descriptor_ = descriptor;
  return segment;
}

}  // namespace stretto::shm
