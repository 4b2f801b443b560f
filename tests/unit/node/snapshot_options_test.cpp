#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tutti/options.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

template <class Change>
std::string error_with(Change change) {
  GroupOptions group{.name = "log"};
  change(group);
  const Result<void> valid = group.validate();
  return valid ? "accepted" : valid.error().message;
}

TEST(Options, SnapshotsAreOfAStateBesideALog) {
  const auto has_state = [](GroupOptions& g) {
    g.logged = g.stateful = true;
    g.save_state = [](const StateSink&) -> Result<void> { return {}; };
    g.load_state = [](const StatePiece&) -> Result<void> { return {}; };
  };
  EXPECT_EQ(error_with([&](auto& g) {
              has_state(g);
              g.snapshot_every_bytes = 4096;
              g.snapshot_every = 10ms;
              g.keep_log_bytes = 0;
              g.log_segment_bytes = 256U << 10;
            }),
            "accepted");
  EXPECT_THAT(error_with([](auto& g) { g.snapshot_every_bytes = 4096; }),
              HasSubstr("snapshot_every_bytes needs logged = true and stateful = true"));
  EXPECT_THAT(error_with([](auto& g) {
                g.logged = true;
                g.snapshot_every = 1s;
              }),
              HasSubstr("snapshot_every needs logged = true and stateful = true"));
  EXPECT_THAT(error_with([&](auto& g) {
                has_state(g);
                g.snapshot_every_bytes = 4095;
              }),
              HasSubstr("snapshot_every_bytes is 4095; legal: 0, or 4096 .."));
  EXPECT_THAT(error_with([&](auto& g) {
                has_state(g);
                g.snapshot_every = 9ms;
              }),
              HasSubstr("legal: 0, or 10 ms .. 1 day"));
  for (const std::uint64_t bytes :
       {0ULL, 4096ULL, (256ULL << 10) - 4096, (256ULL << 10) + 1, (1ULL << 30) + 4096}) {
    EXPECT_THAT(error_with([&](auto& g) {
                  g.logged = true;
                  g.log_segment_bytes = bytes;
                }),
                HasSubstr("legal: a multiple of 4096, 262144"))
        << bytes;
  }
}

}  // namespace
}  // namespace tutti
