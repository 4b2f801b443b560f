#include "conformance/harness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>

namespace tutti::testing {

std::chrono::seconds Deadline::limit() {
  const char* const seconds = std::getenv("TUTTI_TEST_WATCHDOG");
  return std::chrono::seconds(seconds == nullptr ? 30 : std::atoi(seconds));
}

Node::Node(Slot own, std::size_t row_bytes)
    : rank(own), row(Segment::create(row_bytes).value()), sleeper(Sleeper::create().value()) {}

void Node::store(std::uint64_t offset, std::uint64_t value) {
  auto* word = reinterpret_cast<std::uint64_t*>(row.data() + offset);
  // Pairs with load() at a peer that maps this row.
  std::atomic_ref<std::uint64_t>(*word).store(value, std::memory_order_release);
}

void Node::publish(Slot peer, std::uint64_t offset, std::size_t words) {
  fabric->publish(peer, offset, std::span(row.data() + offset, words * 8));
}

void Node::send(Slot peer, std::uint64_t offset, std::uint64_t value) {
  store(offset, value);
  publish(peer, offset);
  fabric->flush();
}

std::uint64_t Node::load(Slot peer, std::uint64_t offset) const {
  const auto* word =
      reinterpret_cast<const std::atomic<std::uint64_t>*>(fabric->row(peer) + offset);
  // Pairs with store() at the peer, or with the fabric's release store into the replica.
  return word->load(std::memory_order_acquire);
}

void Node::poll() {
  fabric->poll();
  std::ranges::move(fabric->take_losses(), std::back_inserter(losses));
}

void Node::sleep_unless(const std::function<bool()>& ready) {
  fabric->arm();
  poll();
  if (!ready()) sleeper->sleep(Deadline::sleep());
  fabric->disarm();
}

Result<void> Node::attach(ShmConnection peer) {
  const Slot slot = peer.peer;
  Result<void> attached = shm->attach(std::move(peer));
  if (attached) fabric->route(slot, *shm);
  return attached;
}

Result<void> Node::attach(TcpConnection peer) {
  const Slot slot = peer.peer;
  Result<void> attached = tcp->attach(std::move(peer));
  if (attached) fabric->route(slot, *tcp);
  return attached;
}

Result<void> Node::attach(VerbsConnection peer) {
  const Slot slot = peer.peer;
  Result<void> attached = verbs->attach(std::move(peer));
  if (attached) fabric->route(slot, *verbs);
  return attached;
}

Result<void> Node::attach(OfiConnection peer) {
  const Slot slot = peer.peer;
  Result<void> attached = ofi->attach(std::move(peer));
  if (attached) fabric->route(slot, *ofi);
  return attached;
}

void Node::detach(Slot peer) {
  fabric->unroute(peer);
  if (shm != nullptr) shm->detach(peer);
  if (tcp != nullptr) tcp->detach(peer);
  if (verbs != nullptr) verbs->detach(peer);
  if (ofi != nullptr) ofi->detach(peer);
}

World::World(std::size_t count, std::size_t row_bytes) {
  for (std::uint32_t i = 0; i < count; ++i) {
    nodes.push_back(std::make_unique<Node>(Slot{i}, row_bytes));
  }
}

void World::kill(std::size_t rank) {
  nodes[rank]->shm = nullptr;
  nodes[rank]->tcp = nullptr;
  nodes[rank]->verbs = nullptr;
  nodes[rank]->ofi = nullptr;
  nodes[rank]->fabric.reset();
  if (on_kill) on_kill(nodes[rank]->rank);
}

bool World::eventually(const std::function<bool()>& condition) {
  const Deadline deadline;
  while (!condition()) {
    if (deadline.passed()) return false;
    for (const auto& node : nodes) {
      if (node->fabric != nullptr) node->poll();
    }
  }
  return true;
}

bool World::eventually_drained() {
  return eventually([this] {
    return std::ranges::all_of(
        nodes, [](const auto& node) { return node->fabric == nullptr || node->fabric->drained(); });
  });
}

}  // namespace tutti::testing
