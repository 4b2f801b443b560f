/// \file snapshot_nodes.hpp
/// Three nodes with a replicated machine, a log in small segments, and snapshots: all that end and
/// come again find their folders as they left them.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cluster.hpp"
#include "log/snapshots.hpp"
#include "support/loopback.hpp"
#include "tutti/replicated.hpp"

namespace tutti {

/// Its state says in which order it was told what.
struct Chain {
  struct Command {
    std::uint64_t add = 0;
    std::size_t padding = 0;
    void encode(std::vector<std::byte>& out) const {
      const auto* begin = reinterpret_cast<const std::byte*>(&add);
      out.insert(out.end(), begin, begin + sizeof add);
      out.resize(out.size() + padding);
    }
    static std::optional<Command> decode(std::span<const std::byte> in) {
      Command command;
      if (in.size() < sizeof command.add) return {};
      std::memcpy(&command.add, in.data(), sizeof command.add);
      return command;
    }
  };
  using Reply = std::uint64_t;
  using State = std::pair<std::uint64_t, std::uint64_t>;

  Reply apply(const Command& command) {
    value = value * 1099511628211ULL + command.add;
    return ++count;
  }
  Result<void> save(const StateSink& write) const {
    const std::uint64_t all[2] = {value, count};
    write(std::as_bytes(std::span(all)));
    return {};
  }
  Result<void> load(const StatePiece& piece) {
    std::uint64_t all[2] = {};
    if (piece.bytes.size() != sizeof all) return fail(ErrorCode::mismatch, "another state");
    std::memcpy(all, piece.bytes.data(), sizeof all);
    value = all[0];
    count = all[1];
    return {};
  }

  std::uint64_t value = 14695981039346656037ULL;
  std::uint64_t count = 0;
};

class SnapshotNodes {
 public:
  static constexpr std::uint64_t kSegment = 64U << 10;

  explicit SnapshotNodes(DeliveryThread delivery = DeliveryThread::predicate,
                         Level level = Level::durable)
      : addresses_(loopback_members(3)), nodes_(3) {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "tutti-snapshots-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    options.name = "chain";
    options.level = level;
    options.logged = true;
    options.delivery = delivery;
    options.message_max_bytes = 4096;
    options.log_segment_bytes = kSegment;
    options.snapshot_every_bytes = kSegment;
    options.keep_log_bytes = kSegment;
  }
  ~SnapshotNodes() {
    for (auto& node : nodes_) node.reset();
    std::filesystem::remove_all(root_);
  }
  SnapshotNodes(const SnapshotNodes&) = delete;
  SnapshotNodes& operator=(const SnapshotNodes&) = delete;

  [[nodiscard]] std::string folder(std::size_t member) const {
    return root_ + "/" + std::to_string(member);
  }
  [[nodiscard]] std::string log_folder(std::size_t member) const {
    return folder(member) + "/chain";
  }
  /// All at once; the first start of all founds the group. What each said.
  std::vector<Result<void>> start(const std::vector<std::size_t>& members) {
    const bool founds = !std::filesystem::exists(root_ + "/founded");
    if (founds) std::filesystem::create_directory(root_ + "/founded");
    std::vector<Result<void>> results(members.size());
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::size_t member = members[i];
      auto node = Node::create({.name = addresses_[member].name,
                                .members = addresses_,
                                .suspect_after = 20s,
                                .state_dir = folder(member),
                                .bootstrap = founds && member == 0,
                                .log = [this, member](LogLevel /*level*/, std::string_view text) {
                                  const std::lock_guard lock(said_mutex_);
                                  said_ +=
                                      addresses_[member].name + ": " + std::string(text) + "\n";
                                }});
      EXPECT_TRUE(node);
      nodes_[member].emplace();
      nodes_[member]->node = std::move(*node);
      auto chain = Replicated<Chain>::join(*nodes_[member]->node, options);
      EXPECT_TRUE(chain) << (chain ? "" : chain.error().message);
      nodes_[member]->chain = std::move(*chain);
      threads.emplace_back([this, i, member, &results] { results[i] = node_of(member).start(); });
    }
    threads.clear();
    return results;
  }
  /// As if the process had ended.
  void kill(const std::vector<std::size_t>& members) {
    for (const std::size_t member : members) nodes_[member].reset();
  }
  Node& node_of(std::size_t member) { return *nodes_[member]->node; }
  Replicated<Chain>& chain(std::size_t member) { return *nodes_[member]->chain; }
  GroupStatistics statistics(std::size_t member) { return chain(member).group().statistics(); }
  [[nodiscard]] Chain::State state(std::size_t member) {
    return chain(member).query([](const Chain& one) { return Chain::State(one.value, one.count); });
  }
  /// So many commands of about 1 KiB; returns once they are applied there.
  void send(std::size_t member, std::uint64_t count) {
    std::vector<std::byte> bytes(sizeof(std::uint64_t));
    std::optional<Ticket> last;
    for (std::uint64_t i = 0; i < count; ++i) {
      bytes.resize(sizeof(std::uint64_t));
      Chain::Command{++sent_, 1000}.encode(bytes);
      const Result<Ticket> sent =
          chain(member).group().send(std::span(std::as_const(bytes)), kPatience);
      ASSERT_TRUE(sent) << sent.error().message;
      last = *sent;
    }
    ASSERT_TRUE(chain(member).group().wait(*last, kPatience));
  }
  /// Sends until each of them has released what comes before that number.
  void send_until_released(std::size_t sender, const std::vector<std::size_t>& members,
                           std::uint64_t seq = 1) {
    ASSERT_TRUE(until([&] {
      send(sender, 50);
      bool all = !::testing::Test::HasFatalFailure();
      for (const std::size_t member : members) all = all && statistics(member).log_from >= seq;
      return all || ::testing::Test::HasFatalFailure();
    }));
  }
  /// They have applied the same, in the same order.
  void expect_equal(const std::vector<std::size_t>& members) {
    for (const std::size_t member : members) {
      const auto latest = chain(member).query_latest(
          [](const Chain& one) { return Chain::State(one.value, one.count); }, kPatience);
      ASSERT_TRUE(latest) << latest.error().message << "\n" << said();
      EXPECT_EQ(*latest, state(members.front())) << "member " << member;
      EXPECT_EQ(latest->second, sent_) << "member " << member;
    }
  }
  /// The numbers of the snapshots in the folder, oldest first.
  [[nodiscard]] std::vector<std::uint64_t> snapshots(std::size_t member) const {
    std::vector<std::uint64_t> out;
    for (const auto& file : std::filesystem::directory_iterator(log_folder(member))) {
      const auto seq = log::seq_of_snapshot(file.path().filename().string());
      if (seq) out.push_back(*seq);
    }
    std::ranges::sort(out);
    return out;
  }
  void damage(std::size_t member, std::uint64_t snapshot) const {
    const std::string path = log_folder(member) + "/" + log::snapshot_name(snapshot);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  }
  [[nodiscard]] std::string said() {
    const std::lock_guard lock(said_mutex_);
    return said_;
  }
  [[nodiscard]] std::uint64_t sent() const { return sent_; }

  GroupOptions options{};  ///< of the nodes that start from now on

 private:
  struct One {
    std::optional<Node> node{};
    std::optional<Replicated<Chain>> chain{};
    ~One() {
      chain.reset();
      node.reset();
    }
  };

  std::vector<MemberAddress> addresses_;
  std::string root_;
  std::vector<std::optional<One>> nodes_;
  std::uint64_t sent_ = 0;
  std::mutex said_mutex_;
  std::string said_;
};

}  // namespace tutti
