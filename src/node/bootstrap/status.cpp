/// \file status.cpp
#include "node/bootstrap/status.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "node/bootstrap/json_reader.hpp"

namespace tutti {
namespace {

using nlohmann::json;

constexpr std::string_view kQuestion = R"({"question":"view"})";
constexpr std::size_t kStatusTextMax = 255;
constexpr NodeState kStates[] = {NodeState::waiting, NodeState::joining, NodeState::in_view,
                                 NodeState::stopped};

std::string frame_of(std::string_view body) {
  return hello_prefix(kProtocolVersion, static_cast<std::uint32_t>(body.size())) +
         std::string(body);
}

NodeState state_from(JsonReader& reader) {
  const std::string word = reader.text("state", kStatusTextMax);
  const auto* const at = std::ranges::find(kStates, word, [](NodeState s) { return to_string(s); });
  if (at != std::end(kStates)) return *at;
  reader.note("state is none that is known");
  return NodeState::waiting;
}

// What is wrong with the view; empty if nothing.
std::string why_no_view(const Status& status, const Hello& hello) {
  const std::set<std::string_view> names(status.members.begin(), status.members.end());
  if (names.size() != status.members.size()) return "a member stands twice in its view";
  for (const std::string& name : status.members) {
    if (std::ranges::find(hello.members, name, &MemberAddress::name) == hello.members.end()) {
      return "a member of its view is not in its member list";
    }
  }
  if ((status.view == 0) != status.members.empty()) return "its view has no members";
  if (status.view != 0 && !names.contains(hello.name)) return "its view is without it";
  return {};
}

}  // namespace

std::string_view to_string(NodeState state) {
  switch (state) {
    case NodeState::waiting:
      return "waiting";
    case NodeState::joining:
      return "joining";
    case NodeState::in_view:
      return "in_view";
    case NodeState::stopped:
      return "stopped";
  }
  return "?";
}

std::string encode_question() { return frame_of(kQuestion); }

bool is_question(std::string_view body) { return body == kQuestion; }

Result<std::string> encode_status(const Status& status) {
  json members = json::array();
  for (std::size_t rank = 0; rank < status.members.size(); ++rank) {
    members.push_back({{"name", status.members[rank]}, {"incarnation", status.incarnations[rank]}});
  }
  json lags = json::array();
  for (const SeenLag& seen : status.lags) {
    if (lags.size() == kSeenLagsMax) break;
    lags.push_back({{"group", seen.group},
                    {"member", seen.lag.member},
                    {"messages", seen.lag.messages},
                    {"bytes", seen.lag.bytes},
                    {"behind_ns", static_cast<std::uint64_t>(seen.lag.behind.count())},
                    {"holds_window", seen.lag.holds_window}});
  }
  const json value = {{"state", to_string(status.state)},
                      {"lags", std::move(lags)},
                      {"view", status.view},
                      {"members", std::move(members)},
                      {"why", status.why.substr(0, kVerdictMax)}};
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kHelloMax) return fail(ErrorCode::system, "the view does not fit a frame");
  return frame_of(text);
}

Result<Status> decode_status(std::string_view text, const Hello& hello) {
  constexpr std::uint64_t kU64 = std::numeric_limits<std::uint64_t>::max();
  std::optional<std::string> problem;
  const json value = parse_json(text);
  if (value.is_discarded()) return fail(ErrorCode::mismatch, "its answer is not JSON");
  JsonReader reader(value, problem);
  Status status;
  status.state = state_from(reader);
  status.view = reader.number("view", kU64);
  for (const json& member : reader.array("members", hello.members.size())) {
    JsonReader fields(member, problem);
    status.members.push_back(fields.text("name", kStatusTextMax));
    status.incarnations.push_back(fields.number("incarnation", kU64));
  }
  const bool tells_lags = value.is_object() && value.contains("lags");
  for (const json& lag : tells_lags ? reader.array("lags", kSeenLagsMax) : json::array()) {
    JsonReader fields(lag, problem);
    SeenLag& seen = status.lags.emplace_back();
    seen.group = printable(fields.text("group", std::size_t{3} * kStatusTextMax), kStatusTextMax);
    seen.lag.member = printable(fields.text("member", kStatusTextMax), kStatusTextMax);
    seen.lag.messages = fields.number("messages", kU64);
    seen.lag.bytes = fields.number("bytes", kU64);
    seen.lag.behind = std::chrono::nanoseconds(fields.number("behind_ns", kU64 / 2));
    seen.lag.holds_window = fields.flag("holds_window");
  }
  // Each byte of it may have become three (U+FFFD).
  status.why = printable(reader.text("why", std::size_t{3} * kVerdictMax), kVerdictMax);
  if (!problem) {
    if (const std::string wrong = why_no_view(status, hello); !wrong.empty()) problem = wrong;
  }
  if (problem) return fail(ErrorCode::mismatch, "its answer is malformed: " + *problem);
  return status;
}

}  // namespace tutti
