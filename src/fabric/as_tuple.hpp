/// \file as_tuple.hpp
/// How the handshake's coroutines wait: errors come back as values, nothing is thrown.
#pragma once
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tutti {

inline constexpr auto kAsTuple = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace tutti
