#include "relay/codec.hpp"

#include <array>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "base/bytes.hpp"

namespace tutti::relay {
namespace {

template <class Enum>
constexpr std::uint8_t kLastOf = 0;
template <>
constexpr std::uint8_t kLastOf<Code> = static_cast<std::uint8_t>(Code::not_yet);
template <>
constexpr std::uint8_t kLastOf<Service> = static_cast<std::uint8_t>(Service::logged);
template <>
constexpr std::uint8_t kLastOf<From> = static_cast<std::uint8_t>(From::position);
template <>
constexpr std::uint8_t kLastOf<Status> = static_cast<std::uint8_t>(Status::unfit);

template <class Field>
void put(Encoder& encoder, const Field& field) {
  if constexpr (requires { Field::fields(field); }) {
    std::apply([&](const auto&... each) { (put(encoder, each), ...); }, Field::fields(field));
  } else if constexpr (std::is_same_v<Field, std::string>) {
    encoder.text(std::string_view(field).substr(0, kTextBytesMax));
  } else if constexpr (std::is_same_v<Field, std::span<const std::byte>>) {
    encoder.blob(field);
  } else if constexpr (std::is_same_v<Field, std::vector<TopicInfo>>) {
    encoder.list(field, [](Encoder& into, const TopicInfo& one) { put(into, one); });
  } else {
    encoder.number(field);
  }
}

template <class Field>
void take(Decoder& decoder, Field& field) {
  if constexpr (requires { Field::fields(field); }) {
    std::apply([&](auto&... each) { (take(decoder, each), ...); }, Field::fields(field));
  } else if constexpr (std::is_same_v<Field, std::string>) {
    const auto bytes = decoder.blob();
    decoder.check(bytes.size() <= kTextBytesMax);
    if (decoder.good()) field.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  } else if constexpr (std::is_same_v<Field, std::span<const std::byte>>) {
    field = decoder.blob();
  } else if constexpr (std::is_same_v<Field, std::vector<TopicInfo>>) {
    field = decoder.list([](Decoder& from) {
      TopicInfo one;
      take(from, one);
      return one;
    });
  } else if constexpr (std::is_same_v<Field, bool>) {
    field = decoder.flag();
  } else if constexpr (std::is_enum_v<Field>) {
    const auto value = decoder.number<std::uint8_t>();
    decoder.check(value <= kLastOf<Field>);
    if (decoder.good()) field = static_cast<Field>(value);
  } else {
    field = decoder.number<Field>();
  }
}

template <class Kind>
std::optional<Frame> decode_as(Decoder& decoder) {
  Kind frame;
  take(decoder, frame);
  if (!decoder.done()) return std::nullopt;
  return Frame(std::move(frame));
}

template <std::size_t... kIndex>
constexpr auto decoders(std::index_sequence<kIndex...>) {
  return std::array{&decode_as<std::variant_alternative_t<kIndex, Frame>>...};
}

constexpr auto kDecoders = decoders(std::make_index_sequence<std::variant_size_v<Frame>>());

}  // namespace

void encode(const Frame& frame, std::vector<std::byte>& into) {
  Encoder encoder(std::move(into));
  const std::size_t start = encoder.size();
  encoder.number(std::uint32_t{0});
  encoder.number(static_cast<std::uint8_t>(frame.index() + 1));
  std::visit([&](const auto& one) { put(encoder, one); }, frame);
  into = encoder.take();
  const auto length = static_cast<std::uint32_t>(into.size() - start - sizeof(std::uint32_t));
  std::memcpy(into.data() + start, &length, sizeof length);
}

void encode(const Sample& sample, std::vector<std::byte>& into) {
  std::array<std::byte, sizeof(std::uint32_t) + 1 + 28> head;
  std::size_t at = 0;
  const auto put_number = [&](const auto number) {
    std::memcpy(head.data() + at, &number, sizeof number);
    at += sizeof number;
  };
  const auto bytes = static_cast<std::uint32_t>(sample.bytes.size());
  put_number(static_cast<std::uint32_t>(head.size() - sizeof(std::uint32_t)) + bytes);
  put_number(kind_of<Sample>());
  put_number(sample.subscription);
  put_number(sample.position);
  put_number(sample.sender);
  put_number(sample.timestamp_ns);
  put_number(bytes);
  into.insert(into.end(), head.begin(), head.end());
  into.insert(into.end(), sample.bytes.begin(), sample.bytes.end());
}

std::optional<Frame> decode(std::span<const std::byte> bytes) {
  Decoder decoder(bytes);
  const auto kind = decoder.number<std::uint8_t>();
  if (kind == 0 || kind > kDecoders.size()) return std::nullopt;
  return kDecoders[kind - 1](decoder);
}

void FrameReader::append(std::span<const std::byte> received) {
  if (used_ > 0) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ = 0;
  }
  buffer_.insert(buffer_.end(), received.begin(), received.end());
}

Result<std::optional<Frame>> FrameReader::next() {
  const auto rest = std::span(std::as_const(buffer_)).subspan(used_);
  std::uint32_t length = 0;
  if (rest.size() < sizeof length) return std::nullopt;
  std::memcpy(&length, rest.data(), sizeof length);
  if (length == 0 || length > max_) {
    return fail(ErrorCode::damaged, "a frame of " + std::to_string(length) + " bytes; at most " +
                                        std::to_string(max_) + " may come here");
  }
  if (rest.size() - sizeof length < length) return std::nullopt;
  const auto body = rest.subspan(sizeof length, length);
  std::optional<Frame> frame = decode(body);
  if (!frame) {
    return fail(ErrorCode::damaged,
                "a frame of kind " + std::to_string(static_cast<unsigned>(body.front())) + " and " +
                    std::to_string(length) + " bytes is not as docs/client-protocol.md says");
  }
  used_ += sizeof length + length;
  return frame;
}

}  // namespace tutti::relay
