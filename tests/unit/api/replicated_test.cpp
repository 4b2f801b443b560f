/// \file replicated_test.cpp
/// What waits for what in a replicated state machine: queries do not keep deliveries out, nothing
/// waits for itself, nothing is sent where its delivery cannot be waited for, and a command has one
/// time-out.
#include "tutti/replicated.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "cluster.hpp"
#include "support/loopback.hpp"

namespace tutti {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Adds up what it is told.
struct Sum {
  struct Command {
    std::uint64_t add = 0;
    std::function<void()> while_encoding{};

    void encode(std::vector<std::byte>& out) const {
      if (while_encoding) while_encoding();
      const auto* begin = reinterpret_cast<const std::byte*>(&add);
      out.insert(out.end(), begin, begin + sizeof add);
    }
    static std::optional<Command> decode(std::span<const std::byte> in) {
      Command command;
      if (in.size() != sizeof command.add) return {};
      std::memcpy(&command.add, in.data(), in.size());
      return command;
    }
  };
  using Reply = std::uint64_t;

  Reply apply(const Command& command) {
    value += command.add;
    if (while_applying != nullptr && *while_applying) (*while_applying)();
    return value;
  }
  Result<void> save(const StateSink& write) const {
    write(std::as_bytes(std::span(&value, 1)));
    if (while_saving != nullptr && *while_saving) (*while_saving)();
    return {};
  }
  Result<void> load(const StatePiece& piece) {
    std::memcpy(&value, piece.bytes.data(), sizeof value);
    if (while_loading != nullptr && *while_loading) (*while_loading)();
    return {};
  }

  std::uint64_t value = 0;
  std::function<void()>* while_applying = nullptr;
  std::function<void()>* while_saving = nullptr;
  std::function<void()>* while_loading = nullptr;
};

class ReplicatedSum : public ::testing::TestWithParam<DeliveryThread> {
 protected:
  ReplicatedSum() {
    const std::vector<MemberAddress> alone = loopback_members(1);
    auto node = Node::create({.name = "a", .members = alone});
    EXPECT_TRUE(node);
    node_ = std::move(*node);
    auto joined = Replicated<Sum>::join(*node_, small_group(Level::atomic, GetParam()),
                                        Sum{.while_applying = &while_applying_});
    EXPECT_TRUE(joined);
    sum_ = std::move(*joined);
    EXPECT_TRUE(node_->start());
  }
  ~ReplicatedSum() override { EXPECT_TRUE(node_->stop(kPatience)); }

  Result<std::uint64_t> add(std::uint64_t value) { return sum_->execute({value}, kPatience); }
  std::uint64_t read() {
    return sum_->query([](const Sum& sum) { return sum.value; });
  }

  // A query that goes on until it is released.
  struct LongQuery {
    explicit LongQuery(Replicated<Sum>& of)
        : thread([this, &of] {
            of.query([this](const Sum&) {
              begun = true;
              while (!released) std::this_thread::yield();
            });
          }) {
      EXPECT_TRUE(until([this] { return begun.load(); }));
    }
    void release() {
      released = true;
      thread.join();
    }
    std::atomic<bool> begun{false};
    std::atomic<bool> released{false};
    std::thread thread;
  };

  std::function<void()> while_applying_;
  std::optional<Node> node_;
  std::optional<Replicated<Sum>> sum_;
};

INSTANTIATE_TEST_SUITE_P(On, ReplicatedSum,
                         ::testing::Values(DeliveryThread::predicate, DeliveryThread::own),
                         [](const auto& thread) {
                           return thread.param == DeliveryThread::own ? "OwnThread" : "Predicate";
                         });

TEST_P(ReplicatedSum, ADeliveryGoesBeforeTheQueriesThatComeLater) {
  LongQuery first(*sum_);
  EXPECT_FALSE(sum_->held_up());
  std::jthread writer([this] { EXPECT_EQ(add(1), 1); });
  ASSERT_TRUE(until([this] { return sum_->held_up(); })) << "the query holds it up, and says so";
  std::atomic<bool> reads{false};
  std::jthread reader([&] {
    reads = true;
    EXPECT_EQ(read(), 1) << "the reader came after the delivery";
  });
  ASSERT_TRUE(until([&] { return reads.load(); }));
  first.release();
  reader.join();
  EXPECT_FALSE(sum_->held_up());
}

TEST_P(ReplicatedSum, NothingIsExecutedInsideAQuery) {
  const Result<std::uint64_t> inside =
      sum_->query([this](const Sum&) { return sum_->execute({1}, kPatience); });
  ASSERT_FALSE(inside);
  EXPECT_EQ(inside.error().code, ErrorCode::in_callback);
  EXPECT_THAT(inside.error().message, HasSubstr("inside query"));
  EXPECT_EQ(add(5), 5) << "nothing was sent";
}

TEST_P(ReplicatedSum, NothingIsExecutedInsideApply) {
  std::optional<Result<std::uint64_t>> inside;
  std::uint64_t seen = 0;
  while_applying_ = [&] {
    if (inside) return;
    inside = sum_->execute({1}, kPatience);
    seen = read();
  };
  EXPECT_EQ(add(5), 5);
  ASSERT_TRUE(inside);
  ASSERT_FALSE(*inside);
  EXPECT_EQ(inside->error().code, ErrorCode::in_callback);
  EXPECT_EQ(seen, 5);
  EXPECT_EQ(add(1), 6) << "nothing was sent";
}

TEST_P(ReplicatedSum, AQueryInsideAQueryWaitsForNobody) {
  std::jthread writer;
  const std::uint64_t seen = sum_->query([&](const Sum&) {
    writer = std::jthread([this] { EXPECT_EQ(add(1), 1); });
    EXPECT_TRUE(until([this] { return sum_->held_up(); }));
    return read();
  });
  EXPECT_EQ(seen, 0);
  writer.join();
  EXPECT_EQ(read(), 1);
}

TEST_P(ReplicatedSum, ACommandHasOneTimeOut) {
  constexpr auto kTimeout = 10ms;
  const Sum::Command slow{1, [=] {
                            const auto begin = std::chrono::steady_clock::now();
                            while (std::chrono::steady_clock::now() < begin + 2 * kTimeout) {
                              std::this_thread::yield();
                            }
                          }};
  const Result<std::uint64_t> late = sum_->execute(slow, kTimeout);
  ASSERT_FALSE(late) << "encoding took all of it";
  EXPECT_EQ(late.error().code, ErrorCode::timed_out);
  EXPECT_EQ(add(5), 5) << "nothing was sent";
}

TEST_P(ReplicatedSum, ThatOutlivesItsNodeSaysSo) {
  std::optional<Replicated<Sum>> outlives;
  {
    auto node = Node::create({.name = "a", .members = loopback_members(1)});
    ASSERT_TRUE(node);
    auto joined = Replicated<Sum>::join(*node, small_group());
    ASSERT_TRUE(joined);
    outlives = std::move(*joined);
    ASSERT_TRUE(node->start());
    EXPECT_EQ(outlives->execute({2}, kPatience), 2);
  }
  const Result<std::uint64_t> late = outlives->execute({1}, kPatience);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::stopped);
  EXPECT_EQ(outlives->query([](const Sum& sum) { return sum.value; }), 2);
}

// A sum that gives snapshots, and could save as well.
struct SnapshotSum : Sum {
  Result<ReadSnapshot> snapshot() const {
    return [kept = value](std::uint64_t offset, std::span<std::byte> into) -> Result<std::size_t> {
      if (offset >= sizeof kept) return 0;
      const std::size_t size = std::min<std::size_t>(into.size(), sizeof kept - offset);
      std::memcpy(into.data(), reinterpret_cast<const std::byte*>(&kept) + offset, size);
      return size;
    };
  }
  Result<void> save(const StateSink&) const { return fail(ErrorCode::system, "not to be called"); }
  Result<void> load(const StatePiece& piece) {
    return piece.bytes.empty() ? Result<void>() : Sum::load(piece);
  }
};

TEST(ReplicatedSnapshots, AreWhatJoinersGet) {
  const std::vector<MemberAddress> addresses = loopback_members(3);
  std::vector<Node> nodes;
  std::vector<Replicated<SnapshotSum>> sums;
  for (const MemberAddress& own : addresses) {
    auto node = Node::create({.name = own.name, .members = addresses, .founders = 2});
    ASSERT_TRUE(node) << node.error().message;
    nodes.push_back(std::move(*node));
    auto joined = Replicated<SnapshotSum>::join(nodes.back(), small_group());
    ASSERT_TRUE(joined) << joined.error().message;
    sums.push_back(std::move(*joined));
  }
  {
    const std::jthread other([&] { EXPECT_TRUE(nodes[1].start()); });
    ASSERT_TRUE(nodes[0].start());
  }
  ASSERT_EQ(sums[0].execute({.add = 5}, kPatience).value_or(0), 5);
  ASSERT_TRUE(nodes[2].start());
  EXPECT_EQ(sums[2].execute({.add = 2}, kPatience).value_or(0), 7);
  for (Node& node : nodes) EXPECT_TRUE(node.leave(kPatience));
}

// Two nodes that found a group, and one that joins it, with what executes in their callbacks: it
// is told what that came to.
class ReplicatedInCallbacks : public ::testing::Test {
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
  ~ReplicatedInCallbacks() override {
    for (Member& member : members_) member.node.reset();  // its callbacks use the rest
  }

  void make(std::size_t i) {
    Member& member = members_[i];
    auto node =
        Node::create({.name = addresses_[i].name,
                      .members = addresses_,
                      .founders = 2,
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

}  // namespace
}  // namespace tutti
