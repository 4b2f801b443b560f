/// \file delays.hpp
/// How long changes of view took, in one-way delays, for comparison with the bound G12
/// (docs/protocol.md).
///
/// A one-way delay is the longest that a word needs from the step that posts it to the step of
/// another member that acts on it: the network's longest delay, the time in which a post lands, the
/// time until the receiver's next pass, and that pass. For a survivor of view k, one that enters
/// view k + 1, the change
///  - starts with the last of these: a survivor suspects a member for the first time; a leaver asks
///    to leave; a joiner is connected to all; a survivor enters view k. Events after its own entry
///    into k + 1 do not count. If there is no such event, the change starts with the first wedge.
///  - ends when it enters view k + 1; for a survivor that joined in k and does not know yet where
///    the sequence goes on, when it hears the decision.
/// A change during which the network or a node was disturbed does not count: cuts, pauses, late
/// posts and lost doorbells say nothing about the protocol.
/// Threads: one.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::sim {

class Member;

/// Times in which the network or a node is worse than its options say.
class Disturbances {
 public:
  /// `from_ns` never decreases.
  void add(std::uint64_t from_ns, std::uint64_t until_ns);
  /// Ends all disturbances that were added.
  void end(std::uint64_t at_ns);
  /// Begins a disturbance that lasts until close() was called as often as open().
  void open(std::uint64_t from_ns);
  void close(std::uint64_t at_ns);
  [[nodiscard]] bool any_in(std::uint64_t from_ns, std::uint64_t until_ns) const;

 private:
  struct Span {
    std::uint64_t from_ns;
    std::uint64_t until_ns;
  };
  std::vector<Span> spans_;     // apart from each other, in order; the last lasts while any is open
  std::uint64_t added_ns_ = 0;  // what was added ends then
  std::uint32_t open_ = 0;
};

/// What started the change last, and who led it.
enum class ChangeKind : std::uint8_t {
  suspicion,
  request,      ///< somebody joins or leaves; the leader hears of it one delay later
  leader_died,  ///< one that led it was suspected on the way
};
inline constexpr std::size_t kChangeKinds = 3;

/// In hundredths of a one-way delay, without the time to pass on records.
inline constexpr std::array<std::uint64_t, kChangeKinds> kDelayBounds{600, 700, 1200};
/// While nothing changes, a member looks at the others' words only every `look_every_ns`. This is
/// how many words of a change may wait for such a look: the request to the leader, and the wedge.
inline constexpr std::array<std::uint64_t, kChangeKinds> kWordsAwaitingALook{1, 2, 2};
/// In groups that are logged what a member accepts and the view that it enters are on its disk
/// before it says so: how many writes of a change wait for each other.
inline constexpr std::array<std::uint64_t, kChangeKinds> kWritesAwaited{3, 3, 5};
/// The time for each piece that is passed on (PassOn, I8): the piece, and the word that it was
/// seen. A piece holds an eighth of a ring or more, the last one perhaps only nulls. The second
/// constant is the number of pieces that give one receiver what it lacks of one sender; receivers
/// that lack different parts are served one after the other.
inline constexpr std::uint64_t kPieceDelays = 200;
inline constexpr std::uint64_t kPiecesPerReceiver = 9;

struct Delays {
  std::array<std::uint64_t, kChangeKinds> worst{};    ///< in hundredths of a one-way delay
  std::array<std::uint64_t, kChangeKinds> counted{};  ///< survivors' changes
  std::string too_long{};                             ///< the first one beyond its bound
};

/// As "5.90".
[[nodiscard]] std::string in_delays(std::uint64_t hundredths);

/// The delays of a run; `members` has all incarnations of all nodes. `write_ns`: the longest time
/// that a write to a disk takes, where groups are logged.
[[nodiscard]] Delays delays_of(const std::vector<const Member*>& members,
                               const Disturbances& disturbances, std::uint64_t one_way_ns,
                               std::uint64_t look_every_ns, std::uint64_t write_ns);

}  // namespace tutti::sim
