#include "transport/shm/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
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

constexpr std::size_t kTokenBytes = 64;  // behind the memory
constexpr int kPopulateRead = 22;        // MADV_POPULATE_READ, since Linux 5.14; before, this has no effect

}  // namespace

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Segment::~Segment() {
  close_descriptor();
  if (memory_ != nullptr) munmap(memory_, bytes_ + kTokenBytes);
}

void Segment::close_descriptor() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

// Where pages of a file are there, a page fault of a reader maps those about it as well, for writing too; one of a
// writer maps one. 32 MiB that another process had written, here: copying into them takes 26 ms, so 13, mapped 5.
void Segment::map_placed(std::size_t first, std::size_t bytes) {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t begin = first / page * page;
  madvise(memory_ + begin, first + bytes - begin, kPopulateRead);
}

void Segment::give_pages_back() {
  if (memory_ != nullptr && !promises_are_kept()) madvise(memory_, bytes_, MADV_REMOVE);
}

Segment Segment::create(std::size_t bytes, std::string& error) {
  const int descriptor = memfd_create("stretto", MFD_CLOEXEC);
  if (descriptor < 0) {
    error = std::string("memfd_create: ") + std::strerror(errno);
    return {};
  }
  const auto length = static_cast<off_t>(bytes + kTokenBytes);
  int failure = ftruncate(descriptor, length) != 0 ? errno : 0;
  if (failure == 0 && promises_are_kept()) failure = posix_fallocate(descriptor, 0, length);
  if (failure != 0) {
    error = std::string("reserving shared memory: ") + std::strerror(failure);
    close(descriptor);
    return {};
  }
  Segment segment = map(descriptor, bytes, error);
  if (segment && getrandom(&segment.token(), sizeof(std::uint64_t), 0) != ssize_t{sizeof(std::uint64_t)}) {
    error = std::string("getrandom: ") + std::strerror(errno);
    return {};
  }
  return segment;
}

SegmentName Segment::name() const {
  if (memory_ == nullptr) return {getpid()};
  return {getpid(), descriptor_, token()};
}

Segment Segment::attach(const SegmentName& name, std::size_t bytes, std::string& error) {
  const std::string path = "/proc/" + std::to_string(name.creator) + "/fd/" + std::to_string(name.descriptor);
  const int own = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (own < 0) {
    error = "opening " + path + ": " + std::strerror(errno);
    return {};
  }
  struct stat status {};
  Segment segment;
  if (fstat(own, &status) == 0 && static_cast<std::size_t>(status.st_size) == bytes + kTokenBytes) {
    segment = map(own, bytes, error);
    if (segment && segment.token() == name.token) return segment;
  } else {
    close(own);
  }
  if (error.empty()) error = "opening " + path + ": not the shared memory (other PID namespace?)";
  return {};
}

Segment Segment::map(int descriptor, std::size_t bytes, std::string& error) {
  void* memory = mmap(nullptr, bytes + kTokenBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
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
