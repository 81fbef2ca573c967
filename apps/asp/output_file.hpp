// A file that rank 0 writes in the end. Opened before the run, which would be lost otherwise.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

namespace stretto::asp {

class OutputFile {
 public:
  // Throws UsageError, which names the option. Nothing is opened for an empty path.
  void open(const char* option, const std::string& path);

  // Null if there is none.
  std::FILE* get() const { return file_.get(); }

  // Whether all has been written; true where nothing was to be.
  bool finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace stretto::asp
