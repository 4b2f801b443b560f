/// \file resolve.cpp
#include "fabric/resolve.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "fabric/address.hpp"

namespace tutti {
namespace {

using Tcp = asio::ip::tcp;
using boost::system::error_code;

// Empty if the host is a name.
Endpoints numeric(const Address& address) {
  error_code error;
  const asio::ip::address host = asio::ip::make_address(address.host, error);
  if (error) return {};
  return {Tcp::endpoint(host, address.port)};
}

Result<Endpoints> outcome(const Address& address, const error_code& problem,
                          const Tcp::resolver::results_type& found) {
  Endpoints endpoints;
  for (const auto& entry : found) endpoints.push_back(entry.endpoint());
  if (!problem && !endpoints.empty()) return endpoints;
  return fail(ErrorCode::unreachable,
              "cannot resolve host '" + address.host + "': " + problem.message());
}

}  // namespace

Result<Endpoints> resolve_now(asio::io_context& context, const std::string& text) {
  const Result<Address> address = address_from(text);
  if (!address) return std::unexpected(address.error());
  if (Endpoints known = numeric(*address); !known.empty()) return known;
  error_code problem;
  const auto found = Tcp::resolver(context).resolve(address->host, std::to_string(address->port),
                                                    Tcp::resolver::numeric_service, problem);
  return outcome(*address, problem, found);
}

asio::awaitable<Result<Endpoints>> resolve(asio::io_context& context, std::string text) {
  const Result<Address> address = address_from(text);
  if (!address) co_return std::unexpected(address.error());
  Endpoints known = numeric(*address);
  if (!known.empty()) co_return known;
  Tcp::resolver resolver(context);
  const auto [problem, found] = co_await resolver.async_resolve(
      address->host, std::to_string(address->port), Tcp::resolver::numeric_service,
      asio::as_tuple(asio::use_awaitable));
  co_return outcome(*address, problem, found);
}

}  // namespace tutti
