/// \file look.cpp
/// The other end of a bootstrap's answer: calls a node, hears its hello, asks, and reads the
/// answer.
#include "tutti/look.hpp"
#include "fabric/as_tuple.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "base/system_error.hpp"
#include "base/text.hpp"
#include "fabric/address.hpp"
#include "fabric/link.hpp"
#include "fabric/resolve.hpp"
#include "node/bootstrap/frames.hpp"
#include "node/bootstrap/status.hpp"
#include "node/bootstrap/tcp_socket.hpp"

namespace tutti {
namespace {

using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::nanoseconds;

constexpr nanoseconds kShortest = std::chrono::milliseconds(1);
constexpr nanoseconds kLongest = std::chrono::hours(24);

NodeLook look_from(const Hello& hello, Status status) {
  NodeLook look{.name = printable(hello.name),
                .version = printable(hello.library_version),
                .incarnation = hello.incarnation,
                .state = status.state,
                .why = std::move(status.why),
                .view = status.view,
                .lags = std::move(status.lags)};
  for (const GroupOptions& group : hello.groups) look.groups.push_back(group.name);
  for (const MemberAddress& node : hello.members) {
    look.nodes.push_back({printable(node.name), printable(node.address)});
  }
  for (std::size_t rank = 0; rank < status.members.size(); ++rank) {
    const auto node = std::ranges::find(hello.members, status.members[rank], &MemberAddress::name);
    look.members.push_back(
        {printable(node->name), printable(node->address), status.incarnations[rank]});
  }
  return look;
}

/// One call. Where it has come to is for the message, should the time be over.
class Call {
 public:
  Call(asio::io_context& context, std::string address)
      : context_(context), address_(std::move(address)) {}

  asio::awaitable<void> make() {
    try {
      outcome_ = co_await converse();
    } catch (const std::exception& problem) {  // no memory, no thread for the resolver
      outcome_ = fail(ErrorCode::system, "cannot look at " + address_ + ": " + problem.what());
    }
  }

  [[nodiscard]] std::optional<Result<NodeLook>>& outcome() { return outcome_; }
  [[nodiscard]] const std::string& waits_for() const { return waits_for_; }

 private:
  asio::awaitable<Result<NodeLook>> converse() {
    const Result<Endpoints> endpoints = co_await resolve(context_, address_);
    if (!endpoints) co_return std::unexpected(endpoints.error());
    Result<std::shared_ptr<Link>> link = fail(ErrorCode::unreachable, {});
    for (std::size_t i = 0; i < endpoints->size() && !link; ++i) {
      link = co_await connect((*endpoints)[i]);
    }
    if (!link) co_return std::unexpected(link.error());
    waits_for_ = "it took the connection, but says nothing; is it a node of Tutti?";
    const Result<Hello> hello = co_await read_hello(**link);
    if (!hello) co_return no_node(hello.error(), "no node of Tutti answers at " + address_ + ": ");
    waits_for_ = "node '" + printable(hello->name) + "' said hello, but nothing of its view";
    (*link)->send(encode_question());
    const Result<std::string> body = co_await read_frame(**link);
    const std::string who = "node '" + printable(hello->name) + "' at " + address_ + ": ";
    if (!body) co_return no_node(body.error(), who);
    Result<Status> status = decode_status(*body, *hello);
    if (!status) co_return no_node(status.error(), who);
    co_return look_from(*hello, std::move(*status));
  }

  asio::awaitable<Result<std::shared_ptr<Link>>> connect(tcp::endpoint endpoint) {
    error_code error;
    tcp::socket socket = open_socket(context_, endpoint, error);
    if (!error) std::tie(error) = co_await socket.async_connect(endpoint, kAsTuple);
    if (!error && is_connected_to_itself(socket)) error = asio::error::connection_refused;
    if (!error) co_return std::make_shared<Link>(context_, std::move(socket), address_);
    if (lacks_descriptors(error.value())) {
      co_return fail(ErrorCode::system, "cannot look at " + address_ + ": " + error.message());
    }
    if (error != asio::error::connection_refused) {
      co_return fail(ErrorCode::unreachable, "cannot reach " + address_ + ": " + error.message());
    }
    co_return fail(ErrorCode::unreachable,
                   "nobody listens at " + address_ +
                       " (connection refused): the node has not started or has stopped, or this "
                       "is not its address in the member list");
  }

  // An error of the handshake, as one of a look: the address was fine, and no member is lost.
  static std::unexpected<Error> no_node(const Error& error, const std::string& before) {
    const bool hung_up = error.code == ErrorCode::peer_lost;
    return fail(hung_up ? ErrorCode::unreachable : ErrorCode::mismatch, before + error.message);
  }

  asio::io_context& context_;
  const std::string address_;
  std::string waits_for_ = "no connection came about; is the host up, and the address right?";
  std::optional<Result<NodeLook>> outcome_;
};

}  // namespace

Result<NodeLook> look_at(std::string_view address, nanoseconds timeout) {
  if (Result<Address> valid = address_from(address); !valid) {
    return std::unexpected(valid.error());
  }
  if (timeout < kShortest || timeout > kLongest) {
    return fail(ErrorCode::invalid_argument,
                "time-out is " + std::to_string(timeout.count()) + " ns; legal: 1 ms .. 1 day");
  }
  const std::string where(address);
  try {
    asio::io_context context(1);
    Call call(context, where);
    asio::co_spawn(context, call.make(), asio::detached);
    context.run_for(timeout);
    if (call.outcome()) return std::move(*call.outcome());
    return fail(ErrorCode::timed_out, "no answer from " + where + " within " + in_seconds(timeout) +
                                          " s: " + call.waits_for());
  } catch (const std::exception& problem) {
    return fail(ErrorCode::system, "cannot look at " + where + ": " + problem.what());
  }
}

}  // namespace tutti
