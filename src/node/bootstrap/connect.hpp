/// \file connect.hpp
/// One call of a node, and the pauses between calls: for the bootstrap and for restart links.
/// Threads: the one that runs the context.
#pragma once
#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "fabric/link.hpp"
#include "tutti/error.hpp"

namespace tutti {

using RetryPause = asio::steady_timer::duration;

/// A node that was just started listens soon; for one that is not there we have time.
inline constexpr RetryPause kRetryAtFirst = std::chrono::milliseconds(30);
inline constexpr RetryPause kRetrySlowly = std::chrono::milliseconds(250);

[[nodiscard]] constexpr RetryPause longer(RetryPause pause) {
  return std::min(pause * 9 / 8, kRetrySlowly);
}

/// Connects to one endpoint of `address`, which is for messages. Gives up after 3 s.
asio::awaitable<Result<std::shared_ptr<Link>>> connect_to(asio::io_context& context,
                                                          asio::ip::tcp::endpoint endpoint,
                                                          std::string address);

}  // namespace tutti
