/// \file hello_json.cpp
/// The hello's body. Group members travel as ranks: 256 members with long names stay small.
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "node/bootstrap/hello.hpp"
#include "node/bootstrap/json_reader.hpp"
#include "node/group_rules.hpp"

namespace tutti {

namespace {

using nlohmann::json;

constexpr std::size_t kHelloTextMax = 255;
constexpr std::size_t kAddressMax = 300;
constexpr std::size_t kHelloMembersMax = 256;
constexpr std::uint64_t kRowBytesMax = 1ULL << 46U;
constexpr std::uint64_t kFoundingMax = std::to_underlying(Founding::logged);
constexpr std::size_t kCarriersMax = 16;

json ranks_of(const std::vector<MemberAddress>& members, const std::vector<std::string>& names) {
  json ranks = json::array();
  for (const std::string& name : names) {
    const auto at = std::ranges::find(members, name, &MemberAddress::name);
    ranks.push_back(at - members.begin());
  }
  return ranks;
}

json group_to_json(const std::vector<MemberAddress>& members, const GroupOptions& group) {
  return {{"name", group.name},
          {"members", ranks_of(members, group.members)},
          {"senders", ranks_of(members, group.senders)},
          {"order", to_string(group.order)},
          {"level", to_string(group.level)},
          {"message_max_bytes", group.message_max_bytes},
          {"window_bytes", group.window_bytes},
          {"window_messages", group.window_messages},
          {"alignment", group.alignment},
          {"tick_every_ns", group.tick_every.count()},
          {"personal_window", group.personal_window},
          {"accelerated_window", group.accelerated_window},
          {"global_window", group.global_window},
          {"maximum_gap", group.maximum_gap},
          {"logged", group.logged ? 1 : 0},
          {"durable_quorum", group.durable_quorum ? 1 : 0},
          {"stateful", group.stateful ? 1 : 0}};
}

std::vector<std::string> names_of(JsonReader& reader, const char* field,
                                  const std::vector<MemberAddress>& members) {
  std::vector<std::string> names;
  for (const json& rank : reader.array(field, members.size())) {
    const auto* value = rank.get_ptr<const json::number_unsigned_t*>();
    if (value == nullptr || *value >= members.size()) {
      reader.note(std::string(field) + " of a group has an entry that is no rank");
      return {};
    }
    names.push_back(members[*value].name);
  }
  return names;
}

GroupOptions group_from_json(const json& object, const std::vector<MemberAddress>& members,
                             std::optional<std::string>& problem) {
  constexpr std::uint64_t kU32 = std::numeric_limits<std::uint32_t>::max();
  JsonReader reader(object, problem);
  GroupOptions group;
  group.name = reader.text("name", kHelloTextMax);
  group.members = names_of(reader, "members", members);
  group.senders = names_of(reader, "senders", members);
  const Result<Order> order = order_from(reader.text("order", kHelloTextMax));
  const Result<Level> level = level_from(reader.text("level", kHelloTextMax));
  if (!order) reader.note(order.error().message);
  if (!level) reader.note(level.error().message);
  group.order = order.value_or(Order::round_robin);
  group.level = level.value_or(Level::atomic);
  group.message_max_bytes = static_cast<std::uint32_t>(reader.number("message_max_bytes", kU32));
  group.window_bytes = reader.number("window_bytes", 1ULL << 62U);
  group.window_messages = static_cast<std::uint32_t>(reader.number("window_messages", kU32));
  group.alignment = static_cast<std::uint32_t>(reader.number("alignment", kU32));
  group.tick_every = std::chrono::nanoseconds(
      static_cast<std::int64_t>(reader.number("tick_every_ns", 1ULL << 62U)));
  group.personal_window = static_cast<std::uint32_t>(reader.number("personal_window", kU32));
  group.accelerated_window = static_cast<std::uint32_t>(reader.number("accelerated_window", kU32));
  group.global_window = static_cast<std::uint32_t>(reader.number("global_window", kU32));
  group.maximum_gap = static_cast<std::uint32_t>(reader.number("maximum_gap", kU32));
  group.logged = reader.number("logged", 1) != 0;
  group.durable_quorum = reader.number("durable_quorum", 1) != 0;
  const bool stateful = reader.number("stateful", 1) != 0;
  if (problem) return group;
  if (Result<void> valid = group.validate(); !valid) reader.note(valid.error().message);
  group.stateful = stateful;  // its callbacks stay at home
  if (group.members.empty() || group.senders.empty()) reader.note("a group without members");
  return group;
}

// Of carriers that are not known here, too.
std::map<std::string, std::string> carriers_from(JsonReader& reader,
                                                 std::optional<std::string>& problem) {
  std::map<std::string, std::string> carriers;
  const json* offers = reader.find("carriers");
  if (offers == nullptr) return carriers;
  if (!offers->is_object() || offers->size() > kCarriersMax) {
    reader.note("carriers is not an object of at most " + std::to_string(kCarriersMax));
    return carriers;
  }
  JsonReader fields(*offers, problem);
  for (const auto& [name, offer] : offers->items()) {
    carriers[name] = fields.text(name.c_str(), Carrier::kOfferMax);
  }
  return carriers;
}

}  // namespace

Result<std::string> encode_hello(const Hello& hello) {
  json members = json::array();
  for (const MemberAddress& member : hello.members) {
    members.push_back({{"name", member.name}, {"address", member.address}});
  }
  json groups = json::array();
  for (const GroupOptions& group : hello.groups) {
    groups.push_back(group_to_json(hello.members, group));
  }
  const json value = {{"protocol", hello.protocol},
                      {"version", hello.library_version},
                      {"name", hello.name},
                      {"to", hello.to},
                      {"members", std::move(members)},
                      {"incarnation", hello.incarnation},
                      {"running", hello.running},
                      {"founding", std::to_underlying(hello.founding)},
                      {"fabric", hello.fabric},
                      {"carriers", hello.carriers},
                      {"litmus_rounds", hello.litmus_rounds},
                      {"request_max_bytes", hello.request_max_bytes},
                      {"host",
                       {{"boot_id", hello.host.boot_id},
                        {"user", hello.host.user},
                        {"network_namespace", hello.host.network_namespace}}},
                      {"row_bytes", hello.row_bytes},
                      {"groups", std::move(groups)}};
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kHelloMax) {
    return fail(ErrorCode::invalid_argument,
                "the groups' options take " + std::to_string(text.size()) + " bytes; legal: " +
                    std::to_string(kHelloMax) + "; join fewer groups, or with fewer members");
  }
  return hello_prefix(hello.protocol, static_cast<std::uint32_t>(text.size())) + text;
}

Result<Hello> decode_hello(std::string_view text) {
  constexpr std::uint64_t kU64 = std::numeric_limits<std::uint64_t>::max();
  constexpr std::uint64_t kU32 = std::numeric_limits<std::uint32_t>::max();
  std::optional<std::string> problem;
  const json value = parse_json(text);
  if (value.is_discarded()) return fail(ErrorCode::invalid_argument, "its hello is not JSON");
  JsonReader reader(value, problem);
  Hello hello;
  hello.protocol = static_cast<std::uint16_t>(reader.number("protocol", 0xffff));
  hello.library_version = reader.text("version", kHelloTextMax);
  hello.name = reader.text("name", kHelloTextMax);
  hello.to = reader.text("to", kHelloTextMax);
  for (const json& member : reader.array("members", kHelloMembersMax)) {
    JsonReader fields(member, problem);
    hello.members.push_back(
        {fields.text("name", kHelloTextMax), fields.text("address", kAddressMax)});
  }
  hello.incarnation = reader.number("incarnation", kU64);
  if (hello.incarnation == 0) reader.note("incarnation is 0, which stands for no node");
  hello.running = reader.flag("running");
  hello.founding = static_cast<Founding>(reader.number("founding", kFoundingMax));
  hello.fabric = reader.text("fabric", kHelloTextMax);
  NodeOptions node;
  if (const Result<void> known = set_fabric(node, hello.fabric); !known) {
    reader.note(known.error().message);
  }
  hello.carriers = carriers_from(reader, problem);
  hello.litmus_rounds = static_cast<std::uint32_t>(reader.number("litmus_rounds", kU32));
  hello.request_max_bytes = static_cast<std::uint32_t>(reader.number("request_max_bytes", kU32));
  if (const json* host = reader.find("host"); host != nullptr) {
    JsonReader fields(*host, problem);
    hello.host = {fields.text("boot_id", kHelloTextMax), fields.number("user", kU64),
                  fields.number("network_namespace", kU64)};
  }
  hello.row_bytes = reader.number("row_bytes", kRowBytesMax);
  for (const json& group : reader.array("groups", kGroupsMax)) {
    hello.groups.push_back(group_from_json(group, hello.members, problem));
  }
  if (problem) return fail(ErrorCode::invalid_argument, "its hello is malformed: " + *problem);
  return hello;
}

}  // namespace tutti
