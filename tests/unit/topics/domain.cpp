#include "domain.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "support/loopback.hpp"

namespace tutti::dds {

bool until(const std::function<bool()>& holds) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) {
      ADD_FAILURE() << "waited in vain";
      return false;
    }
    std::this_thread::sleep_for(1ms);  // leaves the processor to whom we wait for
  }
  return true;
}

TestDomain::TestDomain(DomainOptions options)
    : options_(std::move(options)),
      addresses_(loopback_members(options_.participants)),
      members_(options_.participants) {
  for (std::size_t which = 0; which < size(); ++which) make(which);
}

TestDomain::~TestDomain() {
  for (std::size_t which = 0; which < size(); ++which) members_[which].participant.reset();
}

void TestDomain::make(std::size_t which) {
  NodeOptions options{.name = addresses_[which].name,
                      .members = addresses_,
                      .fabric = FabricChoice::shm,
                      .start_timeout = kPatience,
                      .founders = options_.founders,
                      .suspect_after = 20s};
  if (options_.adjust_node) options_.adjust_node(which, options);
  members_[which].node.emplace(must(Node::create(std::move(options))));
  ParticipantOptions participant = options_.participant;
  participant.timeout = kPatience;
  members_[which].participant.emplace(
      must(DomainParticipant::create(*members_[which].node, std::move(participant))));
}

void TestDomain::start() {
  std::vector<std::size_t> all(size());
  for (std::size_t which = 0; which < size(); ++which) all[which] = which;
  start(all);
}

void TestDomain::start(const std::vector<std::size_t>& which) {
  std::vector<std::jthread> threads;
  threads.reserve(which.size());
  for (const std::size_t each : which) {
    threads.emplace_back([this, each] {
      const Result<void> started = node(each).start();
      EXPECT_TRUE(started) << addresses_[each].name << ": " << started.error().message;
    });
  }
}

void TestDomain::kill(std::size_t which) {
  members_[which].node.reset();
  members_[which].participant.reset();
}

void TestDomain::renew(std::size_t which) {
  kill(which);
  make(which);
}

bool TestDomain::are_in_view_of(std::size_t members) const {
  for (const Member& member : members_) {
    if (member.node && member.node->view().members.size() != members) return false;
  }
  return true;
}

}  // namespace tutti::dds
