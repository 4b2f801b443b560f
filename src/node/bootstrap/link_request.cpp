/// \file link_request.cpp
#include "node/bootstrap/link_request.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "node/bootstrap/hello.hpp"
#include "node/bootstrap/json_reader.hpp"

namespace tutti {
namespace {

constexpr std::string_view kAsks = "link";
constexpr std::size_t kLinkTextMax = 255;
constexpr std::size_t kLinkRequestMax = 1024;  // a hello is not read twice

}  // namespace

std::string encode_link_request(const LinkRequest& request) {
  const nlohmann::json value = {
      {"question", kAsks}, {"from", request.from}, {"to", request.to}, {"life", request.life}};
  const std::string body = value.dump();  // names of nodes are ASCII
  return hello_prefix(kProtocolVersion, static_cast<std::uint32_t>(body.size())) + body;
}

std::optional<LinkRequest> decode_link_request(std::string_view body) {
  if (body.size() > kLinkRequestMax) return std::nullopt;
  const nlohmann::json value = parse_json(body);
  if (value.is_discarded()) return std::nullopt;
  std::optional<std::string> problem;
  JsonReader reader(value, problem);
  if (reader.text("question", kLinkTextMax) != kAsks) return std::nullopt;
  LinkRequest request;
  request.from = reader.text("from", kLinkTextMax);
  request.to = reader.text("to", kLinkTextMax);
  request.life = reader.number("life", std::numeric_limits<std::uint64_t>::max());
  if (problem || request.life == 0) return std::nullopt;
  return request;
}

Result<Slot> caller_of(const LinkRequest& request, const NodeOptions& node) {
  const std::string from = "'" + printable(request.from) + "'";
  if (request.to != node.name) {
    return fail(ErrorCode::mismatch, "wrong peer: " + from + " called the address of '" +
                                         printable(request.to) + "' but '" + node.name +
                                         "' answered there; check the members' addresses");
  }
  const auto self = std::ranges::find(node.members, node.name, &MemberAddress::name);
  const auto at = std::ranges::find(node.members, request.from, &MemberAddress::name);
  if (at == node.members.end()) {
    return fail(ErrorCode::mismatch, from + " is not in the member list of '" + node.name + "'");
  }
  if (at == self) {
    return fail(ErrorCode::mismatch,
                "two processes were started as member " + from + "; each name may run once");
  }
  if (at < self) {
    return fail(ErrorCode::mismatch, from + " stands before '" + node.name +
                                         "' in the member list and waits to be called");
  }
  return Slot{static_cast<std::uint32_t>(at - node.members.begin())};
}

}  // namespace tutti
