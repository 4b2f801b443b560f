#include "restart/participant.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "support/sim_disk.hpp"
#include "unit/restart/some_views.hpp"

namespace tutti::restart {
namespace {

using testing::view_of;
using testing::views_of;
using tutti::testing::DiskFate;
using tutti::testing::DiskOperation;
using tutti::testing::DiskStep;
using tutti::testing::SimDisk;

// Nodes a, b, c whose messages arrive at once, in the order of sending.
class Trio {
 public:
  struct Member final : RestartTransport {
    SimDisk disk{};
    std::unique_ptr<ViewsFile> file{};
    std::unique_ptr<log::Writer> writer{};
    std::unique_ptr<NodeLogs> logs{};
    const Editions editions{};
    std::unique_ptr<Participant> participant{};
    std::uint32_t slot = 0;
    Trio* trio = nullptr;
    std::size_t checked = 0;
    // PT1: what a message says is there even if all that was not synced is lost.
    void is_on_disk(const RestartMessage& message) {
      const auto left = disk.after_power_loss(SimDisk::kNothingKept);
      const auto loaded = ViewsFile(*left, "/s").load();
      ASSERT_TRUE(loaded && *loaded);
      const Views& views = **loaded;
      if (const auto* promise = std::get_if<Promise>(&message)) {
        EXPECT_EQ(views, promise->told.views);
        EXPECT_EQ(views.promised.ballot, promise->ballot);
      } else if (const auto* hello = std::get_if<Hello>(&message)) {
        EXPECT_EQ(views, hello->told.views);
      } else if (const auto* accept = std::get_if<Accept>(&message)) {
        ASSERT_TRUE(views.accepted);
        EXPECT_EQ(views.accepted->ballot, accept->ballot);
        const auto log = summarize(*left, "/s/log", "log");
        ASSERT_TRUE(log);
        if (views.accepted->proposal.restart) {
          EXPECT_EQ(log->next, views.accepted->proposal.next.first_of("log"));
        }
      } else if (const auto* decided = std::get_if<Decided>(&message)) {
        EXPECT_EQ(views.installed(), decided->proposal.next);
      } else {
        return;
      }
      ++checked;
    }
    void send(std::uint32_t to, std::vector<std::byte> bytes) override {
      const auto message = decode(bytes);
      ASSERT_TRUE(message);
      is_on_disk(*message);
      trio->wire.push_back({slot, to, std::move(bytes)});
    }
  };
  struct Sent {
    std::uint32_t from, to;
    std::vector<std::byte> bytes;
  };

  // The views in which records 0, 1, ... of that node's log were delivered.
  void start(std::uint32_t slot, const std::vector<std::uint64_t>& log, Views views,
             std::uint8_t content = 0) {
    Member& one = members[slot];
    one.slot = slot;
    one.trio = this;
    ASSERT_TRUE(one.disk.make_directory("/s"));
    one.file = std::make_unique<ViewsFile>(one.disk, "/s");
    ASSERT_TRUE(one.file->save(views));
    auto writer = log::Writer::open(one.disk, "/s/log", {.node = "n", .group = "log"},
                                    {.segment_bytes = 8192});
    ASSERT_TRUE(writer);
    one.writer = std::move(*writer);
    log::Batch batch;
    const std::vector<std::byte> data(10, std::byte{content});
    for (std::size_t i = 0; i < log.size(); ++i) {
      batch.add({.seq = i, .view = log[i], .data = data});
    }
    ASSERT_TRUE(one.writer->write(batch));
    one.logs = std::make_unique<NodeLogs>(
        one.disk, std::vector<GroupLog>{{.group = "log", .writer = one.writer.get()}});
    ASSERT_TRUE(one.logs->load());
    one.participant = std::make_unique<Participant>(
        *one.file, *one.logs, one, one.editions,
        RestartOptions{
            .slot = slot, .names = {"a", "b", "c"}, .views = std::move(views), .piece_bytes = 100});
    one.participant->start();
    for (Member& other : members) {
      if (other.participant == nullptr || other.slot == slot) continue;
      one.participant->up(other.slot);
      other.participant->up(slot);
    }
  }
  void deliver() {
    while (!wire.empty()) {
      const Sent sent = std::move(wire.front());
      wire.pop_front();
      members[sent.to].participant->receive(sent.from, sent.bytes);
    }
  }
  void tick() {
    for (Member& one : members) {
      if (one.participant) one.participant->tick();
      deliver();
    }
  }
  Participant& at(std::uint32_t slot) { return *members[slot].participant; }

  std::deque<Sent> wire{};
  Member members[3];
};

const ViewRecord kFirst = view_of(1, {0, 1, 2});

TEST(RestartParticipant, AllBackGoOnFromTheLongestLog) {
  Trio trio;
  trio.start(0, {1}, views_of({kFirst}));
  trio.start(1, std::vector<std::uint64_t>(40, 1), views_of({kFirst}));
  EXPECT_EQ(trio.at(0).why(), "view 1 of a, b, c: waits for b or c");
  trio.start(2, {}, views_of({kFirst}));
  trio.deliver();
  for (Trio::Member& one : trio.members) {
    EXPECT_GE(one.checked, 4U);
    ASSERT_TRUE(one.participant->decided()) << one.participant->why();
    EXPECT_EQ(*one.participant->decided(), view_of(3, {0, 1, 2}, 40));
    EXPECT_EQ(one.writer->next(), 40U);
    EXPECT_EQ(one.writer->digest(), trio.members[1].writer->digest());
    const auto views = one.file->load();
    ASSERT_TRUE(views && *views);
    EXPECT_EQ((**views).chain, std::vector{view_of(3, {0, 1, 2}, 40)});
  }
}

TEST(RestartParticipant, AMajorityGoesOnAfterATickAndTheThirdIsToldSo) {
  Trio trio;
  trio.start(1, {1}, views_of({kFirst}));
  trio.start(2, {1, 1}, views_of({kFirst}));
  trio.deliver();
  EXPECT_FALSE(trio.at(1).decided());
  EXPECT_EQ(trio.at(1).why(), "view 1: enough nodes are back, and no restart has begun");
  trio.tick();
  ASSERT_TRUE(trio.at(1).decided());
  EXPECT_EQ(*trio.at(2).decided(), view_of(3, {1, 2}, 2));
  trio.start(0, {1, 1, 1}, views_of({kFirst}));
  trio.deliver();
  trio.tick();
  EXPECT_FALSE(trio.at(0).decided());
  EXPECT_TRUE(trio.at(0).runs_elsewhere());
}

TEST(RestartParticipant, LogsThatDifferStopTheRestartAndAreNamed) {
  Trio trio;
  trio.start(0, {1}, views_of({kFirst}), 7);
  trio.start(1, {1, 1}, views_of({kFirst}));
  trio.start(2, {1, 1}, views_of({kFirst}));
  trio.deliver();
  trio.tick();
  for (Trio::Member& one : trio.members) EXPECT_FALSE(one.participant->decided());
  EXPECT_NE(trio.at(0).why().find("its log of group 'log' and that of b differ"), std::string::npos)
      << trio.at(0).why();
}

TEST(RestartParticipant, AProposalThatMayBeDecidedIsAdoptedFirst) {
  Trio trio;
  Views views = views_of({kFirst});
  views.accepted = {.ballot = 1, .proposal = {.follows = 1, .next = view_of(2, {0, 1}, 1)}};
  trio.start(0, {1}, views);
  trio.start(1, {1}, views);
  trio.deliver();
  trio.tick();
  trio.tick();
  // View 2 is not confirmed: the restart from it needs a majority of both.
  ASSERT_TRUE(trio.at(0).decided()) << trio.at(0).why();
  EXPECT_EQ(*trio.at(0).decided(), view_of(3, {0, 1}, 1));
}

TEST(RestartParticipant, WhatACutLeftOutIsCutAndKeptInAFile) {
  Trio trio;
  const ViewRecord second = view_of(3, {1, 2}, 1);
  trio.start(0, {1, 1, 1}, views_of({kFirst}));
  trio.start(1, {1, 3}, views_of({kFirst, second}));
  trio.start(2, {1}, views_of({kFirst, second}));
  trio.deliver();
  EXPECT_EQ(*trio.at(1).decided(), view_of(5, {1, 2}, 2));
  // a is no member of view 3: it takes no part, and its log stays as it is until it joins.
  EXPECT_EQ(trio.members[0].writer->next(), 3U);
  EXPECT_TRUE(trio.at(0).runs_elsewhere());

  Trio other;
  const ViewRecord all = view_of(3, {0, 1, 2}, 1);
  other.start(0, {1, 1, 1}, views_of({kFirst}));
  other.start(1, {1, 3}, views_of({kFirst, all}));
  other.start(2, {1}, views_of({kFirst, all}));
  other.deliver();
  EXPECT_EQ(*other.at(0).decided(), view_of(5, {0, 1, 2}, 2));
  EXPECT_EQ(other.members[0].writer->digest(), other.members[1].writer->digest());
  const auto names = other.members[0].disk.list("/s/log");
  ASSERT_TRUE(names);
  EXPECT_TRUE(std::ranges::any_of(*names, [](auto& name) { return name.starts_with("cut-"); }));
}

TEST(RestartParticipant, AnErrorOfItsDiskEndsIt) {
  Trio trio;
  trio.start(0, {1}, views_of({kFirst}));
  trio.start(1, {1}, views_of({kFirst}));
  trio.members[1].disk.on_operation([](const DiskOperation& operation) {
    return operation.step == DiskStep::sync ? DiskFate::io_error : DiskFate::done;
  });
  trio.deliver();
  trio.tick();
  ASSERT_TRUE(trio.at(1).error());
  EXPECT_NE(trio.at(1).why().find("/s/views"), std::string::npos);
  EXPECT_FALSE(trio.at(0).decided());
}

TEST(RestartParticipant, NodesOfAnotherGroupDoNotCount) {
  Trio trio;
  Views views = views_of({kFirst});
  views.origin = 8;
  trio.start(0, {1}, views_of({kFirst}));
  trio.start(1, {1}, views);
  trio.deliver();
  trio.tick();
  EXPECT_NE(trio.at(0).why().find("b belongs to a group that was founded another time"),
            std::string::npos)
      << trio.at(0).why();
}

// To compare a log takes its reader six ticks, in which nothing reaches that member.
class SlowTrio final : public Trio {
 public:
  void tick_slowly() {
    ++now_;
    for (Member& one : members) {
      if (!is_busy(one.slot)) one.participant->tick();
    }
    for (std::size_t at = 0; at < wire.size();) {
      if (takes_long(wire[at])) {
        ++at;
        continue;
      }
      const Sent sent = std::move(wire[at]);
      wire.erase(wire.begin() + static_cast<std::ptrdiff_t>(at));
      members[sent.to].participant->receive(sent.from, sent.bytes);
      at = 0;
    }
  }

 private:
  [[nodiscard]] bool is_busy(std::uint32_t slot) const { return busy_until_[slot] > now_; }
  // The reader begins with it, or is busy with it or another one.
  bool takes_long(const Sent& sent) {
    if (is_busy(sent.to)) return true;
    if (std::exchange(reads_[sent.to], false)) return false;
    const auto message = decode(sent.bytes);
    reads_[sent.to] =
        std::holds_alternative<Propose>(*message) || std::holds_alternative<Fetch>(*message);
    if (reads_[sent.to]) busy_until_[sent.to] = now_ + 6;
    return reads_[sent.to];
  }

  std::uint64_t now_ = 0;
  std::uint64_t busy_until_[3]{};
  bool reads_[3]{};  // the first message for it that is under way
};

TEST(RestartParticipant, LogsThatTakeLongToCompareAreCompared) {
  SlowTrio trio;
  for (const std::uint32_t slot : {0U, 1U, 2U}) {
    trio.start(slot, std::vector<std::uint64_t>(slot == 1 ? 60 : 20, 1), views_of({kFirst}));
  }
  for (int ticks = 0; !trio.at(0).decided(); ++ticks) {
    ASSERT_LT(ticks, 400) << trio.at(0).why();
    trio.tick_slowly();
  }
  trio.deliver();
  for (Trio::Member& one : trio.members) {
    EXPECT_EQ(one.participant->decided(), view_of(3, {0, 1, 2}, 60));
    EXPECT_EQ(one.writer->digest(), trio.members[1].writer->digest());
  }
}

TEST(RestartParticipant, AnswersToQuestionsOfEarlierBallotsAreLeft) {
  Trio trio;
  for (const std::uint32_t slot : {0U, 1U, 2U}) {
    trio.start(slot, std::vector<std::uint64_t>(slot == 1 ? 60 : 20, 1), views_of({kFirst}));
  }
  std::deque<Trio::Sent> held;  // questions to b
  const auto deliver = [&](bool holds) {
    for (; !trio.wire.empty(); trio.wire.pop_front()) {
      const Trio::Sent sent = trio.wire.front();
      const auto message = decode(sent.bytes);
      EXPECT_FALSE(std::holds_alternative<Refuse>(*message)) << std::get<Refuse>(*message).why;
      if (holds && std::holds_alternative<Fetch>(*message)) {
        held.push_back(sent);
      } else {
        trio.members[sent.to].participant->receive(sent.from, sent.bytes);
      }
    }
  };
  for (int ticks = 0; held.size() < 4; ++ticks) {
    ASSERT_LT(ticks, 10);
    deliver(true);
    trio.at(0).tick();
  }
  trio.wire.insert(trio.wire.end(), held.begin(), held.end());
  deliver(false);
  EXPECT_TRUE(trio.at(0).decided()) << trio.at(0).why();
  EXPECT_EQ(trio.members[2].writer->digest(), trio.members[1].writer->digest());
}

TEST(RestartParticipant, BytesThatAreNoMessageAreIgnored) {
  Trio trio;
  trio.start(0, {1}, views_of({kFirst}));
  trio.start(1, {1}, views_of({kFirst}));
  const std::vector<std::byte> bytes(20, std::byte{1});
  trio.at(0).receive(1, bytes);
  trio.at(0).receive(17, bytes);
  trio.deliver();
  trio.tick();
  EXPECT_TRUE(trio.at(0).decided());
}

}  // namespace
}  // namespace tutti::restart
