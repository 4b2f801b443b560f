// State directories that were put back from an older copy (RY6).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/restart/recovery_trio.hpp"

namespace tutti::restart {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::RecoveryTrio;
using testing::view_of;
using testing::views_at;
using Stage = Recovery::Stage;

constexpr std::uint32_t kA = 0;
constexpr std::uint32_t kB = 1;
constexpr std::uint32_t kC = 2;

Views first_views(std::uint32_t slot) {
  Views views = views_at(slot);
  views.edition = {.directory = 10 + slot, .saves = 1};
  return views;
}

class PutBack : public ::testing::Test {
 protected:
  // They begin view 5.
  PutBack() {
    for (const std::uint32_t slot : {kA, kB, kC}) trio_.start(slot, first_views(slot));
    go_on();
    trio_.found({kA, kB, kC});
  }
  void go_on() {
    trio_.connect_all();
    trio_.deliver();
    trio_.tick();
  }
  // After whatever crash.
  void start_again(std::uint32_t slot) {
    const std::optional<Views> views = trio_.members[slot].on_disk();
    trio_.start(slot, views);
  }
  [[nodiscard]] std::string error_of(std::uint32_t slot) {
    return trio_.at(slot).error() ? trio_.at(slot).error()->message : "";
  }
  [[nodiscard]] std::vector<Edition> heard_on_disk(std::uint32_t slot, std::uint32_t of) {
    const std::optional<Views> views = trio_.members[slot].on_disk();
    for (const HeardOf& one : views->heard) {
      if (one.slot == of) return one.editions;
    }
    return {};
  }

  RecoveryTrio trio_;
};

TEST_F(PutBack, BesideMembersThatRunEndsTheNode) {
  trio_.stop(kC);
  trio_.start(kC, first_views(kC));
  go_on();
  EXPECT_EQ(trio_.at(kC).error()->code, ErrorCode::damaged);
  EXPECT_THAT(error_of(kC), AllOf(HasSubstr("the state directory /s was put back from an older"),
                                  HasSubstr(" has heard of save "), HasSubstr("has save 1 now"),
                                  HasSubstr("move it away")));
  EXPECT_EQ(error_of(kA), "");
  EXPECT_EQ(error_of(kB), "");
}

TEST_F(PutBack, DoesNotCountInARestart) {
  for (const std::uint32_t slot : {kA, kB, kC}) trio_.stop(slot);
  start_again(kA);
  trio_.start(kC, first_views(kC));
  go_on();
  EXPECT_NE(error_of(kC), "");
  EXPECT_EQ(trio_.at(kA).stage(), Stage::back);
  EXPECT_THAT(
      trio_.at(kA).why(),
      AllOf(HasSubstr("view 5 of a, b, c: waits for b or c"),
            HasSubstr("the state directory of c was put back from an older copy: it told")));
  start_again(kB);
  go_on();
  EXPECT_EQ(trio_.at(kA).stage(), Stage::founds);
  EXPECT_EQ(*trio_.at(kA).founds(), view_of(7, {kA, kB}));
}

// The node with the older copy leads, and hears of nothing.
TEST_F(PutBack, IsNotFollowed) {
  for (const std::uint32_t slot : {kA, kB, kC}) trio_.stop(slot);
  start_again(kB);
  trio_.at(kB).up(kA);
  trio_.links.insert({kA, kB});
  trio_.say(kA, kB, Hello{{.views = first_views(kA)}});
  const std::optional<Views> before = trio_.members[kB].on_disk();
  trio_.say(kA, kB, Prepare{restart_ballot(9, kA), before->chain});
  EXPECT_EQ(trio_.members[kB].on_disk(), before);
  // Its next process has the right directory.
  trio_.wire.clear();
  trio_.disconnect(kA, kB);
  start_again(kA);
  go_on();
  EXPECT_EQ(trio_.at(kB).stage(), Stage::founds);
}

// What b and c have heard is not on their disks yet.
TEST_F(PutBack, IsNoticedByWhatMembersHaveInMemory) {
  const Views older = *trio_.members[kA].on_disk();
  trio_.at(kA).confirm(5);
  trio_.at(kA).accept({.ballot = 1, .proposal = {.follows = 5, .next = view_of(6, {kA, kB})}});
  trio_.deliver();
  trio_.stop(kA);
  trio_.start(kA, older);
  trio_.connect_all();
  trio_.deliver();
  EXPECT_NE(error_of(kA), "");
}

TEST_F(PutBack, IsNoticedIfItIsAnEarlierDirectory) {
  trio_.stop(kC);
  trio_.members[kC].lose_disk();
  ASSERT_EQ(trio_.at(kA).install(view_of(6, {kA, kB})), Recovery::Installed::yes);
  ASSERT_EQ(trio_.at(kB).install(view_of(6, {kA, kB})), Recovery::Installed::yes);
  trio_.start(kC, std::nullopt);
  go_on();
  ASSERT_TRUE(trio_.at(kC).may_join()) << trio_.at(kC).why();
  trio_.enter(kC, view_of(7, {kA, kB, kC}));
  EXPECT_EQ(error_of(kC), "");
  trio_.tick();
  trio_.stop(kC);
  Views earlier = first_views(kC);
  earlier.edition.saves = 1000;
  trio_.start(kC, earlier);
  go_on();
  EXPECT_THAT(error_of(kC), HasSubstr("has save 1000 of a directory before that one"));
}

// ED1.
TEST_F(PutBack, IsNoCrash) {
  for (int round = 0; round < 3; ++round) {
    for (const std::uint32_t slot : {kA, kB, kC}) trio_.stop(slot);
    for (const std::uint32_t slot : {kA, kB, kC}) start_again(slot);
    go_on();
    trio_.found({kA, kB, kC});
    trio_.tick();
  }
  for (const std::uint32_t slot : {kA, kB, kC}) EXPECT_EQ(error_of(slot), "");
}

TEST_F(PutBack, IsRememberedByAllMembersOfAView) {
  trio_.tick();
  for (const std::uint32_t slot : {kA, kB, kC}) {
    for (const std::uint32_t other : {kA, kB, kC}) {
      if (slot == other) continue;
      // Its last save may be one of what it has heard, of which it has told nobody.
      const Edition there = trio_.members[other].on_disk()->edition;
      ASSERT_EQ(heard_on_disk(slot, other).size(), 1U);
      EXPECT_EQ(heard_on_disk(slot, other)[0].directory, there.directory);
      EXPECT_GE(heard_on_disk(slot, other)[0].saves + 1, there.saves);
    }
  }
  // Nothing is written while nothing is heard.
  const std::optional<Views> before = trio_.members[kA].on_disk();
  trio_.tick();
  EXPECT_EQ(trio_.members[kA].on_disk(), before);
}

// A process that ended between the rename and the sync of the directory.
TEST_F(PutBack, IsNotWhatAnEarlierProcessHadNotSynced) {
  trio_.stop(kC);
  const Views before = *trio_.members[kC].on_disk();
  Views after = before;
  ++after.edition.saves;
  trio_.members[kC].disk.on_operation([](const tutti::testing::DiskOperation& one) {
    return one.step == tutti::testing::DiskStep::sync_directory ? tutti::testing::DiskFate::io_error
                                                                : tutti::testing::DiskFate::done;
  });
  ASSERT_FALSE(trio_.members[kC].file->save(after));
  trio_.members[kC].disk.on_operation({});
  ASSERT_EQ(trio_.members[kC].on_disk(), before);
  const auto loaded = trio_.members[kC].file->load();
  ASSERT_TRUE(loaded && *loaded);
  ASSERT_EQ(**loaded, after);
  Recovery next(*trio_.members[kC].file, *trio_.members[kB].logs, trio_.members[kC],
                trio_.members[kC], {.slot = kC, .names = trio_.names, .views = **loaded});
  next.start();
  EXPECT_EQ(trio_.members[kC].on_disk(), after);
}

}  // namespace
}  // namespace tutti::restart
