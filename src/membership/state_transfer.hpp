/// \file state_transfer.hpp
/// Hands the groups' states to members that join, through the table: the first two survivors of a
/// view give, those who joined it take from the first of them that lives.
///
/// The state is saved at once, when the view begins (M9), and goes through a ring in the giver's
/// row, as fast as the slowest who takes frees it. If the first giver is lost or cannot save, all
/// of the other's is taken: two members need not write the same state as the same bytes. All groups
/// follow each other in one stream: group | bytes | crc32c, then the bytes, padded to 8. A giver
/// that goes on to another view still gives the state of the one before to those who have not gone
/// on.
///
/// A giver that suspects a taker goes on in its ring without it: what it posted to that one before
/// then lands with other bytes (F-data). So damage is taken for the loss of the giver.
/// Threads: the predicate thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "membership/group_seat.hpp"
#include "membership/state_words.hpp"
#include "membership/view.hpp"
#include "predicates/predicate_loop.hpp"
#include "tutti/error.hpp"
#include "tutti/state.hpp"

namespace tutti {

/// What a node has, or wants, of a group's state.
struct GroupState {
  std::string name;  ///< of the group
  SaveState save;    ///< both empty: the group has no state
  LoadState load;
};

template <class Memory>
class StateTransfer final : public Stepped {
 public:
  StateTransfer(const StateWords& words, std::vector<GroupState> groups, std::byte* own_row,
                RowOf row_of, Memory memory = {});

  [[nodiscard]] bool has_state(std::size_t group) const { return groups_[group].save != nullptr; }
  [[nodiscard]] bool has_states() const;

  /// The view begins, and nothing is delivered in it yet: gives to those who joined it, or takes,
  /// as befits the rank of this node's slot. True if it takes.
  bool begin(const View& view, std::uint32_t slot);

  /// The node in that slot is gone: it gives and takes nothing more.
  void gone(std::uint32_t slot);

  enum class Taking : std::uint8_t {
    nothing,
    under_way,
    done,
    lost,    ///< all givers are gone: another start may find others
    failed,  ///< see error()
  };
  [[nodiscard]] Taking taking() const { return taking_; }
  [[nodiscard]] const Error& error() const { return error_; }

  bool step(Fabric& fabric) override;
  bool deliver() override { return false; }
  [[nodiscard]] bool calls_application() const override { return taking_ == Taking::under_way; }

 private:
  static constexpr std::size_t kHeaderBytes = 24;
  static constexpr std::size_t kGivers = 2;

  struct Offer {
    std::uint64_t view = 0;
    std::size_t giver = 0;              // which of the givers we are
    std::vector<std::uint32_t> takers;  // slots
    std::vector<std::byte> stream;
    bool failed = false;
    bool begun = false;
    std::uint64_t sent = 0;
  };
  // Of the stream that is taken: the group whose bytes come, and what is left of them.
  struct Incoming {
    std::uint64_t group = 0;
    std::uint64_t left = 0;
    std::uint64_t padding = 0;
    std::uint32_t expected_crc = 0;
    std::uint32_t crc = 0;
    bool first = false;
  };

  [[nodiscard]] Result<void> save(std::size_t group, std::vector<std::byte>& stream) const;
  void give(const View& view, std::size_t giver);
  bool send(Offer& offer, Fabric& fabric);
  void open(Offer& offer, Fabric& fabric);
  void put(const Offer& offer, std::uint64_t bytes, Fabric& fabric);
  void publish_words(const Offer& offer, Fabric& fabric);
  [[nodiscard]] std::uint64_t least_taken(const Offer& offer) const;
  void drop_the_done(Offer& offer);
  void say_taken(std::size_t giver, std::uint64_t taken, Fabric& fabric);
  bool receive(Fabric& fabric);
  void leave_giver(Fabric& fabric);
  void accept(std::span<const std::byte> bytes);
  void accept_header();
  std::size_t accept_piece(std::span<const std::byte> bytes);
  void fail(ErrorCode code, std::string message);
  [[nodiscard]] std::uint64_t load(std::uint32_t slot, std::size_t offset) const {
    return memory_.load(row_of_(slot) + words_.offset + offset);
  }
  [[nodiscard]] std::byte* own(std::size_t offset) const {
    return own_row_ + words_.offset + offset;
  }

  const StateWords words_;
  const std::vector<GroupState> groups_;
  std::byte* own_row_;
  RowOf row_of_;
  Memory memory_;

  std::deque<Offer> offers_;

  Taking taking_ = Taking::nothing;
  Error error_{};
  std::uint64_t view_ = 0;                            // of the state that is taken
  std::vector<std::optional<std::uint32_t>> givers_;  // slots; nothing: gone
  std::size_t giver_ = 0;                             // the one that is taken from
  std::uint64_t taken_ = 0;
  std::vector<std::byte> header_;  // as far as it has come
  std::optional<Incoming> incoming_;
  bool damaged_ = false;  // what came is not what a giver sends
};

}  // namespace tutti
