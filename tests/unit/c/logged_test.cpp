// Groups that are logged, as a program in C has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "log/read.hpp"
#include "support/loopback.hpp"
#include "tutti/tutti.h"

namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kLongEnough = 60'000'000'000;

// A node that is alone in its group.
class CLogged : public ::testing::Test {
 protected:
  CLogged() : addresses_(tutti::loopback_members(1)) {
    std::string pattern = (std::filesystem::temp_directory_path() / "tutti-c-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    state_dir_ = root_ + "/state";
  }
  ~CLogged() override {
    tutti_node_destroy(node_);
    tutti_group_destroy(group_);
    std::filesystem::remove_all(root_);
  }

  void make(const char* state_dir, int bootstrap = 0) {
    const tutti_member_address_t member{addresses_[0].name.c_str(), addresses_[0].address.c_str()};
    tutti_node_options_t options;
    ASSERT_EQ(tutti_node_options_init(&options, sizeof options), 0);
    EXPECT_EQ(options.state_dir, nullptr);
    options.name = member.name;
    options.members = &member;
    options.member_count = 1;
    options.state_dir = state_dir;
    options.bootstrap = bootstrap;
    ASSERT_EQ(tutti_node_create(&options, &node_, &error_), 0) << error_.message;
  }
  [[nodiscard]] int join(int level, int logged, std::uint64_t deliver_from = 0,
                         int durable_quorum = 0) {
    tutti_group_options_t options;
    EXPECT_EQ(tutti_group_options_init(&options, sizeof options), 0);
    EXPECT_EQ(options.logged, 0);
    EXPECT_EQ(options.deliver_from, 0U);
    EXPECT_EQ(options.durable_quorum, 0);
    EXPECT_EQ(options.snapshot_every_bytes, 0U);
    EXPECT_EQ(options.snapshot_every_ns, 0);
    EXPECT_EQ(options.keep_log_bytes, 64U << 20);
    EXPECT_EQ(options.log_segment_bytes, 64U << 20);
    options.name = "log";
    options.level = level;
    options.logged = logged;
    options.deliver_from = deliver_from;
    options.durable_quorum = durable_quorum;
    return tutti_node_join(node_, &options, &group_, &error_);
  }

  const std::vector<tutti::MemberAddress> addresses_;
  std::string root_;
  std::string state_dir_;
  tutti_node_t* node_ = nullptr;
  tutti_group_t* group_ = nullptr;
  tutti_error_t error_{};
};

TEST_F(CLogged, HasOnDiskWhatIsDeliveredAtDurable) {
  make(state_dir_.c_str(), 1);
  ASSERT_EQ(join(TUTTI_LEVEL_DURABLE, 1), 0) << error_.message;
  ASSERT_EQ(tutti_node_start(node_, &error_), 0) << error_.message;
  std::uint64_t ticket = 0;
  ASSERT_EQ(
      tutti_group_send(group_, "hello", 5, TUTTI_SERVICE_OF_LEVEL, kLongEnough, &ticket, &error_),
      0);
  ASSERT_EQ(tutti_group_wait(group_, ticket, kLongEnough, &error_), 0) << error_.message;
  tutti_group_statistics_t statistics;
  statistics.size = sizeof statistics;
  ASSERT_EQ(tutti_group_get_statistics(group_, &statistics), 0);
  EXPECT_EQ(statistics.persisted, 1U);
  EXPECT_GT(statistics.logged_bytes, 5U);
  EXPECT_EQ(statistics.replayed, 0U) << "the log was empty";
  ASSERT_EQ(tutti_node_stop(node_, kLongEnough, &error_), 0) << error_.message;
  const auto disk = tutti::log::posix_disk();
  const auto reading = tutti::log::read_log(*disk, state_dir_ + "/log");
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(reading->next, 1U);
}

TEST_F(CLogged, NeedsAFolderAndThatItIsLogged) {
  make(nullptr);
  EXPECT_EQ(join(TUTTI_LEVEL_ATOMIC, 1), TUTTI_E_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("state_dir"));
  EXPECT_EQ(join(TUTTI_LEVEL_DURABLE, 0), TUTTI_E_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("needs logged"));
  EXPECT_EQ(join(TUTTI_LEVEL_ATOMIC, 0, 7), TUTTI_E_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("deliver_from needs logged"));
  EXPECT_EQ(join(TUTTI_LEVEL_ATOMIC, 1, 0, 1), TUTTI_E_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("durable_quorum needs level 'durable'"));
}

TEST_F(CLogged, IsFoundedOnce) {
  const tutti_member_address_t member{addresses_[0].name.c_str(), addresses_[0].address.c_str()};
  tutti_node_options_t options;
  ASSERT_EQ(tutti_node_options_init(&options, sizeof options), 0);
  EXPECT_EQ(options.bootstrap, 0);
  options.name = member.name;
  options.members = &member;
  options.member_count = 1;
  const char* const groups[] = {"log", "other"};
  EXPECT_EQ(tutti_bootstrap(&options, groups, 2, &error_), TUTTI_E_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("no state_dir"));
  options.state_dir = state_dir_.c_str();
  EXPECT_EQ(tutti_bootstrap(&options, nullptr, 2, &error_), TUTTI_E_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("groups is NULL"));
  EXPECT_EQ(tutti_bootstrap(&options, nullptr, 0, nullptr), TUTTI_E_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_bootstrap(nullptr, groups, 2, &error_), TUTTI_E_INVALID_ARGUMENT);
  EXPECT_FALSE(std::filesystem::exists(state_dir_));
  EXPECT_EQ(tutti_bootstrap(&options, groups, 2, &error_), 0) << error_.message;
  EXPECT_TRUE(std::filesystem::exists(state_dir_ + "/views"));
  EXPECT_EQ(tutti_bootstrap(&options, groups, 2, &error_), 0) << error_.message;
  EXPECT_EQ(tutti_bootstrap(&options, groups, 1, &error_), TUTTI_E_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("with other groups"));
}

// Of a program that was made for a header without these fields.
TEST_F(CLogged, IsNotWantedByAnOlderProgram) {
  tutti_group_options_t options;
  std::memset(&options, 0xFF, sizeof options);
  ASSERT_EQ(tutti_group_options_init(&options, offsetof(tutti_group_options_t, logged)), 0);
  options.name = "log";
  make(nullptr);
  EXPECT_EQ(tutti_node_join(node_, &options, &group_, &error_), 0) << error_.message;
}

}  // namespace
