/// \file journal.hpp
/// What one start of a node was told of one group: views and messages, in the order in which it was
/// told; and whether the journals of all tell one story.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/tutti.hpp"

namespace tutti {

struct Told {
  std::uint64_t seq = 0;
  std::uint32_t sender = 0;
  std::string text{};
  bool operator==(const Told&) const = default;
};

/// A view, and the messages that were delivered in it.
struct Stretch {
  ViewChange view{};
  std::vector<Told> messages{};
};

/// Any thread.
class Journal {
 public:
  void note(const ViewChange& change);
  void note(std::span<const Message> batch);

  [[nodiscard]] std::vector<Stretch> stretches() const;
  [[nodiscard]] std::size_t messages() const;
  /// The number of the last view that was told; 0 before the first.
  [[nodiscard]] std::uint64_t view() const;
  [[nodiscard]] std::vector<Told> sequence() const;
  /// What came before the first view, from a log.
  [[nodiscard]] std::vector<Told> replayed() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Told> replayed_;
  std::uint64_t replayed_view_ = 0;  // the newest of theirs
  std::vector<Stretch> stretches_;
  std::size_t messages_ = 0;
};

/// A journal with what is known of its node.
struct Account {
  const Journal* journal = nullptr;
  std::string who{};   ///< name of the member
  bool ended = false;  ///< by stop() or leave(), and that went well: all that it sent is there
  bool left = false;   ///< by leave(): the others may have been delivered more in its last view
  /// It sent so many messages, "PREFIX NUMBER" with numbers from 0; nothing if others did as well.
  std::optional<std::uint64_t> sent{};
  std::string prefix{};
};

/// Fails the test unless: the views are the same to all that were in them, with everyone's rank,
/// and their differences are what is said of them; in each view all were delivered the same
/// messages, who died perhaps fewer of them; these are numbered without a gap; and of each sender
/// there are its first messages, once and in order, all of them if it ended well.
void expect_one_story(const std::vector<Account>& accounts, Level level);

}  // namespace tutti
