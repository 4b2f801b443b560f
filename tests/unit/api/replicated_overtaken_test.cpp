/// \file replicated_overtaken_test.cpp
/// A state machine at a member that the others removed while it applied a batch: they use the space
/// of the rest again, and the machine stays what it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <thread>

#include "cluster.hpp"
#include "gate.hpp"
#include "support/loopback.hpp"
#include "tutti/replicated.hpp"

namespace tutti {
namespace {

constexpr std::uint32_t kWindow = 256;
constexpr std::size_t kBytes = 1000;

// Has all that it was told.
struct Words {
  struct Command {
    std::string text{};
    void encode(std::vector<std::byte>& out) const {
      const auto bytes = std::as_bytes(std::span(text));
      out.insert(out.end(), bytes.begin(), bytes.end());
    }
    static std::optional<Command> decode(std::span<const std::byte> in) {
      return Command{std::string(reinterpret_cast<const char*>(in.data()), in.size())};
    }
  };
  using Reply = std::size_t;

  Reply apply(const Command& command) {
    all.push_back(command.text);
    applied->store(all.size());
    if (*while_applying) (*while_applying)(all.size());
    return all.size();
  }
  static Result<void> save(const StateSink& /*write*/) { return {}; }
  static Result<void> load(const StatePiece& /*piece*/) { return {}; }

  std::vector<std::string> all{};
  std::atomic<std::size_t>* applied = nullptr;
  std::function<void(std::size_t)>* while_applying = nullptr;
};

// The first member alone removes others, so no two can suspect each other.
class OvertakenMachine : public ::testing::Test {
 public:
  ~OvertakenMachine() override {
    for (Gate& gate : gates_) gate.open();
    talks_ = false;
    if (talker_.joinable()) talker_.join();
    for (Member& member : members_) member.node.reset();  // its callbacks use the rest
  }

 protected:
  struct Member {
    std::optional<Node> node{};
    std::optional<Replicated<Words>> words{};
    std::atomic<std::size_t> applied{0};
    std::function<void(std::size_t)> while_applying{};
  };

  void start() {
    const std::vector<MemberAddress> addresses = loopback_members(members_.size());
    for (std::size_t i = 0; i < members_.size(); ++i) {
      Member& member = members_[i];
      auto node = Node::create({.name = addresses[i].name,
                                .members = addresses,
                                .fabric = FabricChoice::shm,
                                .suspect_after = i == 0 ? 5s : ClusterOptions{}.suspect_after,
                                .remove_after = i == 0 ? 5s : 0s});
      ASSERT_TRUE(node) << node.error().message;
      member.node.emplace(std::move(*node));
      GroupOptions group{.name = "words"};
      group.message_max_bytes = 2 * kBytes;
      group.window_messages = kWindow;
      auto words = Replicated<Words>::join(
          *member.node, group,
          Words{.applied = &member.applied, .while_applying = &member.while_applying});
      ASSERT_TRUE(words) << words.error().message;
      member.words.emplace(std::move(*words));
    }
    std::vector<std::jthread> starts;
    for (Member& member : members_) {
      starts.emplace_back([&] {
        const Result<void> started = member.node->start();
        EXPECT_TRUE(started) << started.error().message;
      });
    }
  }

  // As execute() does, but waits for nobody.
  void talk() {
    talker_ = std::thread([this] {
      std::vector<std::byte> bytes(sizeof(std::uint64_t));
      for (std::size_t i = 0; talks_;) {
        bytes.resize(sizeof(std::uint64_t));
        Words::Command{std::to_string(i) + std::string(kBytes, 'a' + static_cast<char>(i % 26))}
            .encode(bytes);
        Claim claim =
            members_[0].words->group().try_claim(static_cast<std::uint32_t>(bytes.size()));
        if (!claim) {
          is_full_ = is_full_ || claim.outcome() == ClaimOutcome::full;
          std::this_thread::yield();
          continue;
        }
        std::ranges::copy(bytes, claim.data());
        members_[0].words->group().commit(std::move(claim));
        ++i;
      }
    });
  }

  [[nodiscard]] std::vector<std::string> words_of(Member& member) {
    return member.words->query([](const Words& words) { return words.all; });
  }

  std::array<Gate, 2> gates_;
  std::atomic<bool> talks_{true};
  std::atomic<bool> is_full_{false};
  std::thread talker_;
  std::array<Member, 3> members_;
};

// It is held up in the first command of a batch, so that the next batch is as large as the window;
// in the first command of that, it is held up for longer than the others wait for it.
TEST_F(OvertakenMachine, StaysWhatItWas) {
  Member& last = members_[2];
  for (Gate& gate : gates_) gate.shut();
  last.while_applying = [&](std::size_t count) {
    if (count == 1) gates_[0].pass();
    if (count > 1) gates_[1].pass();
  };
  start();
  talk();
  const auto is_removed = [&] { return last.node->failure().has_value(); };
  ASSERT_TRUE(until([&] { return gates_[0].reached() && is_full_; }));
  gates_[0].open();
  ASSERT_TRUE(until([&] { return gates_[1].reached() || is_removed(); }));
  ASSERT_TRUE(until(is_removed));
  const std::size_t before = members_[0].applied;
  ASSERT_TRUE(until([&] { return members_[0].applied > before + std::size_t{4} * kWindow; }));
  gates_[1].open();
  static_cast<void>(last.node->stop(kPatience));
  talks_ = false;
  const std::vector<std::string> ought = words_of(members_[0]);
  const std::vector<std::string> had = words_of(last);
  ASSERT_LE(had.size(), ought.size());
  const auto differ = std::ranges::mismatch(had, ought);
  EXPECT_EQ(differ.in1, had.end())
      << "command " << (differ.in1 - had.begin()) << " of " << had.size()
      << " is another one: " << differ.in1->substr(0, 20);
}

}  // namespace
}  // namespace tutti
