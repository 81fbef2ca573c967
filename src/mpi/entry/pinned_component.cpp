#include "mpi/entry/pinned_component.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string>

namespace stretto::mpi {
namespace {

int find_pmix(dl_phdr_info* info, std::size_t, void* found) {
  const std::string path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  if (path.find("/mca_pmix_") == std::string::npos) return 0;
  *static_cast<std::string*>(found) = path;
  return 1;
}

}  // namespace

void pin_pmix_component() {
  std::string path;
  if (dl_iterate_phdr(find_pmix, &path) != 0) dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace stretto::mpi
