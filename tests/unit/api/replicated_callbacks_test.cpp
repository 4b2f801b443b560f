/// \file replicated_callbacks_test.cpp
/// A replicated state machine that is used inside callbacks of its node: nothing is sent where its
/// delivery cannot be waited for, and reading waits for nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cluster.hpp"
#include "replicated_sum.hpp"
#include "support/loopback.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Two nodes that found a group, and one that joins it, with what executes in their callbacks: it
// is told what that came to.
class ReplicatedInCallbacks : public ::testing::Test {
 public:
  ~ReplicatedInCallbacks() override {
    for (Member& member : members_) member.node.reset();  // its callbacks use the rest
  }

 protected:
  struct Member {
    std::optional<Node> node;
    std::optional<Replicated<Sum>> sum;
    std::optional<Group> events;
    std::function<void()> while_saving, while_loading;
  };

  ReplicatedInCallbacks() {
    for (std::size_t i = 0; i < members_.size(); ++i) make(i);
  }

  void make(std::size_t i) {
    Member& member = members_[i];
    auto node =
        Node::create({.name = addresses_[i].name,
                      .members = addresses_,
                      .founders = 2,
                      .suspect_after = ClusterOptions{}.suspect_after,
                      .on_view = [this, i](const ViewChange&) { execute("the view callback", i); },
                      .log =
                          [this, i](LogLevel, std::string_view text) {
                            if (text.contains("was committed here")) execute("the log callback", i);
                          }});
    ASSERT_TRUE(node) << node.error().message;
    member.node = std::move(*node);
    auto joined = Replicated<Sum>::join(
        *member.node, small_group(),
        Sum{.while_saving = &member.while_saving, .while_loading = &member.while_loading});
    ASSERT_TRUE(joined) << joined.error().message;
    member.sum = std::move(*joined);
    GroupOptions events = small_group();
    events.name = "events";
    events.on_delivery = [this, i](std::span<const Message>) {
      execute("the delivery callback of group 'events'", i);
    };
    auto other = member.node->join(events);
    ASSERT_TRUE(other) << other.error().message;
    member.events = *other;
  }

  void start_founders() {
    const std::jthread other([&] { EXPECT_TRUE(members_[1].node->start()); });
    ASSERT_TRUE(members_[0].node->start());
  }

  void execute(const std::string& callback, std::size_t member) {
    const Result<std::uint64_t> done = members_[member].sum->execute({100}, kPatience);
    const std::lock_guard lock(mutex_);
    said_[callback] = done ? Error{ErrorCode::stopped, "it was done"} : done.error();
  }
  [[nodiscard]] std::map<std::string, Error> said() {
    const std::lock_guard lock(mutex_);
    return said_;
  }

  const std::vector<MemberAddress> addresses_ = loopback_members(3);
  std::mutex mutex_;
  std::map<std::string, Error> said_;  // by callback, what execute() said in it
  std::array<Member, 3> members_;
};

TEST_F(ReplicatedInCallbacks, NothingIsSent) {
  members_[0].while_saving = [this] { execute("save_state of group 'log'", 0); };
  members_[2].while_loading = [this] { execute("load_state of group 'log'", 2); };
  start_founders();
  Member& first = members_[0];
  first.events->commit(first.sum->group().try_claim(1));  // is told in the log
  ASSERT_TRUE(first.events->send("x", kPatience));
  ASSERT_TRUE(members_[2].node->start());
  ASSERT_TRUE(until([this] { return said().size() == 5; }));
  for (const auto& [callback, error] : said()) {
    EXPECT_EQ(error.code, ErrorCode::in_callback) << error.message;
    EXPECT_THAT(error.message,
                AllOf(HasSubstr("group 'log': Replicated::execute was called inside " + callback),
                      HasSubstr("nothing was done")));
  }
  EXPECT_EQ(first.sum->execute({5}, kPatience).value_or(0), 5) << "nothing else was sent";
}

TEST_F(ReplicatedInCallbacks, AQueryReadsTheStateThatIsSavedOrLoaded) {
  std::atomic<std::uint64_t> saved = 0;
  std::atomic<std::uint64_t> loaded = 0;
  const auto read = [this](std::size_t member) {
    return members_[member].sum->query([](const Sum& sum) { return sum.value; });
  };
  members_[0].while_saving = [&] { saved = read(0); };
  members_[2].while_loading = [&] { loaded = read(2); };
  start_founders();
  ASSERT_EQ(members_[0].sum->execute({5}, kPatience).value_or(0), 5);
  const Result<void> started = members_[2].node->start();
  ASSERT_TRUE(started) << started.error().message;
  EXPECT_EQ(saved, 5);
  EXPECT_EQ(loaded, 5);
}

}  // namespace
}  // namespace tutti
