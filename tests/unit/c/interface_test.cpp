// The C interface called as a program in C calls it, so that sanitizers see it, too. What such a
// program may do wrong: tests/c/misuse.c.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/loopback.hpp"
#include "tutti/tutti.h"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kPatience = 60'000'000'000;

// One member of three, with what its callbacks were told.
struct Member {
  std::string name;
  tutti_node_t* node = nullptr;
  tutti_group_t* group = nullptr;
  std::mutex mutex;
  std::vector<std::string> views;
  std::vector<std::string> texts;
  std::string state;
  std::atomic<int> loads{0};

  std::size_t delivered() {
    const std::lock_guard lock(mutex);
    return texts.size();
  }
};

void note_view(const tutti_view_t* view, void* user) {
  auto& member = *static_cast<Member*>(user);
  std::string told;
  for (std::uint32_t rank = 0; rank < view->member_count; ++rank) {
    told += view->members[rank].name + std::string(view->members[rank].joined != 0 ? "+ " : " ");
  }
  for (std::uint32_t gone = 0; gone < view->left_count; ++gone) {
    told += '-' + std::string(view->left[gone].name) + std::to_string(view->left[gone].reason);
  }
  const std::lock_guard lock(member.mutex);
  member.views.push_back(told);
}

void note(const tutti_message_t* messages, std::size_t count, void* user) {
  auto& member = *static_cast<Member*>(user);
  const std::lock_guard lock(member.mutex);
  for (std::size_t i = 0; i < count; ++i) {
    member.texts.emplace_back(static_cast<const char*>(messages[i].data), messages[i].size);
    member.state += member.texts.back() + ' ';
  }
}

int save(tutti_sink_t* sink, void* user) {
  auto& member = *static_cast<Member*>(user);
  const std::lock_guard lock(member.mutex);
  tutti_sink_write(sink, member.state.data(), member.state.size());
  return 0;
}

int load(const void* bytes, std::size_t size, int first, int last, void* user) {
  auto& member = *static_cast<Member*>(user);
  const std::lock_guard lock(member.mutex);
  if (first != 0) member.state.clear();
  member.state.append(static_cast<const char*>(bytes), size);
  if (last != 0) ++member.loads;
  return 0;
}

int fail_to_load(const void*, std::size_t, int, int, void*) { return 7; }

class CInterface : public ::testing::Test {
 protected:
  CInterface() : addresses_(tutti::loopback_members(3)) {
    for (std::size_t i = 0; i < 3; ++i) {
      members_.push_back({addresses_[i].name.c_str(), addresses_[i].address.c_str()});
      member[i].name = addresses_[i].name;
    }
  }
  ~CInterface() override {
    for (Member& one : member) {
      tutti_node_destroy(one.node);
      tutti_group_destroy(one.group);
    }
  }

  void make(Member& of, int delivery, int (*load_state)(const void*, std::size_t, int, int, void*),
            bool joins = false) {
    tutti_node_options_t options;
    ASSERT_EQ(tutti_node_options_init(&options, sizeof options), 0);
    options.name = of.name.c_str();
    options.members = members_.data();
    options.member_count = members_.size();
    options.founders = 2;
    options.join_only = joins ? 1 : 0;
    options.suspect_after_ns = kPatience / 3;
    options.on_view = note_view;
    options.user = &of;
    tutti_group_options_t group;
    ASSERT_EQ(tutti_group_options_init(&group, sizeof group), 0);
    group.name = "log";
    group.window_messages = 64;
    group.delivery = delivery;
    group.on_delivery = delivery == TUTTI_DELIVERY_APPLICATION ? nullptr : note;
    group.stateful = 1;
    group.save_state = save;
    group.load_state = load_state;
    group.user = &of;
    ASSERT_EQ(tutti_node_create(&options, &of.node, &error), 0) << error.message;
    ASSERT_EQ(tutti_node_join(of.node, &group, &of.group, &error), 0) << error.message;
  }

  void start_both() {
    std::thread other([this] {
      tutti_error_t failed;
      EXPECT_EQ(tutti_node_start(member[1].node, &failed), 0) << failed.message;
    });
    EXPECT_EQ(tutti_node_start(member[0].node, &error), 0) << error.message;
    other.join();
  }

  void send(Member& from, const std::string& text) {
    std::uint64_t ticket = 0;
    ASSERT_EQ(tutti_group_send(from.group, text.data(), text.size(), TUTTI_SERVICE_OF_LEVEL,
                               kPatience, &ticket, &error),
              0)
        << error.message;
    ASSERT_EQ(tutti_group_wait(from.group, ticket, kPatience, &error), 0) << error.message;
    ASSERT_EQ(tutti_group_delivered(from.group, ticket), 1);
  }

  tutti_error_t error{};
  Member member[3];

 private:
  const std::vector<tutti::MemberAddress> addresses_;
  std::vector<tutti_member_address_t> members_;
};

TEST_F(CInterface, ViewsMessagesAndStatesGoThrough) {
  make(member[0], TUTTI_DELIVERY_PREDICATE, load);
  make(member[1], TUTTI_DELIVERY_OWN, load);
  start_both();
  send(member[0], "one");
  send(member[1], "two");
  make(member[2], TUTTI_DELIVERY_PREDICATE, load, true);
  ASSERT_EQ(tutti_node_start(member[2].node, &error), 0) << error.message;
  send(member[2], "three");
  EXPECT_EQ(member[2].loads, 1);
  EXPECT_EQ(tutti_node_leave(member[2].node, kPatience, &error), 0) << error.message;
  send(member[0], "four");
  {
    const std::lock_guard lock(member[2].mutex);
    EXPECT_EQ(member[2].state, "one two three ");
    EXPECT_THAT(member[2].texts, ElementsAre("three"));
    EXPECT_THAT(member[2].views, ElementsAre("a b c+ "));
  }
  {
    const std::lock_guard lock(member[0].mutex);
    EXPECT_THAT(member[0].texts, ElementsAre("one", "two", "three", "four"));
    EXPECT_THAT(member[0].views, ElementsAre("a+ b+ ", "a b c+ ", "a b -c0"));
  }
  std::vector<std::string> seen;
  const auto see = [](const tutti_view_t* view, void* user) {
    static_cast<std::vector<std::string>*>(user)->push_back(std::to_string(view->number));
  };
  EXPECT_EQ(tutti_node_view(member[0].node, see, &seen, &error), 0) << error.message;
  EXPECT_THAT(seen, ElementsAre("3"));
  EXPECT_EQ(tutti_node_failure(member[0].node, &error), 0);
}

TEST_F(CInterface, ALoadThatFailsEndsTheStartOfTheJoinerAlone) {
  make(member[0], TUTTI_DELIVERY_PREDICATE, load);
  make(member[1], TUTTI_DELIVERY_PREDICATE, load);
  start_both();
  send(member[0], "one");
  make(member[2], TUTTI_DELIVERY_PREDICATE, fail_to_load, true);
  EXPECT_LT(tutti_node_start(member[2].node, &error), 0);
  EXPECT_THAT(error.message, HasSubstr("load_state returned 7"));
  send(member[1], "two");
}

TEST_F(CInterface, OneThreadTakesWhileAnotherClaims) {
  make(member[0], TUTTI_DELIVERY_APPLICATION, load);
  make(member[1], TUTTI_DELIVERY_APPLICATION, load);
  std::vector<std::thread> takers;
  std::thread first([this] {
    tutti_error_t failed;
    EXPECT_EQ(tutti_node_start(member[0].node, &failed), 0) << failed.message;
  });
  EXPECT_EQ(tutti_node_start(member[1].node, &error), 0) << error.message;
  first.join();
  constexpr int kMessages = 500;
  for (Member* of : {&member[0], &member[1]}) {
    takers.emplace_back([of] {
      tutti_error_t failed{};
      for (;;) {
        tutti_batch_t batch;
        const int status = tutti_group_take(of->group, 7, kPatience, &batch, &failed);
        if (status != 0) {
          EXPECT_EQ(status, TUTTI_E_COMPLETE) << failed.message;
          return;
        }
        note(batch.messages, batch.count, of);
        EXPECT_EQ(tutti_batch_intact(&batch), 1);
        EXPECT_EQ(tutti_group_intact(of->group), 1);
        tutti_batch_release(&batch);
      }
    });
    takers.emplace_back([of] {
      for (int i = 0; i < kMessages; ++i) {
        const std::string text = of->name + std::to_string(i);
        tutti_claim_t claim;
        tutti_error_t failed;
        ASSERT_EQ(tutti_group_claim(of->group, static_cast<std::uint32_t>(text.size()), kPatience,
                                    &claim, &failed),
                  0)
            << failed.message;
        std::memcpy(claim.data, text.data(), text.size());
        if (i % 10 == 9) {
          tutti_claim_abandon(&claim);
        } else {
          ASSERT_EQ(tutti_group_commit(of->group, &claim, TUTTI_SERVICE_SAFE, nullptr), 0);
        }
      }
      EXPECT_EQ(tutti_group_finish(of->group), 0);
    });
  }
  for (std::thread& thread : takers) thread.join();
  EXPECT_EQ(member[0].texts.size(), 2 * kMessages * 9 / 10);
  EXPECT_EQ(member[0].texts, member[1].texts);
  EXPECT_EQ(tutti_group_complete(member[0].group), 1);
}

TEST_F(CInterface, DefaultsAreTheLibrarysAndCountersEndWithTheCallersStruct) {
  tutti_group_options_t options;
  EXPECT_EQ(tutti_group_options_init(&options, sizeof options), 0);
  EXPECT_EQ(options.order, TUTTI_ORDER_ROUND_ROBIN);
  EXPECT_EQ(options.level, TUTTI_LEVEL_ATOMIC);
  EXPECT_EQ(options.window_bytes, 1U << 20);
  EXPECT_EQ(options.on_delivery, nullptr);
  tutti_group_statistics_t statistics;
  std::memset(&statistics, 0xFF, sizeof statistics);
  statistics.size = offsetof(tutti_group_statistics_t, received_messages);
  make(member[0], TUTTI_DELIVERY_OWN, load);
  EXPECT_EQ(tutti_group_get_statistics(member[0].group, &statistics), 0);
  EXPECT_EQ(statistics.sent_bytes, 0U);
  EXPECT_EQ(statistics.received_messages, ~0ULL) << "it is beyond what the caller has";
}

}  // namespace
