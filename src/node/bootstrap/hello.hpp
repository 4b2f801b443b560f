/// \file hello.hpp
/// What two members tell each other when they meet, as bytes and back, and what must agree.
///
/// On the wire: 8 bytes of magic and protocol version, a 32-bit length, then JSON. Each side then
/// answers with a verdict: a 32-bit length, 0 for "agreed", else one byte of kind and a text. All
/// integers are little-endian. Everything here is pure; bytes from a peer are input and are checked
/// field by field, lengths before anything is allocated.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/carrier.hpp"
#include "tutti/error.hpp"
#include "tutti/options.hpp"

namespace tutti {

inline constexpr std::uint16_t kProtocolVersion = 14;
inline constexpr std::uint32_t kHelloMax = 1U << 20;
inline constexpr std::size_t kGroupsMax = 4096;
inline constexpr std::uint32_t kVerdictMax = 4096;

/// Whether a node founds a group where there is none; if not, why not.
enum class Founding : std::uint8_t {
  founds,
  join_only,  ///< it was told to
  agreed,     ///< it did so earlier in its start, and lost the others: that group may exist
  logged,     ///< its groups come back from their logs (node/restart/)
};

struct Hello {
  std::uint16_t protocol = kProtocolVersion;
  std::string library_version;
  std::string name;
  std::string to;  ///< whom the sender takes the other for; empty: it waits to be told
  std::vector<MemberAddress> members;
  std::uint64_t incarnation = 0;  ///< random, one per start
  bool running = false;           ///< it is in a group already
  Founding founding = Founding::founds;
  std::string fabric = "auto";                    ///< the option, as users write it
  std::map<std::string, std::string> carriers{};  ///< by name: what each says, see Carrier::offer
  std::uint32_t litmus_rounds = 0;
  std::uint32_t request_max_bytes = 0;
  HostIdentity host;
  std::uint64_t row_bytes = 0;
  std::vector<GroupOptions> groups;  ///< resolved, without callbacks
};

using HelloPrefix = std::array<std::byte, 12>;

/// The whole frame. Fails if it would be larger than kHelloMax.
[[nodiscard]] Result<std::string> encode_hello(const Hello& hello);

/// The first 12 bytes of a hello frame.
[[nodiscard]] std::string hello_prefix(std::uint16_t protocol, std::uint32_t length);

/// The number of JSON bytes that follow the prefix. ErrorCode::mismatch: a member of another
/// protocol version; invalid_argument: not a member at all.
[[nodiscard]] Result<std::uint32_t> decode_prefix(const HelloPrefix& prefix);

/// Checks types and limits, not agreement.
[[nodiscard]] Result<Hello> decode_hello(std::string_view text);

/// Whether the two may be members of one cluster. The error names the field, both values and both
/// members.
[[nodiscard]] Result<void> compatible(const Hello& mine, const Hello& theirs);

/// Whether two members that have these options may be in one group. The error names the group as
/// `here` does, the field, both values and both members.
[[nodiscard]] Result<void> same_options(const GroupOptions& here, const std::string& at_here,
                                        const GroupOptions& there, const std::string& at_there);

/// Which carrier joins this pair: the same answer at both ends. Not `without`.
[[nodiscard]] Result<const CarrierKind*> choose_carrier(const Hello& mine, const Hello& theirs,
                                                        const CarrierKind* without = nullptr);

struct Verdict {
  enum class Kind : std::uint8_t {
    agreed,
    refused,  ///< a contradiction; the other end says in what, in `error`
    not_now,  ///< the slot is taken; to be tried again. `error` says by whom
    removed,  ///< the group has removed this incarnation for good
    broken,   ///< there is none: `error` says what happened to the connection
  };
  Kind kind = Kind::agreed;
  Error error{};
};

/// The frames that say "agreed", "refused", "not now" and "removed".
[[nodiscard]] std::string encode_verdict();
[[nodiscard]] std::string encode_verdict(const Error& error);
[[nodiscard]] std::string encode_not_now(std::string_view why);
[[nodiscard]] std::string encode_removed();

/// A verdict's body, if it has one: a byte that is an error's code or the kind, then text.
[[nodiscard]] Verdict decode_verdict(std::string_view body);

/// Little-endian, as in every frame of the handshake.
[[nodiscard]] std::uint32_t load_u32(std::span<const std::byte, 4> bytes);

}  // namespace tutti
