/// \file session_record.hpp
/// What relays write into a bundle for clients that are no members, byte by byte.
///
///   0  kind u8, flags u8, payload_at u16, topic id u32, source timestamp u64    as record.hpp says
///  16  session_open:    client id u128 (high half first), nonce u64
///      client_sample:   session u64, nonce u64, request u64
///      session_close:   session u64, nonce u64, 0
///      session_expire:  session u64, 0, last request u64
///  payload_at, at least 40: the payload of a client_sample; nothing of the others
///
/// All numbers are little-endian. The nonce is a random number that the client chose for this
/// session: it is repeated in each record, so that a session whose number is the same in another
/// sequence, or that belongs to another client, is not taken for this one.
/// What others wrote is input: read_session_record checks all of it.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "dds/record.hpp"

namespace tutti::dds {

inline constexpr std::size_t kSessionHeaderBytes = 40;
/// In the place of a topic's id: the request takes its turn in its session, and no reader gets it.
inline constexpr std::uint32_t kNoTopic = ~std::uint32_t{0};

/// 128 random bits that a client process chose once: its name among all clients.
struct ClientId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const ClientId&, const ClientId&) = default;
};

struct SessionOpen {
  ClientId client{};
  std::uint64_t nonce = 0;
  friend bool operator==(const SessionOpen&, const SessionOpen&) = default;
};

struct ClientSample {
  std::uint64_t session = 0;
  std::uint64_t nonce = 0;
  std::uint64_t request = 0;  ///< 1, 2, ... within the session
  std::uint32_t topic = 0;    ///< its id in the bundle
  std::uint64_t timestamp_ns = 0;
  std::span<const std::byte> payload{};
  std::uint16_t payload_at = kSessionHeaderBytes;  ///< as the topic's alignment needs it
};

struct SessionClose {
  std::uint64_t session = 0;
  std::uint64_t nonce = 0;
  friend bool operator==(const SessionClose&, const SessionClose&) = default;
};

/// Ends the session if its last request is still `last`.
struct SessionExpire {
  std::uint64_t session = 0;
  std::uint64_t last = 0;
  friend bool operator==(const SessionExpire&, const SessionExpire&) = default;
};

using SessionRecord = std::variant<ClientSample, SessionOpen, SessionClose, SessionExpire>;

/// The bytes that `record` takes in the bundle.
[[nodiscard]] std::size_t bytes_of(const SessionRecord& record);
/// Writes it at the start of `into`, which has room for it.
void write(const SessionRecord& record, std::span<std::byte> into);
/// Empty if these bytes are none, or a reserved field is not 0. A sample's payload is in `bytes`.
[[nodiscard]] std::optional<SessionRecord> read_session_record(std::span<const std::byte> bytes);

}  // namespace tutti::dds
