// A replicated machine of a program in C: its callbacks, replies, queries and the state for a
// joiner.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "support/loopback.hpp"
#include "tutti/tutti.h"

namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kWait = 60'000'000'000;

// Appends what it is told; its reply is all that it has. One thread at a time: the library sees to
// that.
struct Text {
  tutti_node_t* node = nullptr;
  tutti_replicated_t* copy = nullptr;
  std::string text;
  std::string ticked;  // the text when a tick came last
  std::uint64_t time_ns = 0;
};

void tick(std::uint64_t time_ns, void* user) {
  auto& of = *static_cast<Text*>(user);
  EXPECT_GT(time_ns, of.time_ns);
  of.time_ns = time_ns;
  of.ticked = of.text;
}

void append(const void* command, std::size_t size, tutti_sink_t* reply, void* user) {
  std::string& text = static_cast<Text*>(user)->text;
  text.append(static_cast<const char*>(command), size);
  tutti_sink_write(reply, text.data(), text.size());
}

int save_text(tutti_sink_t* sink, void* user) {
  const std::string& text = static_cast<Text*>(user)->text;
  tutti_sink_write(sink, text.data(), text.size());
  return 0;
}

int load_text(const void* bytes, std::size_t size, int first, int /*last*/, void* user) {
  std::string& text = static_cast<Text*>(user)->text;
  if (first != 0) text.clear();
  text.append(static_cast<const char*>(bytes), size);
  return 0;
}

class CReplicated : public ::testing::Test {
 protected:
  CReplicated() {
    for (const tutti::MemberAddress& member : addresses_) {
      members_.push_back({member.name.c_str(), member.address.c_str()});
    }
  }
  ~CReplicated() override {
    for (Text& text : texts_) {
      tutti_node_destroy(text.node);
      tutti_replicated_destroy(text.copy);
    }
  }

  static tutti_group_options_t group_of(Text& text) {
    tutti_group_options_t group;
    EXPECT_EQ(tutti_group_options_init(&group, sizeof group), 0);
    group.name = "text";
    group.save_state = save_text;
    group.load_state = load_text;
    group.user = &text;
    return group;
  }
  void make(std::size_t member) {
    tutti_node_options_t options;
    ASSERT_EQ(tutti_node_options_init(&options, sizeof options), 0);
    options.name = members_[member].name;
    options.members = members_.data();
    options.member_count = members_.size();
    options.founders = 2;
    options.suspect_after_ns = kWait / 3;
    ASSERT_EQ(tutti_node_create(&options, &texts_[member].node, &error_), 0) << error_.message;
  }
  void join(std::size_t member) {
    const tutti_group_options_t group = group_of(texts_[member]);
    ASSERT_EQ(
        tutti_replicated_join(texts_[member].node, &group, append, &texts_[member].copy, &error_),
        0)
        << error_.message;
  }
  std::string execute(std::size_t member, const std::string& command, std::size_t capacity = 64) {
    std::string reply(capacity, '\0');
    std::size_t size = 0;
    EXPECT_EQ(tutti_replicated_execute(texts_[member].copy, command.data(), command.size(), kWait,
                                       reply.data(), capacity, &size, &error_),
              0)
        << error_.message;
    reply.resize(std::min(size, capacity));
    return reply + ' ' + std::to_string(size);
  }
  std::string latest(std::size_t member) {
    struct Seen {
      const std::string& text;
      std::string copy{};
    } seen{texts_[member].text};
    const auto read = [](void* user) {
      auto& into = *static_cast<Seen*>(user);
      into.copy = into.text;
    };
    EXPECT_EQ(tutti_replicated_query_latest(texts_[member].copy, read, &seen, kWait, &error_), 0)
        << error_.message;
    return seen.copy;
  }

  std::vector<tutti::MemberAddress> addresses_ = tutti::loopback_members(3);
  std::vector<tutti_member_address_t> members_;
  std::array<Text, 3> texts_;
  tutti_error_t error_{};
};

TEST_F(CReplicated, AppliesCommandsEverywhereAndGivesItsStateToAJoiner) {
  for (const std::size_t member : {0U, 1U}) {
    make(member);
    join(member);
  }
  std::thread other([this] {
    tutti_error_t failed;
    EXPECT_EQ(tutti_node_start(texts_[1].node, &failed), 0) << failed.message;
  });
  EXPECT_EQ(tutti_node_start(texts_[0].node, &error_), 0) << error_.message;
  other.join();
  EXPECT_EQ(execute(0, "one,"), "one, 4");
  EXPECT_EQ(execute(1, "two,"), "one,two, 8");
  EXPECT_EQ(execute(0, "three,", 5), "one,t 14") << "the size says that there was more";
  EXPECT_EQ(latest(1), "one,two,three,");
  make(2);
  join(2);
  ASSERT_EQ(tutti_node_start(texts_[2].node, &error_), 0) << error_.message;
  EXPECT_EQ(latest(2), "one,two,three,");
  EXPECT_EQ(execute(2, "four"), "one,two,three,four 18");
  tutti_group_t* group = nullptr;
  ASSERT_EQ(tutti_replicated_group(texts_[0].copy, &group, &error_), 0);
  EXPECT_STREQ(tutti_group_name(group), "text");
  tutti_group_destroy(group);
}

TEST_F(CReplicated, IsToldOfTicksBetweenCommands) {
  members_.resize(1);
  tutti_node_options_t options;
  ASSERT_EQ(tutti_node_options_init(&options, sizeof options), 0);
  options.name = members_[0].name;
  options.members = members_.data();
  options.member_count = 1;
  ASSERT_EQ(tutti_node_create(&options, &texts_[0].node, &error_), 0) << error_.message;
  tutti_group_options_t group = group_of(texts_[0]);
  group.tick_every_ns = 1'000'000;
  group.on_tick = tick;
  tutti_group_t* plain = nullptr;
  EXPECT_EQ(tutti_node_join(texts_[0].node, &group, &plain, &error_), TUTTI_E_INVALID_ARGUMENT);
  EXPECT_THAT(std::string(error_.message), HasSubstr("on_tick is set"));
  ASSERT_EQ(tutti_replicated_join(texts_[0].node, &group, append, &texts_[0].copy, &error_), 0)
      << error_.message;
  ASSERT_EQ(tutti_node_start(texts_[0].node, &error_), 0) << error_.message;
  EXPECT_EQ(execute(0, "one"), "one 3");
  struct Seen {
    const Text& of;
    bool ticked = false;
  } seen{texts_[0]};
  while (!seen.ticked) {
    const auto read = [](void* user) {
      auto& into = *static_cast<Seen*>(user);
      into.ticked = into.of.ticked == "one";
    };
    ASSERT_EQ(tutti_replicated_query(texts_[0].copy, read, &seen, &error_), 0) << error_.message;
    std::this_thread::yield();
  }
}

TEST_F(CReplicated, RefusesWhatMakesNoMachine) {
  make(0);
  Text& text = texts_[0];
  const auto refusal = [&](const tutti_group_options_t& group, tutti_apply_callback_t apply) {
    EXPECT_EQ(tutti_replicated_join(text.node, &group, apply, &text.copy, &error_),
              TUTTI_E_INVALID_ARGUMENT);
    EXPECT_EQ(text.copy, nullptr);
    return std::string(error_.message);
  };
  tutti_group_options_t group = group_of(text);
  EXPECT_THAT(refusal(group, nullptr), HasSubstr("apply is NULL"));
  group.on_delivery = [](const tutti_message_t*, std::size_t, void*) {};
  EXPECT_THAT(refusal(group, append), HasSubstr("on_delivery is set"));
  group = group_of(text);
  group.delivery = TUTTI_DELIVERY_APPLICATION;
  EXPECT_THAT(refusal(group, append), HasSubstr("set delivery to predicate or own"));
  group = group_of(text);
  group.load_state = nullptr;
  EXPECT_THAT(refusal(group, append), HasSubstr("load_state is NULL"));
  join(0);
  EXPECT_EQ(tutti_replicated_execute(text.copy, nullptr, 4, kWait, nullptr, 0, nullptr, &error_),
            TUTTI_E_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_replicated_execute(text.copy, "x", 1, kWait, nullptr, 4, nullptr, &error_),
            TUTTI_E_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_replicated_query(text.copy, nullptr, nullptr, &error_), TUTTI_E_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_replicated_execute(text.copy, "x", 1, kWait, nullptr, 0, nullptr, &error_),
            TUTTI_E_STOPPED)
      << "its node is not started";
  tutti_replicated_destroy(text.copy);
  EXPECT_EQ(tutti_replicated_query(text.copy, [](void*) {}, nullptr, &error_), TUTTI_E_STOPPED);
  EXPECT_THAT(std::string(error_.message), HasSubstr("was destroyed before"));
}

}  // namespace
