#include "output_file.hpp"

#include <cerrno>
#include <cstring>

#include "options.hpp"

namespace stretto::asp {

void OutputFile::open(const char* option, const std::string& path) {
  if (path.empty()) return;
  file_.reset(std::fopen(path.c_str(), "wb"));
  if (file_ == nullptr)
    throw UsageError(std::string(option) + " " + path + ": " + std::strerror(errno) +
                     ": name a file that rank 0 can write");
}

bool OutputFile::finish() {
  return file_ == nullptr || (std::fflush(file_.get()) == 0 && std::ferror(file_.get()) == 0);
}

}  // namespace stretto::asp
