// What a relay sends into a group that is full, on a real node whose delivery waits.
#include "relay/outbox.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "support/loopback.hpp"
#include "tutti/tutti.hpp"

namespace tutti::relay::testing {
namespace {

using namespace std::chrono_literals;

template <class T>
T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::abort();
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// One member, whose deliveries wait until they may go on.
class FullGroup : public ::testing::Test {
 protected:
  FullGroup() {
    node_.emplace(must(Node::create({.name = "a", .members = loopback_members(1)})));
    GroupOptions options{.name = "g"};
    options.message_max_bytes = 1024;
    options.window_messages = 8;
    options.delivery = DeliveryThread::own;
    options.on_delivery = [this](std::span<const Message> batch) {
      may_deliver_.wait();
      const std::lock_guard lock(mutex_);
      for (const Message& one : batch) delivered_.emplace_back(one.text());
    };
    group_.emplace(must(node_->join(options)));
    must(node_->start());
    outbox_ = std::make_shared<Outbox>(*group_, [this] { told_.release(); });
  }
  ~FullGroup() override {
    if (!may_deliver_.try_wait()) may_deliver_.count_down();
    node_.reset();
  }

  Posting post(const std::string& text) {
    return outbox_->post(static_cast<std::uint32_t>(text.size()), [&](std::span<std::byte> space) {
      std::ranges::copy(std::as_bytes(std::span(text)), space.begin());
    });
  }
  // Posts "0", "1", ... until one waits; its number.
  int fill() {
    for (int i = 0;; ++i) {
      Posting posting = post(std::to_string(i));
      if (posting.outcome == Posted::posted) continue;
      EXPECT_EQ(posting.outcome, Posted::waits);
      first_ = std::move(posting.queued);
      return i;
    }
  }
  std::vector<std::string> delivered(std::size_t count) {
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (delivered_.size() >= count) return delivered_;
      }
      std::this_thread::yield();
    }
  }

  std::latch may_deliver_{1};
  std::counting_semaphore<> told_{0};
  std::optional<Node> node_;
  std::optional<Group> group_;
  std::shared_ptr<Outbox> outbox_;
  std::shared_ptr<const Queued> first_;

 private:
  std::mutex mutex_;
  std::vector<std::string> delivered_;
};

// OX1, OX2: what this member has sent is what it has delivered.
TEST_F(FullGroup, WhatWaitsGoesOutInOrderAndWastesNoSpace) {
  const int full = fill();
  std::vector<Posting> owned;
  for (int i = full + 1; i < full + 40; ++i) {
    owned.push_back(post(std::to_string(i)));
    ASSERT_EQ(owned.back().outcome, Posted::waits);
  }
  may_deliver_.count_down();
  const auto count = static_cast<std::size_t>(full) + 40;
  const std::vector<std::string> all = delivered(count);
  ASSERT_EQ(all.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(all[i], std::to_string(i));
  }
  while (owned.back().queued->state == Posted::waits) told_.acquire();
  for (const Posting& one : owned) EXPECT_EQ(one.queued->state, Posted::posted);
  EXPECT_EQ(group_->statistics().sent_messages, count);
}

// OX3.
TEST_F(FullGroup, WhatNobodyWaitsForAnyMoreIsForgotten) {
  const int full = fill();
  for (int i = 0; i < 1000; ++i) static_cast<void>(post("forgotten"));
  const Posting last = post("last");
  may_deliver_.count_down();
  const auto count = static_cast<std::size_t>(full) + 2;
  const std::vector<std::string> all = delivered(count);
  ASSERT_EQ(all.size(), count);
  EXPECT_EQ(all[count - 2], std::to_string(full));
  EXPECT_EQ(all[count - 1], "last");
  while (last.queued->state == Posted::waits) told_.acquire();
  EXPECT_EQ(last.queued->state, Posted::posted);
}

TEST_F(FullGroup, WhatWaitsIsToldOfTheEndOfTheNode) {
  fill();
  std::optional<Ticket> ticket{7};
  std::latch told(1);
  const Posting posting = outbox_->post(
      1, [](std::span<std::byte> space) { space.front() = {}; },
      [&](std::optional<Ticket> sent) {
        ticket = sent;
        told.count_down();
      });
  ASSERT_EQ(posting.outcome, Posted::waits);
  may_deliver_.count_down();
  node_.reset();
  told.wait();
  // Either there was still space for it, or there never will be.
  EXPECT_EQ(posting.queued->state, ticket ? Posted::posted : Posted::stopped);
  EXPECT_EQ(post("late").outcome, Posted::stopped);
}

}  // namespace
}  // namespace tutti::relay::testing
