// The reader of STRETTO_* settings: what it takes, and what it says about the rest.

#include "select/configuration.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace stretto {
namespace {

/// The environment has this variable for as long as the object lives.
class Setting {
 public:
  Setting(const char* variable, const char* value) : variable_(variable) { setenv(variable, value, 1); }
  ~Setting() { unsetenv(variable_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* variable_;
};

struct Bad {
  const char* variable;
  const char* value;
  std::vector<const char*> choices;  // what the message must name, among others
};

class BadValue : public testing::TestWithParam<Bad> {};

TEST_P(BadValue, IsToldWithVariableValueAndChoices) {
  const auto& [variable, value, choices] = GetParam();
  const Setting setting(variable, value);
  std::string error;
  read_configuration(error);
  EXPECT_NE(error.find(std::string("stretto: ") + variable + "=" + value + " is not valid; choose "), std::string::npos)
      << error;
  for (const char* choice : choices) EXPECT_NE(error.find(choice), std::string::npos) << choice << " in: " << error;
}

constexpr const char* kCores = "STRETTO_BACKGROUND_CORE";
INSTANTIATE_TEST_SUITE_P(
    Settings, BadValue,
    testing::Values(
        Bad{"STRETTO_ALLREDUCE", "rnig", {"default", "native", "ring"}},
        Bad{"STRETTO_REDUCE", "nonsense", {"default", "native", "binomial"}},
        Bad{"STRETTO_BCAST", "nonsense", {"default", "native", "binomial"}},
        Bad{"STRETTO_BARRIER", "ring", {"default", "native", "dissemination"}},
        Bad{"STRETTO_ALLREDUCE", "ring+1", {"default", "native", "in segments: rabenseifner+4"}},
        Bad{"STRETTO_IALLREDUCE", "arrival_stripes", {"default", "native", "ring", "in segments"}},
        Bad{"STRETTO_IGATHER", "background_linear_nonblocking", {"default", "native", "linear_nonblocking"}},
        Bad{"STRETTO_IBCAST", "native+4", {"default", "native", "binomial"}},
        Bad{"STRETTO_DETERMINISTIC", "yes", {"0", "1"}}, Bad{"STRETTO_VERBOSE", "yes", {"0", "1"}},
        Bad{"STRETTO_CMA", "on", {"auto", "off"}}, Bad{"STRETTO_HWLOC", "on", {"auto", "off"}},
        Bad{"STRETTO_SHM_MAX_MIB", "many", {"MiB"}}, Bad{"STRETTO_SHM_MAX_MIB", "-1", {"MiB"}},
        Bad{"STRETTO_SHM_MAX_MIB", "1.5", {"MiB"}}, Bad{"STRETTO_SHM_MAX_MIB", "99999999999999999999999", {"MiB"}},
        Bad{"STRETTO_BACKGROUND", "always", {"auto", "off", "polled", "thread"}},
        Bad{kCores, "two", {"below 1024", "0,2-3"}}, Bad{kCores, "-1", {"below 1024", "0,2-3"}},
        Bad{kCores, "1.5", {"below 1024", "0,2-3"}}, Bad{kCores, "1,,2", {"below 1024", "0,2-3"}},
        Bad{kCores, "3-1", {"below 1024", "0,2-3"}}, Bad{kCores, "0-", {"below 1024", "0,2-3"}},
        Bad{kCores, "1024", {"below 1024", "0,2-3"}}, Bad{kCores, "0 1", {"below 1024", "0,2-3"}},
        Bad{"STRETTO_PROFILE_EVERY", "0", {"from 1 "}}, Bad{"STRETTO_PROFILE_EVERY", "often", {"1"}},
        Bad{"STRETTO_PROFILE_MAX_MIB", "1", {"from 2 "}}, Bad{"STRETTO_PROFILE_START", "later", {"off or on"}}));

TEST(Configuration, AnEmptyValueIsNoValue) {
  std::string error;
  const std::uint64_t unset = read_configuration(error).fingerprint();
  for (const char* variable :
       {"STRETTO_ALLREDUCE", "STRETTO_IBCAST", "STRETTO_DETERMINISTIC", "STRETTO_CMA", "STRETTO_HWLOC",
        "STRETTO_SHM_MAX_MIB", "STRETTO_BACKGROUND", kCores, "STRETTO_PROFILE_EVERY", "STRETTO_TOPOLOGY"}) {
    const Setting setting(variable, "");
    EXPECT_EQ(read_configuration(error).fingerprint(), unset) << variable;
  }
  EXPECT_EQ(error, "");
}

TEST(Configuration, GoodValuesAreRead) {
  const Setting settings[] = {{"STRETTO_ALLREDUCE", "ring+4"},  {"STRETTO_BARRIER", "native"},
                              {"STRETTO_IREDUCE", "binomial"},  {"STRETTO_SHM_MAX_MIB", "3"},
                              {"STRETTO_BACKGROUND", "polled"}, {kCores, "0,2-3"}};
  std::string error;
  const Configuration configuration = read_configuration(error);
  EXPECT_EQ(error, "");
  EXPECT_EQ(configuration.choice(Collective::allreduce).algorithm->name, "ring+4");
  EXPECT_EQ(configuration.choice(Collective::barrier).kind, Choice::Kind::native);
  EXPECT_EQ(configuration.choice(Collective::bcast).kind, Choice::Kind::by_rule);
  EXPECT_EQ(configuration.choice(Collective::reduce, Form::non_blocking).algorithm->name, "binomial");
  EXPECT_TRUE(configuration.non_blocking);
  EXPECT_EQ(configuration.shared_memory_bytes, std::size_t{3} << 20);
  EXPECT_EQ(configuration.background, Background::polled);
  EXPECT_EQ(configuration.background_cores, (std::vector<std::size_t>{0, 2, 3}));
}

}  // namespace
}  // namespace stretto
