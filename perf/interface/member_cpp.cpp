// A member through the C++ interface; member_c.c does the same.
#include <cstdio>

#include "interface.h"
#include "tutti/tutti.hpp"

namespace {

using std::chrono::nanoseconds;

void send_until_stopped(tutti::Group& group, const plan& plan, const shared& shared) {
  std::uint64_t number = 0;
  while (stops(&shared) == 0) {
    for (int i = 0; i < MESSAGES_AT_ONCE; ++i) {
      tutti::Claim claim = group.try_claim(plan.size);
      if (!claim) {
        tutti::Result<tutti::Claim> waited = group.claim(plan.size, nanoseconds(WAIT_NS));
        if (!waited) break;
        claim = std::move(*waited);
      }
      fill(claim.data(), plan.size, number++);
      group.commit(std::move(claim));
    }
  }
}

int complain(const tutti::Error& error) {
  std::fprintf(stderr, "interface_cpp: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

int run_member(const plan* plan, std::uint32_t rank, shared* shared) {
  tutti::NodeOptions options{.name = plan->names[rank], .fabric = tutti::FabricChoice::shm};
  for (std::uint32_t i = 0; i < plan->members; ++i) {
    options.members.push_back({plan->names[i], plan->addresses[i]});
  }
  const auto deliver = [shared, rank](std::span<const tutti::Message> messages) {
    std::uint64_t sum = 0;
    for (const tutti::Message& message : messages) sum += first_word(message.data, message.size);
    count(shared, rank, messages.size(), sum);
  };
  auto node = tutti::Node::create(std::move(options));
  if (!node) return complain(node.error());
  auto group = node->join({.name = "g", .on_delivery = deliver});
  if (!group) return complain(group.error());
  if (auto begun = node->start(); !begun) return complain(begun.error());
  started();
  send_until_stopped(*group, *plan, *shared);
  const auto stopped = node->stop(nanoseconds(END_TIMEOUT_NS));
  return stopped ? 0 : complain(stopped.error());
}
