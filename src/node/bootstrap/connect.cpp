/// \file connect.cpp
#include "node/bootstrap/connect.hpp"

#include "base/system_error.hpp"
#include "fabric/as_tuple.hpp"
#include "node/bootstrap/tcp_socket.hpp"

namespace tutti {
namespace {

using boost::system::error_code;

constexpr std::chrono::seconds kConnectTimeout{3};  // the kernel would go on for minutes

}  // namespace

asio::awaitable<Result<std::shared_ptr<Link>>> connect_to(asio::io_context& context,
                                                          asio::ip::tcp::endpoint endpoint,
                                                          std::string address) {
  error_code error;
  // Shared with the time limit, which may fire just as the connection is there.
  const auto socket =
      std::make_shared<asio::ip::tcp::socket>(open_socket(context, endpoint, error));
  if (error) {
    const bool none = lacks_descriptors(error.value());
    co_return fail(ErrorCode::system,
                   none ? "cannot call it: " + std::string(kFreeDescriptors) : error.message());
  }
  asio::steady_timer limit(context, asio::steady_timer::duration(kConnectTimeout));
  limit.async_wait([socket](const error_code& cancelled) {
    error_code ignored;
    if (!cancelled) socket->close(ignored);
  });
  const auto [failed] = co_await socket->async_connect(endpoint, kAsTuple);
  limit.cancel();
  if (!failed && socket->is_open() && !is_connected_to_itself(*socket)) {
    co_return std::make_shared<Link>(context, std::move(*socket), address);
  }
  if (failed == asio::error::operation_aborted) {
    co_return fail(ErrorCode::unreachable, "no answer from " + address);
  }
  const bool other = failed && failed != asio::error::connection_refused;
  co_return fail(ErrorCode::unreachable,
                 (other ? failed.message() : "connection refused") + " at " + address);
}

}  // namespace tutti
