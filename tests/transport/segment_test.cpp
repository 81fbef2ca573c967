// Memory that processes share: opened by those who were told of it, and by nobody else.

#include "transport/shm/segment.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace stretto::shm {
namespace {

constexpr std::size_t kBytes = 5000;

TEST(Segment, IsTheSameMemoryForWhoeverAttaches) {
  std::string error;
  const Segment created = Segment::create(kBytes, error);
  ASSERT_TRUE(created) << error;
  const Segment attached = Segment::attach(created.name(), kBytes, error);
  ASSERT_TRUE(attached) << error;
  EXPECT_EQ(attached.bytes(), kBytes);
  EXPECT_NE(attached.memory(), created.memory());
  for (std::size_t i = 0; i < kBytes; ++i) ASSERT_EQ(attached.memory()[i], std::byte{0});
  std::memset(created.memory(), 7, kBytes);
  EXPECT_EQ(attached.memory()[kBytes - 1], std::byte{7});
}

TEST(Segment, AnotherFileUnderTheSameNumberIsRefused) {
  std::string error;
  const Segment created = Segment::create(kBytes, error);
  const Segment other = Segment::create(kBytes, error);
  ASSERT_TRUE(created && other) << error;
  SegmentName name = other.name();
  name.token = created.name().token;
  EXPECT_NE(name.token, other.name().token);
  EXPECT_FALSE(Segment::attach(name, kBytes, error));
  EXPECT_NE(error.find("not the shared memory"), std::string::npos) << error;
}

TEST(Segment, AnotherLengthIsRefused) {
  std::string error;
  const Segment created = Segment::create(kBytes, error);
  EXPECT_FALSE(Segment::attach(created.name(), kBytes + 1, error));
  EXPECT_NE(error.find("not the shared memory"), std::string::npos) << error;
}

TEST(Segment, NobodyAttachesOnceItIsClosed) {
  std::string error;
  Segment created = Segment::create(kBytes, error);
  const SegmentName name = created.name();
  created.close_descriptor();
  EXPECT_FALSE(Segment::attach(name, kBytes, error));
  EXPECT_FALSE(error.empty());
}

}  // namespace
}  // namespace stretto::shm
