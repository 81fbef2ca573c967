// The profile file: many threads at once, the ring, a full disk.

#include "mpi/profile/profile_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

namespace stretto::profile {
namespace {

class ProfileFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "stretto-profile-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr) << name;
    directory_ = name;
  }
  void TearDown() override {
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
  }

  void open(ProfileFile& file, std::size_t max_bytes) {
    std::string error;
    ASSERT_TRUE(file.open({directory_, 0, 1, 77, max_bytes, false}, error)) << error;
  }
  std::string contents() const {
    std::ifstream file(directory_ + "/rank-00000.stretto", std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  mode_t mode_of(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(stat((directory_ + "/" + name).c_str(), &status), 0);
    return status.st_mode & 0777;
  }
  static FileHeader const& header(const std::string& contents) {
    return *reinterpret_cast<const FileHeader*>(contents.data());
  }
  static std::vector<Record> records(const std::string& contents) {
    const std::size_t offset = header(contents).records_offset;
    std::vector<Record> all((contents.size() - offset) / sizeof(Record));
    std::memcpy(all.data(), contents.data() + offset, all.size() * sizeof(Record));
    return all;
  }

  std::string directory_;
};

// Every field tells who wrote it.
Record record_of(int thread, int number) {
  Record record{};
  record.arrival_ns = 1 + thread * 1'000'000 + number;
  record.bytes = static_cast<std::uint64_t>(record.arrival_ns);
  record.call_site = ~record.bytes;
  record.sequence = static_cast<std::uint32_t>(number);
  record.communicator = static_cast<std::uint32_t>(thread);
  return record;
}

TEST_F(ProfileFileTest, ManyThreadsWriteWholeRecordsAndFacts) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 20'000;  // together more than four steps of growing
  ProfileFile file;
  open(file, std::size_t{64} << 20);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&file, thread] {
      for (int number = 0; number < kCalls; ++number) {
        const Ticket ticket = file.begin(record_of(thread, number));
        ASSERT_TRUE(file.holds(ticket));
        ticket.record->exit_ns = ticket.record->arrival_ns + 5;
        if (number % 1000 == 0) file.add_fact("{\"thread\":" + std::to_string(thread) + "}");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  file.close();

  const std::string bytes = contents();
  EXPECT_EQ(header(bytes).records_begun, kThreads * kCalls);
  EXPECT_EQ(header(bytes).records_lost, 0);
  const std::vector<Record> found = records(bytes);
  ASSERT_EQ(found.size(), kThreads * kCalls);
  std::vector<std::uint32_t> next(kThreads, 0);
  for (const Record& record : found) {
    ASSERT_LT(record.communicator, kThreads);
    const Record expected = record_of(static_cast<int>(record.communicator), static_cast<int>(record.sequence));
    ASSERT_EQ(record.sequence, next[record.communicator]++) << "a thread's records are out of order, or one is missing";
    ASSERT_EQ(record.arrival_ns, expected.arrival_ns);
    ASSERT_EQ(record.exit_ns, expected.arrival_ns + 5);
    ASSERT_EQ(record.bytes, expected.bytes);
    ASSERT_EQ(record.call_site, expected.call_site);
  }
  const std::string facts = bytes.substr(kHeaderBytes, header(bytes).facts_bytes);
  EXPECT_EQ(std::count(facts.begin(), facts.end(), '\n'), kThreads * kCalls / 1000);
}

TEST_F(ProfileFileTest, OldestRecordsMakeRoomAndTheirTicketsEnd) {
  ProfileFile file;
  open(file, std::size_t{2} << 20);
  const Ticket first = file.begin(record_of(0, 0));
  int number = 1;
  for (; file.holds(first); ++number) file.begin(record_of(0, number));
  file.close();
  const std::string bytes = contents();
  EXPECT_LE(bytes.size(), std::size_t{2} << 20);
  EXPECT_EQ(header(bytes).records_capacity + 1, static_cast<std::uint64_t>(number));
  EXPECT_EQ(records(bytes).front().sequence, number - 1) << "the newest is where the oldest was";
  EXPECT_EQ(records(bytes)[1].sequence, 1);
}

TEST_F(ProfileFileTest, FullDiskIsCountedAndTheProgramGoesOn) {
  ProfileFile file;
  open(file, std::size_t{2} << 20);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit room{(std::size_t{3} << 20) / 2, before.rlim_max};  // for one step of growing
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &room);
  std::uint64_t written = 0;
  while (file.begin(record_of(0, 0)).record != nullptr) ++written;
  for (int number = 0; number < 99; ++number) EXPECT_EQ(file.begin(record_of(0, 0)).record, nullptr);
  file.close();
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  const std::string bytes = contents();
  EXPECT_GT(written, 0);
  EXPECT_EQ(header(bytes).records_begun, written + 100);
  EXPECT_EQ(header(bytes).records_lost, 100);
  EXPECT_EQ(records(bytes).size(), written);
}

TEST_F(ProfileFileTest, FactsThatFindNoRoomAreCounted) {
  ProfileFile file;
  open(file, std::size_t{2} << 20);
  const std::string fact = "{\"x\":\"" + std::string(1000, 'x') + "\"}";
  const std::size_t fit = (std::size_t{256} << 10) / (fact.size() + 1);
  for (std::size_t i = 0; i < fit + 7; ++i) file.add_fact(fact);
  file.close();
  const std::string bytes = contents();
  EXPECT_EQ(header(bytes).facts_lost, 7);
  EXPECT_EQ(header(bytes).facts_bytes, fit * (fact.size() + 1));
}

TEST_F(ProfileFileTest, FactsHaveAnEighthOfALargeFile) {
  ProfileFile file;
  open(file, std::size_t{64} << 20);
  file.begin(record_of(3, 4));
  const std::string fact = "{\"x\":\"" + std::string(1000, 'x') + "\"}";
  const std::size_t fit = (std::size_t{8} << 20) / (fact.size() + 1);
  for (std::size_t i = 0; i < fit + 7; ++i) file.add_fact(fact);
  file.close();
  const std::string bytes = contents();
  EXPECT_EQ(header(bytes).facts_lost, 7);
  EXPECT_EQ(header(bytes).facts_bytes, fit * (fact.size() + 1));
  ASSERT_EQ(records(bytes).size(), 1);
  EXPECT_EQ(records(bytes).front().bytes, record_of(3, 4).bytes);
}

TEST_F(ProfileFileTest, FilesAreForThoseWhoMayReadThem) {
  for (const bool group : {false, true, false}) {  // over the earlier ones, too
    ProfileFile file;
    std::string error;
    ASSERT_TRUE(file.open({directory_, 0, 1, 77, std::size_t{2} << 20, group}, error)) << error;
    EXPECT_EQ(mode_of("rank-00000.stretto"), group ? 0640 : 0600);
  }
}

TEST_F(ProfileFileTest, WhatIsNoProfileIsNotWrittenOver) {
  const std::string path = directory_ + "/rank-00000.stretto";
  const std::string elsewhere = directory_ + "/elsewhere";
  const auto refused = [&](const char* words) {
    ProfileFile file;
    std::string error;
    EXPECT_FALSE(file.open({directory_, 0, 1, 77, std::size_t{2} << 20, false}, error));
    EXPECT_NE(error.find(words), std::string::npos) << error;
  };
  std::ofstream(elsewhere) << "somebody's data";
  std::filesystem::create_symlink(elsewhere, path);
  refused("a link");
  std::filesystem::remove(path);
  std::filesystem::create_hard_link(elsewhere, path);
  refused("not this user's own file");
  std::filesystem::remove(path);
  std::filesystem::copy_file(elsewhere, path);
  refused("no profile");
  EXPECT_EQ(contents(), "somebody's data");
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  refused(path.c_str());
}

TEST_F(ProfileFileTest, WhatCannotBeOpenedIsSaid) {
  ProfileFile file;
  std::string error;
  EXPECT_FALSE(file.open({"/proc/none", 0, 1, 1, 1 << 20, false}, error));
  EXPECT_NE(error.find("/proc/none"), std::string::npos);
  EXPECT_FALSE(file.is_open());
}

TEST(JsonString, EscapesWhatJsonForbids) { EXPECT_EQ(json_string("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\u000a\\u0001\""); }

}  // namespace
}  // namespace stretto::profile
