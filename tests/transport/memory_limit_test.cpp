#include "transport/shm/memory_limit.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace stretto::shm {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// A tree of files in place of /proc and /sys.
class MemoryLimits : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void write_machine() const {
    write("/proc/meminfo", "MemTotal:       4096000 kB\nMemFree:  1 kB\nMemAvailable:    2048000 kB\n");
  }
  MemoryLimit find() const { return find_memory_limit(root_); }

 private:
  const std::string root_ =
      testing::TempDir() + "limits-" + testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(MemoryLimits, WithoutAnyFileThereIsNone) {
  EXPECT_EQ(find().bytes, std::numeric_limits<std::size_t>::max());
  EXPECT_EQ(find().available, std::numeric_limits<std::size_t>::max());
}

TEST_F(MemoryLimits, TheMachineHasSoMuch) {
  write_machine();
  EXPECT_EQ(find().bytes, 4000 * kMiB);
  EXPECT_EQ(find().available, 2000 * kMiB);
}

TEST_F(MemoryLimits, AGroupWithinAGroupIsBoundByBoth) {
  write_machine();
  write("/proc/self/cgroup", "0::/job/step\n");
  write("/sys/fs/cgroup/job/memory.max", std::to_string(900 * kMiB));
  write("/sys/fs/cgroup/job/memory.current", std::to_string(700 * kMiB));
  write("/sys/fs/cgroup/job/memory.stat", "anon 1\nactive_file 5\ninactive_file " + std::to_string(100 * kMiB) + "\n");
  write("/sys/fs/cgroup/job/step/memory.max", "max\n");
  EXPECT_EQ(find().bytes, 900 * kMiB);
  EXPECT_EQ(find().available, 300 * kMiB) << "what files take that nobody uses can be had";
}

TEST_F(MemoryLimits, TheFirstVersionOfGroupsHasOtherNames) {
  write_machine();
  write("/proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/container\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");  // a container's own group, as the root
  write("/sys/fs/cgroup/memory/container/memory.limit_in_bytes", std::to_string(64 * kMiB));
  write("/sys/fs/cgroup/memory/container/memory.usage_in_bytes", std::to_string(80 * kMiB));
  EXPECT_EQ(find().bytes, 64 * kMiB);
  EXPECT_EQ(find().available, 0U);
}

}  // namespace
}  // namespace stretto::shm
