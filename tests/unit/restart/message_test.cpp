#include "restart/message.hpp"

#include <gtest/gtest.h>

#include "base/prng.hpp"
#include "unit/restart/some_views.hpp"

namespace tutti::restart {
namespace {

using testing::log_of;
using testing::told_of;
using testing::view_of;

std::vector<RestartMessage> one_of_each() {
  const std::vector<ViewRecord> chain{view_of(1, {0, 1, 2}), view_of(2, {0, 1}, 2)};
  const Told told = told_of(chain, log_of({1, 1, 2}));
  const std::uint64_t ballot = restart_ballot(1, 0);
  const Proposed proposal{.follows = 2, .next = view_of(3, {0, 1}, 3), .restart = true};
  const GroupPlan plan{.cut = 3, .base_slot = 1, .base = log_of({1, 1, 2}), .sources = {{1, 0, 3}}};
  const OwnedRecord record{.seq = 3, .view = 2, .sender = 1, .tick = true, .data = {std::byte{5}}};
  return {Hello{told, true},
          Prepare{ballot, chain},
          Promise{ballot, told},
          Refuse{ballot, told, "why"},
          Propose{ballot, proposal, {plan}},
          Fetch{"log", 1, 3, 0, 17},
          Records{"log", false, {record}},
          Progress{ballot},
          Accept{ballot},
          Decided{proposal, chain},
          Fresh{},
          Runs{told, true},
          FetchSnapshot{"log", 7, 4096},
          SnapshotPiece{"log", 7, 4096, 5000, {std::byte{1}, std::byte{2}}}};
}

TEST(RestartMessages, WhatWasEncodedIsDecoded) {
  const std::vector<RestartMessage> all = one_of_each();
  ASSERT_EQ(all.size(), std::variant_size_v<RestartMessage>);
  for (const RestartMessage& message : all) {
    const std::vector<std::byte> bytes = encode(message);
    const auto decoded = decode(bytes);
    ASSERT_TRUE(decoded) << message.index();
    EXPECT_EQ(decoded->index(), message.index());
    EXPECT_EQ(encode(*decoded), bytes);
  }
}

// Its file may have been removed since the piece before.
TEST(RestartMessages, ASnapshotMayBeGone) {
  const RestartMessage gone = SnapshotPiece{.group = "log", .seq = 7, .offset = 4096};
  EXPECT_TRUE(decode(encode(gone)));
}

TEST(RestartMessages, AMessageThatIsShorterOrLongerIsRefused) {
  for (const RestartMessage& message : one_of_each()) {
    std::vector<std::byte> bytes = encode(message);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(decode(std::span(bytes).first(size))) << message.index() << ", " << size;
    }
    bytes.push_back({});
    EXPECT_FALSE(decode(bytes)) << message.index();
  }
}

// Whatever is decoded is sound enough to be encoded again; the address sanitizer watches the rest.
TEST(RestartMessages, SpoiltMessagesAreRefusedOrSound) {
  Prng random(1);
  std::size_t refused = 0;
  for (int round = 0; round < 3000; ++round) {
    for (const RestartMessage& message : one_of_each()) {
      std::vector<std::byte> bytes = encode(message);
      for (std::uint64_t i = 0; i <= random.below(3); ++i) {
        bytes[random.below(bytes.size())] = static_cast<std::byte>(random.below(256));
      }
      const auto decoded = decode(bytes);
      refused += decoded ? 0 : 1;
      if (decoded) {
        EXPECT_EQ(encode(*decoded), bytes);
      }
    }
  }
  EXPECT_GT(refused, 3000U);
}

TEST(RestartMessages, AnUnknownKindIsRefused) {
  EXPECT_FALSE(decode({}));
  const std::vector<std::byte> bytes{static_cast<std::byte>(std::variant_size_v<RestartMessage>)};
  EXPECT_FALSE(decode(bytes));
}

TEST(RestartMessages, PlansThatAreNotThoseOfTheProposalAreRefused) {
  Propose message = std::get<Propose>(one_of_each()[4]);
  message.plans[0].cut = 2;
  EXPECT_FALSE(decode(encode(message)));
  message.plans.clear();
  EXPECT_FALSE(decode(encode(message)));
  message.proposal.restart = false;
  EXPECT_TRUE(decode(encode(message)));
}

}  // namespace
}  // namespace tutti::restart
