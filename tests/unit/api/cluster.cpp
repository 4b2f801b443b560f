#include "cluster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "support/loopback.hpp"

namespace tutti {
namespace {

bool names(const std::vector<std::string>& members, const std::string& name) {
  return members.empty() || std::ranges::find(members, name) != members.end();
}

DeliveryCallback note_in(Deliveries& deliveries) {
  return [&deliveries](std::span<const Message> batch) {
    for (const Message& message : batch) {
      deliveries.push_back(std::to_string(message.seq.value) + " " +
                           std::to_string(message.sender.value) + " " +
                           std::string(message.text()));
    }
  };
}

}  // namespace

TestCluster::TestCluster(const ClusterOptions& options)
    : deliveries_(options.members, std::vector<Deliveries>(options.groups.size())),
      groups_(options.members) {
  const std::vector<MemberAddress> addresses = loopback_members(options.members);
  for (std::size_t member = 0; member < options.members; ++member) {
    auto node = Node::create({.name = addresses[member].name,
                              .members = addresses,
                              .fabric = options.fabric,
                              .drive = options.drive,
                              .idle = options.idle});
    EXPECT_TRUE(node) << node.error().message;
    nodes_.push_back(std::move(*node));
    for (std::size_t index = 0; index < options.groups.size(); ++index) {
      GroupOptions group = options.groups[index];
      if (!names(group.members, addresses[member].name)) continue;
      if (!group.on_delivery) group.on_delivery = note_in(deliveries_[member][index]);
      auto joined = nodes_.back().join(group);
      EXPECT_TRUE(joined) << joined.error().message;
      groups_[member].push_back(*joined);
    }
  }
}

void TestCluster::start() {
  std::vector<std::jthread> threads;
  threads.reserve(nodes_.size());
  for (Node& node : nodes_) {
    threads.emplace_back([&node] {
      const Result<void> started = node.start();
      EXPECT_TRUE(started) << started.error().message;
    });
  }
}

std::vector<Result<void>> TestCluster::stop(std::chrono::nanoseconds timeout) {
  std::vector<Result<void>> results(nodes_.size());
  std::vector<std::jthread> threads;
  threads.reserve(nodes_.size());
  for (std::size_t member = 0; member < nodes_.size(); ++member) {
    threads.emplace_back([&, member] { results[member] = nodes_[member].stop(timeout); });
  }
  threads.clear();
  return results;
}

}  // namespace tutti
