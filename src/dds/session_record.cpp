#include "dds/session_record.hpp"

#include <cstring>
#include <type_traits>

#include "base/assert.hpp"
#include "base/bytes.hpp"

namespace tutti::dds {
namespace {

// What stands at 16 of each kind.
struct Words {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::uint64_t third = 0;
};

struct Parts {
  RecordKind kind{};
  Words words{};
};

Parts parts_of(const SessionRecord& record) {
  return std::visit(
      [](const auto& one) -> Parts {
        using Kind = std::remove_cvref_t<decltype(one)>;
        if constexpr (std::is_same_v<Kind, ClientSample>) {
          return {RecordKind::client_sample, {one.session, one.nonce, one.request}};
        } else if constexpr (std::is_same_v<Kind, SessionOpen>) {
          return {RecordKind::session_open, {one.client.high, one.client.low, one.nonce}};
        } else if constexpr (std::is_same_v<Kind, SessionClose>) {
          return {RecordKind::session_close, {one.session, one.nonce, 0}};
        } else {
          return {RecordKind::session_expire, {one.session, 0, one.last}};
        }
      },
      record);
}

}  // namespace

std::size_t bytes_of(const SessionRecord& record) {
  const auto* const sample = std::get_if<ClientSample>(&record);
  return sample == nullptr ? kSessionHeaderBytes : sample->payload_at + sample->payload.size();
}

void write(const SessionRecord& record, std::span<std::byte> into) {
  TUTTI_ASSERT(into.size() >= bytes_of(record), into.size());
  const Parts parts = parts_of(record);
  const auto* const sample = std::get_if<ClientSample>(&record);
  const auto put = [into](std::size_t at, auto number) {
    std::memcpy(into.data() + at, &number, sizeof number);
  };
  const std::uint16_t payload_at = sample == nullptr ? kSessionHeaderBytes : sample->payload_at;
  put(0, static_cast<std::uint16_t>(parts.kind));
  put(2, payload_at);
  put(4, sample == nullptr ? std::uint32_t{0} : sample->topic);
  put(8, sample == nullptr ? std::uint64_t{0} : sample->timestamp_ns);
  put(16, parts.words.first);
  put(24, parts.words.second);
  put(32, parts.words.third);
  // What lies between is old: nobody shall see it, in a log neither.
  std::memset(into.data() + kSessionHeaderBytes, 0, payload_at - kSessionHeaderBytes);
  if (sample != nullptr && !sample->payload.empty()) {
    std::memcpy(into.data() + payload_at, sample->payload.data(), sample->payload.size());
  }
}

std::optional<SessionRecord> read_session_record(std::span<const std::byte> bytes) {
  if (bytes.size() < kSessionHeaderBytes) return std::nullopt;
  Decoder decoder(bytes.first(kSessionHeaderBytes));
  const auto kind = decoder.number<std::uint8_t>();
  const auto flags = decoder.number<std::uint8_t>();
  const auto payload_at = decoder.number<std::uint16_t>();
  const auto topic = decoder.number<std::uint32_t>();
  const auto timestamp = decoder.number<std::uint64_t>();
  const auto first = decoder.number<std::uint64_t>();
  const auto second = decoder.number<std::uint64_t>();
  const auto third = decoder.number<std::uint64_t>();
  if (flags != 0 || payload_at < kSessionHeaderBytes || payload_at > bytes.size()) {
    return std::nullopt;
  }
  const auto payload = bytes.subspan(payload_at);
  if (kind == static_cast<std::uint8_t>(RecordKind::client_sample)) {
    return ClientSample{first, second, third, topic, timestamp, payload, payload_at};
  }
  if (payload_at != kSessionHeaderBytes || !payload.empty() || topic != 0 || timestamp != 0)
    return std::nullopt;
  switch (static_cast<RecordKind>(kind)) {
    case RecordKind::session_open:
      return SessionOpen{{first, second}, third};
    case RecordKind::session_close:
      if (third != 0) return std::nullopt;
      return SessionClose{first, second};
    case RecordKind::session_expire:
      if (second != 0) return std::nullopt;
      return SessionExpire{first, third};
    default:
      return std::nullopt;
  }
}

}  // namespace tutti::dds
