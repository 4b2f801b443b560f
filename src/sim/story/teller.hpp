/// \file teller.hpp
/// Tells what the members of a scripted world do, a line for each thing, in words:
///
///     +2   b pushes to a, c: received[a] = 1
///          b delivers a1
///
/// that is, two delays after the command b posted to a and c that it has received a's first round,
/// and then delivered a's first message. It tells only what changes. Threads: one.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/story/row_words.hpp"
#include "sim/story/scripted_world.hpp"

namespace tutti::sim {

/// What is told besides posts, decisions and what applications do.
struct Telling {
  bool sees = false;
  bool heartbeats = false;
  bool sleep = false;
  bool hushed = false;  ///< nothing at all, for now
};

class Teller final : public ScriptEvents {
 public:
  /// `plan` outlives it.
  explicit Teller(const RowPlan& plan);

  void follow(const ScriptedWorld& world, bool shared) {
    world_ = &world;
    shared_ = shared;
  }
  [[nodiscard]] Telling& telling() { return telling_; }

  /// Times are told relative to this.
  void begin();
  /// All that was told since.
  [[nodiscard]] std::string take() { return std::exchange(text_, {}); }
  /// When something was told last, or begin() called.
  [[nodiscard]] std::uint64_t last_ns() const { return last_ns_; }
  void tell(std::uint32_t slot, const std::string& what);
  /// Adds to the last line if that is of the same kind.
  void tell_also(std::uint32_t slot, const std::string& what);
  /// At what its application did between passes.
  void look_at(std::uint32_t slot);

  // ScriptEvents.
  void posted(const Net::Posted& posted) override;
  void wakes(std::uint32_t slot, bool by_doorbell) override;
  void passed(std::uint32_t slot) override;
  void sleeps(std::uint32_t slot) override;
  void gone(std::uint32_t slot, const std::string& why) override;
  void hears_loss(std::uint32_t slot, std::uint32_t of) override;

 private:
  using Texts = std::vector<std::string>;
  // What one node knows of another's row: what was posted to it, or what it saw there last.
  struct Known {
    std::vector<std::byte> row{};
    bool greeted = false;
    std::uint64_t since = 0;  // the view that the owner was in then
  };

  [[nodiscard]] Known& known(std::vector<Known>& all, std::uint32_t whose, std::uint32_t other);
  // Takes over the words of `bytes`. Returns what is new, and what that means.
  [[nodiscard]] Texts learn(Known& known, std::uint32_t owner, std::size_t offset,
                            std::span<const std::byte> bytes);
  void see(std::uint32_t slot);
  void tell_posts(std::uint32_t slot);
  void tell_events(std::uint32_t slot);
  void tell_views(std::uint32_t slot);
  std::size_t tell_event(std::uint32_t slot, const std::vector<history::Event>& events,
                         std::size_t at);
  std::string view_text(const std::vector<history::Event>& events, std::size_t& at) const;

  const RowPlan& plan_;
  RowWords words_;
  const ScriptedWorld* world_ = nullptr;
  bool shared_ = false;
  Telling telling_;
  std::string text_;
  std::uint64_t began_ns_ = 0;
  std::uint64_t told_ns_ = ScriptedWorld::kNever;  // the time that is in the text last
  std::uint64_t last_ns_ = 0;
  std::optional<std::uint32_t> goes_on_;                // whose last line
  std::vector<Known> posted_;                           // [from * nodes + to]
  std::vector<Known> seen_;                             // [reader * nodes + of]
  std::vector<std::pair<std::uint32_t, Texts>> posts_;  // of this pass, by receiver
  bool looked_ = false;                                 // in this pass
  struct Heard {
    std::uint64_t incarnation = 0;
    std::size_t events = 0;
    std::deque<std::pair<std::uint64_t, std::string>> views{};  // the application has yet to hear
  };
  std::vector<Heard> heard_;  // by slot: how far its history is told
};

}  // namespace tutti::sim
