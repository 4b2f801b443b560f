/// \file row_words.hpp
/// Describes the words of a row: for stories, which tell what members post and see.
///
/// It tells what a word means once it has changed. It leaves out what only prepares the next view
/// (cleared blocks, epochs, bases); docs/protocol.md explains that. One group. Threads: one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/row_plan.hpp"
#include "membership/proposal.hpp"
#include "sst/sender_index.hpp"

namespace tutti::sim {

class RowWords {
 public:
  /// `plan` outlives it.
  explicit RowWords(const RowPlan& plan) : plan_(plan) {}

  /// Which members a view has. View 0 has all nodes, by slot.
  void learn(const View& view) { views_[view.id] = view; }

  /// The offset at which the words of a row begin; they end at its rings.
  [[nodiscard]] std::size_t begin() const;
  [[nodiscard]] std::size_t end() const;

  /// The meaning of a change: the word at `offset` of this row of the node `owner` was `before`.
  /// Empty if a story does not tell it.
  [[nodiscard]] std::string changed(Slot owner, const std::byte* row, std::size_t offset,
                                    std::uint64_t before) const;
  [[nodiscard]] bool is_heartbeat(std::size_t offset) const;
  /// Whether it is a word of the membership about a view before `view`.
  [[nodiscard]] bool is_older(const std::byte* row, std::size_t offset, std::uint64_t view) const;
  /// Which view the owner of the row is in.
  [[nodiscard]] static std::uint64_t view_of(std::span<const std::byte> row);

  /// What the bytes written to `offset` of that row are: messages, a proposal, a state.
  [[nodiscard]] std::string data(Slot owner, std::size_t offset, std::span<const std::byte> bytes);

  [[nodiscard]] const std::string& name(Slot slot) const { return plan_.names[slot]; }
  /// "a, b, c"
  [[nodiscard]] std::string names(const std::vector<ViewMember>& members) const;

 private:
  [[nodiscard]] std::string life(std::size_t offset, std::uint64_t now) const;
  [[nodiscard]] std::string block(Slot owner, const std::byte* row, std::size_t begin,
                                  std::size_t offset, std::uint64_t before) const;
  [[nodiscard]] std::string group(std::uint64_t view, std::size_t offset, std::uint64_t before,
                                  std::uint64_t now) const;
  // Nothing for a word that has the same meaning in every order.
  [[nodiscard]] std::optional<std::string> chain(std::uint64_t view, std::size_t offset,
                                                 std::uint64_t now) const;
  [[nodiscard]] std::optional<std::string> token(std::uint64_t view, std::size_t offset,
                                                 std::uint64_t now) const;
  [[nodiscard]] std::string passed(std::uint64_t view, std::size_t offset, std::uint64_t now) const;
  [[nodiscard]] std::string state(std::size_t offset, std::uint64_t now) const;
  [[nodiscard]] std::string messages(Slot owner, std::span<const std::byte> bytes) const;
  [[nodiscard]] std::string frames(Slot owner, std::span<const std::byte> bytes) const;
  [[nodiscard]] std::string proposal(Slot owner, std::span<const std::byte> bytes);
  // Names of the senders of the view, in their order.
  [[nodiscard]] IndexedBy<SenderIndex, std::string> senders(std::uint64_t view) const;
  [[nodiscard]] std::string ranked(std::uint64_t view, std::uint64_t rank) const;

  const RowPlan& plan_;
  std::map<std::uint64_t, View> views_;
  struct Told {
    Proposal proposal;
    Slot by;
  };
  std::vector<Told> told_;  // in full
};

/// Messages by their senders' names and tickets: "a1, b1, a2 to a5".
class MessageList {
 public:
  void add(const std::string& sender, std::uint64_t ticket);
  [[nodiscard]] std::string text() const;

 private:
  struct Run {
    std::string sender;
    std::uint64_t first;
    std::uint64_t last;
  };
  std::vector<Run> runs_;
};

/// "1 null", "2 nulls"
[[nodiscard]] std::string counted(std::uint64_t count, const std::string& what);

}  // namespace tutti::sim
