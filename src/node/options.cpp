/// \file options.cpp
#include "tutti/options.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "fabric/address.hpp"
#include "membership/quorum.hpp"
#include "node/group_rules.hpp"
#include "node/log_rules.hpp"
#include "node/tick_rules.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kNameMax = 255;
constexpr std::size_t kMembersMax = 256;
constexpr std::size_t kProviderMax = 64;
constexpr std::uint32_t kLitmusRoundsMax = 1'000'000;
constexpr std::uint32_t kMessageBytesMax = 16U << 20;
constexpr std::uint64_t kWindowBytesMin = 4U << 10;
constexpr std::uint64_t kWindowBytesMax = 1U << 30;
constexpr std::uint32_t kWindowMessagesMax = 1U << 22;

template <class Value>
struct Word {
  Value value;
  std::string_view word;
};

// The first word is the default, so error texts list it first.
constexpr std::array kOrders{Word{Order::round_robin, "round_robin"}, Word{Order::none, "none"},
                             Word{Order::token_ring, "token_ring"}, Word{Order::lcr, "lcr"}};
constexpr std::array kLevels{Word{Level::atomic, "atomic"}, Word{Level::agreed, "agreed"},
                             Word{Level::unordered, "unordered"}, Word{Level::durable, "durable"}};
constexpr std::array kFabrics{Word{FabricChoice::automatic, "auto"}, Word{FabricChoice::shm, "shm"},
                              Word{FabricChoice::tcp, "tcp"}, Word{FabricChoice::verbs, "verbs"},
                              Word{FabricChoice::ofi, "ofi"}};

std::unexpected<Error> bad(std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(message));
}

std::string in_quotes(std::string_view text) { return "'" + printable(text) + "'"; }

template <class Words, class Value>
std::string_view word_of(const Words& words, Value value) {
  for (const auto& known : words) {
    if (known.value == value) return known.word;
  }
  return "?";
}

template <class Words>
std::string listed(const Words& words) {
  std::string text;
  for (const auto& known : words) text += (text.empty() ? "" : ", ") + std::string(known.word);
  return text;
}

template <class Words>
auto value_of(const Words& words, std::string_view field, std::string_view word)
    -> Result<decltype(words[0].value)> {
  for (const auto& known : words) {
    if (known.word == word) return known.value;
  }
  return bad(std::string(field) + " " + in_quotes(word) + " is unknown; known: " + listed(words));
}

// A value outside its enumeration: cast from an integer somewhere.
template <class Words, class Value>
Result<void> check_known(const Words& words, std::string_view field, Value value) {
  if (word_of(words, value) != "?") return {};
  return bad(std::string(field) + " " + std::to_string(std::to_underlying(value)) +
             " is unknown; known: " + listed(words));
}

template <class Value>
Result<void> check_range(std::string_view field, Value value, Value low, Value high) {
  if (value >= low && value <= high) return {};
  return bad(std::string(field) + " is " + std::to_string(value) +
             "; legal: " + std::to_string(low) + " .. " + std::to_string(high));
}

Result<void> check_duration(std::string_view field, std::chrono::nanoseconds value,
                            std::chrono::nanoseconds low, std::chrono::nanoseconds high,
                            std::string_view legal) {
  if (value >= low && value <= high) return {};
  return bad(std::string(field) + " is " + std::to_string(value.count()) +
             " ns; legal: " + std::string(legal));
}

bool is_member_name(std::string_view name) {
  const auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return !name.empty() && name.size() <= kNameMax && std::ranges::all_of(name, legal);
}

Result<void> check_member_name(std::string_view field, std::string_view name) {
  if (is_member_name(name)) return {};
  return bad(std::string(field) + ": name " + in_quotes(name) +
             " is not legal; legal: 1 .. 255 bytes of letters, digits, '-', '_', '.'");
}

Result<void> check_members(const std::vector<MemberAddress>& members) {
  if (Result<void> r =
          check_range<std::size_t>("number of members", members.size(), 1, kMembersMax);
      !r) {
    return r;
  }
  std::set<std::string_view> names;
  std::vector<std::pair<Address, std::string_view>> addresses;
  for (const MemberAddress& member : members) {
    if (Result<void> r = check_member_name("members", member.name); !r) return r;
    if (!names.insert(member.name).second) {
      return bad("members: name " + in_quotes(member.name) +
                 " stands there twice; names are unique");
    }
    Result<Address> address = address_from(member.address);
    if (!address) return bad("members: " + member.name + ": " + address.error().message);
    const auto same =
        std::ranges::find(addresses, *address, &decltype(addresses)::value_type::first);
    if (same != addresses.end()) {
      return bad("members: address " + in_quotes(member.address) + " is given to both " +
                 std::string(same->second) + " and " + member.name + "; each needs its own");
    }
    addresses.emplace_back(std::move(*address), member.name);
  }
  return {};
}

// Names in a group's list: legal and each once.
Result<void> check_list(const std::string& field, const std::vector<std::string>& names) {
  if (names.size() > kMembersMax) {
    return check_range<std::size_t>("number of " + field, names.size(), 0, kMembersMax);
  }
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (Result<void> r = check_member_name(field, name); !r) return r;
    if (!seen.insert(name).second) {
      return bad(field + ": " + in_quotes(name) + " stands there twice");
    }
  }
  return {};
}

Result<void> check_order_and_level(Order order, Level level) {
  if (Result<void> r = check_known(kOrders, "order", order); !r) return r;
  if (Result<void> r = check_known(kLevels, "level", level); !r) return r;
  if (level == Level::unordered && order != Order::none) {
    return bad("level 'unordered' goes with order 'none', not " + in_quotes(to_string(order)) +
               ": it delivers on receipt, so there is nothing to order");
  }
  if (order == Order::none && level != Level::unordered) {
    return bad("level " + in_quotes(to_string(level)) +
               " goes with order 'round_robin', 'token_ring' or 'lcr', not 'none': without an "
               "order there are no earlier messages to wait for; order 'none' goes with level "
               "'unordered'");
  }
  if (order == Order::lcr && level != Level::atomic && level != Level::durable) {
    return bad("order 'lcr' goes with level 'atomic' or 'durable', not " +
               in_quotes(to_string(level)) +
               ": a message has passed every member before the first one may deliver it, so there "
               "is nothing to win");
  }
  return {};
}

Result<void> check_fabric(const NodeOptions& node) {
  if (Result<void> r = check_known(kFabrics, "fabric", node.fabric); !r) return r;
  const bool may_be_rdma =
      node.fabric == FabricChoice::verbs || node.fabric == FabricChoice::automatic;
  if (!node.rdma_device.empty() && !may_be_rdma) {
    return bad("rdma_device is " + in_quotes(node.rdma_device) + " with fabric " +
               in_quotes(to_string(node.fabric)) + "; it goes with 'verbs' and 'auto' only");
  }
  if (node.fabric != FabricChoice::ofi) {
    if (node.provider.empty()) return {};
    return bad("provider is " + in_quotes(node.provider) + " with fabric " +
               in_quotes(to_string(node.fabric)) + "; it goes with fabric 'ofi' only");
  }
  if (node.provider.empty()) {
    return bad("fabric 'ofi' needs one of libfabric's providers: ofi:PROVIDER, such as 'ofi:tcp'");
  }
  if (node.provider.size() <= kProviderMax && printable(node.provider) == node.provider) return {};
  return bad("provider " + in_quotes(node.provider) + " is not legal; legal: 1 .. " +
             std::to_string(kProviderMax) + " bytes of text, such as 'tcp'");
}

Result<void> check_windows(const GroupOptions& group) {
  if (Result<void> r =
          check_range("message_max_bytes", group.message_max_bytes, 1U, kMessageBytesMax);
      !r) {
    return r;
  }
  if (Result<void> r =
          check_range("window_bytes", group.window_bytes, kWindowBytesMin, kWindowBytesMax);
      !r) {
    return r;
  }
  const std::uint64_t largest = rounded_window_bytes(group.window_bytes) / 4;
  if (group.message_max_bytes > largest) {
    return bad("message_max_bytes is " + std::to_string(group.message_max_bytes) +
               ", more than a quarter of window_bytes (" + std::to_string(group.window_bytes) +
               "); legal: 1 .. " + std::to_string(largest) + ", or a larger window_bytes");
  }
  if (!std::has_single_bit(group.window_messages) || group.window_messages < 2 ||
      group.window_messages > kWindowMessagesMax) {
    return bad("window_messages is " + std::to_string(group.window_messages) +
               "; legal: a power of two, 2 .. " + std::to_string(kWindowMessagesMax));
  }
  if (!std::has_single_bit(group.alignment) || group.alignment < 8 ||
      group.alignment > kAlignmentMax) {
    return bad("alignment is " + std::to_string(group.alignment) +
               "; legal: a power of two, 8 .. " + std::to_string(kAlignmentMax));
  }
  if (group.alignment > largest) {
    return bad("alignment is " + std::to_string(group.alignment) +
               ", more than a quarter of window_bytes (" + std::to_string(group.window_bytes) +
               "); legal: 8 .. " + std::to_string(largest) + ", or a larger window_bytes");
  }
  return {};
}

Result<void> check_token_windows(const GroupOptions& group) {
  struct Field {
    const char* name;
    std::uint32_t value, least, most;
  };
  constexpr std::uint32_t kRotationMax = 1U << 24;
  for (const Field& field : {
           Field{"personal_window", group.personal_window, 1, kRotationMax},
           Field{"accelerated_window", group.accelerated_window, 0, group.personal_window},
           Field{"global_window", group.global_window, group.personal_window, kRotationMax},
           Field{"maximum_gap", group.maximum_gap, group.global_window, 1U << 27},
       }) {
    if (Result<void> r = check_range(field.name, field.value, field.least, field.most); !r)
      return r;
  }
  return {};
}

Result<void> check_group_fields(const GroupOptions& group) {
  if (Result<void> r = check_list("members", group.members); !r) return r;
  if (Result<void> r = check_list("senders", group.senders); !r) return r;
  for (const std::string& sender : group.senders) {
    const bool known = std::ranges::find(group.members, sender) != group.members.end();
    if (!group.members.empty() && !known) {
      return bad("senders: " + in_quotes(sender) + " is not among the group's members");
    }
  }
  if (Result<void> r = check_order_and_level(group.order, group.level); !r) return r;
  if (Result<void> r = check_logged(group); !r) return r;
  if (Result<void> r = check_snapshots(group); !r) return r;
  if (Result<void> r = check_windows(group); !r) return r;
  if (Result<void> r = check_ticks(group); !r) return r;
  if (Result<void> r = check_token_windows(group); !r) return r;
  const bool gives = group.save_state || group.snapshot;
  const bool loads = static_cast<bool>(group.load_state);
  if (group.stateful != gives || group.stateful != loads) {
    return bad(
        "stateful, load_state and one of snapshot and save_state go together: set all three, or "
        "none");
  }
  if (group.save_state && group.snapshot) {
    return bad("snapshot and save_state are two ways to give the same state: set one of them");
  }
  if (group.stateful && group.order == Order::none) {
    return bad(
        "stateful needs an order: without one there is no place at which all have the same "
        "state; use level 'agreed' or 'atomic'");
  }
  if (group.delivery > DeliveryThread::application) {
    return bad("delivery " + std::to_string(std::to_underlying(group.delivery)) +
               " is unknown; known: predicate, own, application");
  }
  if (group.delivery == DeliveryThread::application && group.on_delivery) {
    return bad(
        "delivery is 'application', so on_delivery would never be called; leave it empty and use "
        "Group::take, or let a thread of the node deliver");
  }
  return {};
}

}  // namespace

Result<void> NodeOptions::validate() const {
  if (Result<void> r = check_member_name("name", name); !r) return r;
  if (Result<void> r = check_members(members); !r) return r;
  if (std::ranges::find(members, name, &MemberAddress::name) == members.end()) {
    std::string known;
    for (const MemberAddress& member : members) known += (known.empty() ? "" : ", ") + member.name;
    return bad("name " + in_quotes(name) + " is not among the members; members: " + known);
  }
  if (Result<void> r = check_fabric(*this); !r) return r;
  if (drive != Drive::own_thread && drive != Drive::caller) {
    return bad("drive " + std::to_string(std::to_underlying(drive)) +
               " is unknown; known: own_thread, caller");
  }
  if (Result<void> r = check_duration("idle.spin", idle.spin, 0ns, 1s, "0 .. 1 s"); !r) return r;
  if (Result<void> r = check_duration("idle.yield", idle.yield, 0ns, 1s, "0 .. 1 s"); !r) return r;
  const auto all = static_cast<std::uint32_t>(members.size());
  if (founders != 0) {
    if (Result<void> r = check_range("founders", founders, PrimaryQuorum::founders_min(all), all);
        !r)
      return r;
  }
  if (Result<void> r = check_range("litmus_rounds", litmus_rounds, 0U, kLitmusRoundsMax); !r) {
    return r;
  }
  if (Result<void> r = check_range("request_max_bytes", request_max_bytes, 0U, kRequestBytesMax);
      !r) {
    return r;
  }
  if (on_request && request_max_bytes == 0) {
    return bad(
        "on_request is set, but request_max_bytes is 0: no request would come; legal: 1 .. " +
        std::to_string(kRequestBytesMax) + " with on_request");
  }
  if (Result<void> r = check_duration("suspect_after", suspect_after, 10ms, 1h, "10 ms .. 1 h");
      !r) {
    return r;
  }
  if (slow_after != 0ns) {
    const auto checked = check_duration("slow_after", slow_after, 1ms, 1h, "0, or 1 ms .. 1 h");
    if (!checked) return checked;
  }
  if (remove_after != 0ns && (remove_after < suspect_after || remove_after > 24h)) {
    return bad("remove_after is " + std::to_string(remove_after.count()) +
               " ns; legal: 0, or suspect_after (" + std::to_string(suspect_after.count()) +
               " ns) .. 1 day");
  }
  return check_duration("start_timeout", start_timeout, 1ms, 24h, "1 ms .. 1 day");
}

Result<void> GroupOptions::validate() const {
  if (name.empty() || name.size() > kNameMax || !is_plain_text(name)) {
    return bad("group name of " + std::to_string(name.size()) +
               " bytes is not legal; legal: 1 .. 255 bytes of UTF-8 without control characters");
  }
  Result<void> fields = check_group_fields(*this);
  if (!fields) return bad("group " + in_quotes(name) + ": " + fields.error().message);
  return {};
}

std::string_view to_string(LeftReason reason) {
  return reason == LeftReason::left ? "left" : "suspected";
}

std::string_view to_string(Order order) { return word_of(kOrders, order); }
std::string_view to_string(Level level) { return word_of(kLevels, level); }
std::string_view to_string(FabricChoice fabric) { return word_of(kFabrics, fabric); }

Result<Order> order_from(std::string_view word) { return value_of(kOrders, "order", word); }
Result<Level> level_from(std::string_view word) { return value_of(kLevels, "level", word); }
Result<FabricChoice> fabric_from(std::string_view word) {
  return value_of(kFabrics, "fabric", word);
}

Result<void> set_fabric(NodeOptions& node, std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const Result<FabricChoice> fabric = fabric_from(text.substr(0, colon));
  if (!fabric) return std::unexpected(fabric.error());
  if (colon < text.size() && *fabric != FabricChoice::ofi) {
    return bad("fabric " + in_quotes(text) + ": nothing belongs after " +
               in_quotes(to_string(*fabric)));
  }
  NodeOptions asked;
  asked.fabric = *fabric;
  asked.provider = text.substr(std::min(colon + 1, text.size()));
  if (Result<void> checked = check_fabric(asked); !checked) return checked;
  node.fabric = asked.fabric;
  node.provider = std::move(asked.provider);
  return {};
}

std::string fabric_text(const NodeOptions& node) {
  return std::string(to_string(node.fabric)) + (node.provider.empty() ? "" : ":" + node.provider);
}

}  // namespace tutti
