#include "journal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tutti {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool same_members(const ViewChange& one, const ViewChange& other) {
  return one.members == other.members && one.incarnations == other.incarnations;
}

void expect_fits(const ViewChange& view, const std::string& who) {
  ASSERT_EQ(view.members.size(), view.incarnations.size());
  ASSERT_LT(view.rank.value, view.members.size());
  EXPECT_EQ(view.members[view.rank], who);
  for (const std::string& name : view.joined)
    EXPECT_TRUE(contains(view.members.all(), name)) << name;
}

// What is said of the change, and what it was. A name may come again with another incarnation.
void expect_difference(const ViewChange& before, const ViewChange& after) {
  EXPECT_EQ(after.view, before.view + 1);
  std::vector<std::string> members;
  std::size_t left = 0;
  for (Rank rank; rank.value < before.members.size(); ++rank.value) {
    const auto is_it = [&](const Departure& gone) {
      return gone.member == before.members[rank] && gone.incarnation == before.incarnations[rank];
    };
    if (std::ranges::any_of(after.left, is_it)) {
      ++left;
    } else {
      members.push_back(before.members[rank]);
    }
  }
  EXPECT_EQ(left, after.left.size()) << "only who was there can leave";
  members.insert(members.end(), after.joined.begin(), after.joined.end());
  EXPECT_EQ(members, after.members.all()) << "survivors first, then who joined";
}

struct InView {
  ViewChange view;
  std::vector<Told> messages;  // the most that anybody had
};

// Some are a beginning of all, or all of them.
void expect_part(const std::vector<Told>& all, const std::vector<Told>& some, bool whole) {
  if (whole) {
    EXPECT_EQ(some.size(), all.size());
  }
  ASSERT_LE(some.size(), all.size());
  const auto differ = std::ranges::mismatch(some, all).in1;
  ASSERT_EQ(differ, some.end()) << "at " << differ - some.begin() << ": " << differ->seq << " "
                                << differ->text;
}

std::vector<Told> joined(const std::map<std::uint64_t, InView>& views) {
  std::vector<Told> all;
  for (const auto& [id, view] : views) {
    all.insert(all.end(), view.messages.begin(), view.messages.end());
  }
  return all;
}

void expect_all_of(const Account& account, const std::vector<Told>& all) {
  std::uint64_t next = 0;
  for (const Told& told : all) {
    if (!told.text.starts_with(account.prefix + " ")) continue;
    ASSERT_EQ(told.text, account.prefix + " " + std::to_string(next)) << "at " << told.seq;
    ++next;
  }
  if (account.ended) {
    EXPECT_EQ(next, account.sent) << "of " << account.prefix;
  } else {
    EXPECT_LE(next, account.sent) << "of " << account.prefix;
  }
}

}  // namespace

void Journal::note(const ViewChange& change) {
  const std::lock_guard lock(mutex_);
  EXPECT_LT(replayed_view_, change.view) << "a message before its view";
  stretches_.push_back({change, {}});
}

void Journal::note(std::span<const Message> batch) {
  const std::lock_guard lock(mutex_);
  std::vector<Told>& into = stretches_.empty() ? replayed_ : stretches_.back().messages;
  for (const Message& message : batch) {
    into.push_back({message.seq.value, message.sender.value, std::string(message.text())});
    if (stretches_.empty()) replayed_view_ = std::max(replayed_view_, message.view);
  }
  messages_ += batch.size();
}

std::vector<Stretch> Journal::stretches() const {
  const std::lock_guard lock(mutex_);
  return stretches_;
}

std::vector<Told> Journal::replayed() const {
  const std::lock_guard lock(mutex_);
  return replayed_;
}

std::uint64_t Journal::view() const {
  const std::lock_guard lock(mutex_);
  return stretches_.empty() ? 0 : stretches_.back().view.view;
}

std::size_t Journal::messages() const {
  const std::lock_guard lock(mutex_);
  return messages_;
}

std::vector<Told> Journal::sequence() const {
  std::vector<Told> all = replayed();
  for (const Stretch& stretch : stretches()) {
    all.insert(all.end(), stretch.messages.begin(), stretch.messages.end());
  }
  return all;
}

void expect_one_story(const std::vector<Account>& accounts, Level level) {
  std::map<std::uint64_t, InView> views;
  const auto is_whole = [](const Account& account, const std::vector<Stretch>& all, std::size_t i) {
    return (account.ended && !account.left) || i + 1 < all.size();
  };
  // At other levels who dies may have been delivered what nobody else will be.
  const auto counts = [&](bool whole) { return whole || level == Level::atomic; };
  for (const Account& account : accounts) {
    const std::vector<Stretch> all = account.journal->stretches();
    for (std::size_t i = 0; i < all.size(); ++i) {
      expect_fits(all[i].view, account.who);
      if (i > 0) expect_difference(all[i - 1].view, all[i].view);
      InView& view = views.try_emplace(all[i].view.view, InView{all[i].view, {}}).first->second;
      EXPECT_TRUE(same_members(view.view, all[i].view)) << "view " << all[i].view.view;
      if (!counts(is_whole(account, all, i))) continue;
      if (all[i].messages.size() > view.messages.size()) view.messages = all[i].messages;
    }
  }
  for (const Account& account : accounts) {
    const std::vector<Stretch> all = account.journal->stretches();
    for (std::size_t i = 0; i < all.size(); ++i) {
      SCOPED_TRACE(account.who + " in view " + std::to_string(all[i].view.view));
      const bool whole = is_whole(account, all, i);
      if (counts(whole)) expect_part(views[all[i].view.view].messages, all[i].messages, whole);
    }
  }
  const std::vector<Told> all = joined(views);
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i].seq, i);
  for (const Account& account : accounts) {
    if (account.sent) expect_all_of(account, all);
  }
}

}  // namespace tutti
