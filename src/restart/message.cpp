#include "restart/message.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tutti::restart {
namespace {

void put(Encoder& out, const Hello& message) {
  encode(out, message.told);
  out.number(static_cast<std::uint8_t>(message.founds));
}
void put(Encoder& out, const Prepare& message) {
  out.number(message.ballot);
  encode(out, message.chain);
}
void put(Encoder& out, const Promise& message) {
  out.number(message.ballot);
  encode(out, message.told);
}
void put(Encoder& out, const Refuse& message) {
  out.number(message.ballot);
  encode(out, message.told);
  out.text(message.why);
}
void put(Encoder& out, const Propose& message) {
  out.number(message.ballot);
  encode(out, message.proposal);
  out.list(message.plans, [](Encoder& to, const GroupPlan& plan) { encode(to, plan); });
}
void put(Encoder& out, const Fetch& message) {
  out.text(message.group);
  out.number(message.from);
  out.number(message.until);
  out.number(message.check_from);
  out.number(message.check_sum);
}
void put(Encoder& out, const Records& message) {
  out.text(message.group);
  out.number(static_cast<std::uint8_t>(message.differ));
  out.list(message.records, [](Encoder& to, const OwnedRecord& record) {
    to.number(record.seq);
    to.number(record.view);
    to.number(record.sender);
    to.number(static_cast<std::uint8_t>(record.tick));
    to.blob(record.data);
  });
}
void put(Encoder& out, const Progress& message) { out.number(message.ballot); }
void put(Encoder& out, const Accept& message) { out.number(message.ballot); }
void put(Encoder& out, const Decided& message) {
  encode(out, message.proposal);
  encode(out, message.chain);
}

void put(Encoder& /*out*/, const Fresh& /*message*/) {}
void put(Encoder& out, const Runs& message) {
  encode(out, message.told);
  out.number(static_cast<std::uint8_t>(message.asks));
}

void put(Encoder& out, const FetchSnapshot& message) {
  out.text(message.group);
  out.number(message.seq);
  out.number(message.offset);
}
void put(Encoder& out, const SnapshotPiece& message) {
  out.text(message.group);
  out.number(message.seq);
  out.number(message.offset);
  out.number(message.total);
  out.blob(message.bytes);
}

void get(Decoder& in, Hello& message) {
  message.told = decode_told(in);
  message.founds = in.flag();
}
void get(Decoder& in, Prepare& message) {
  message.ballot = in.number<std::uint64_t>();
  message.chain = decode_chain(in);
  in.check(message.ballot >= kRunningBallots);
}
void get(Decoder& in, Promise& message) {
  message.ballot = in.number<std::uint64_t>();
  message.told = decode_told(in);
}
void get(Decoder& in, Refuse& message) {
  message.ballot = in.number<std::uint64_t>();
  message.told = decode_told(in);
  message.why = in.text();
}
void get(Decoder& in, Propose& message) {
  message.ballot = in.number<std::uint64_t>();
  message.proposal = decode_proposed(in);
  message.plans = in.list(decode_plan);
  const std::vector<GroupFirst>& groups = message.proposal.next.first;
  if (message.proposal.restart) {
    in.check(message.plans.size() == groups.size());
    if (in.good()) {
      in.check(std::ranges::equal(groups, message.plans, [](const auto& group, const auto& plan) {
        return group.group == plan.base.group && group.first == plan.cut;
      }));
    }
  } else {
    in.check(message.plans.empty());
  }
}
void get(Decoder& in, Fetch& message) {
  message.group = in.text();
  message.from = in.number<std::uint64_t>();
  message.until = in.number<std::uint64_t>();
  message.check_from = in.number<std::uint64_t>();
  message.check_sum = in.number<std::uint64_t>();
}
void get(Decoder& in, Records& message) {
  message.group = in.text();
  message.differ = in.flag();
  message.records = in.list([](Decoder& from) {
    OwnedRecord record{.seq = from.number<std::uint64_t>()};
    record.view = from.number<std::uint64_t>();
    record.sender = from.number<std::uint32_t>();
    record.tick = from.flag();
    const auto data = from.blob();
    from.check(data.size() <= log::kRecordBytesMax);
    record.data.assign(data.begin(), data.end());
    return record;
  });
}
void get(Decoder& in, Progress& message) { message.ballot = in.number<std::uint64_t>(); }
void get(Decoder& in, Accept& message) { message.ballot = in.number<std::uint64_t>(); }
void get(Decoder& in, Decided& message) {
  message.proposal = decode_proposed(in);
  message.chain = decode_chain(in);
  in.check(message.chain.back().id == message.proposal.follows);
}

void get(Decoder& /*in*/, Fresh& /*message*/) {}
void get(Decoder& in, Runs& message) {
  message.told = decode_told(in);
  message.asks = in.flag();
}

void get(Decoder& in, FetchSnapshot& message) {
  message.group = in.text();
  message.seq = in.number<std::uint64_t>();
  message.offset = in.number<std::uint64_t>();
}
void get(Decoder& in, SnapshotPiece& message) {
  message.group = in.text();
  message.seq = in.number<std::uint64_t>();
  message.offset = in.number<std::uint64_t>();
  message.total = in.number<std::uint64_t>();
  const auto bytes = in.blob();
  message.bytes.assign(bytes.begin(), bytes.end());
  if (message.bytes.empty()) return;  // the file may be shorter, or gone
  in.check(message.offset <= message.total &&
           message.bytes.size() <= message.total - message.offset);
}

template <std::size_t... I>
std::optional<RestartMessage> get_kind(std::size_t kind, Decoder& in, std::index_sequence<I...>) {
  RestartMessage message;
  const bool known = ((kind == I ? (get(in, message.emplace<I>()), true) : false) || ...);
  if (!known || !in.done()) return {};
  return message;
}

}  // namespace

const Told* told_in(const RestartMessage& message) {
  return std::visit(
      []<class Kind>(const Kind& one) -> const Told* {
        if constexpr (requires { one.told; }) return &one.told;
        return nullptr;
      },
      message);
}

std::vector<std::byte> encode(const RestartMessage& message) {
  Encoder out;
  out.number(static_cast<std::uint8_t>(message.index()));
  std::visit([&](const auto& one) { put(out, one); }, message);
  return out.take();
}

std::optional<RestartMessage> decode(std::span<const std::byte> bytes) {
  Decoder in(bytes);
  const auto kind = in.number<std::uint8_t>();
  return get_kind(kind, in, std::make_index_sequence<std::variant_size_v<RestartMessage>>{});
}

}  // namespace tutti::restart
