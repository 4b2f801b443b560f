/// \file frames.hpp
/// Reads what the other end of a link says in a handshake.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <string>

#include "fabric/link.hpp"
#include "node/bootstrap/hello.hpp"
#include "tutti/error.hpp"

namespace tutti {

/// The body of a frame with a hello's prefix. ErrorCode::peer_lost: the connection ended; others as
/// decode_prefix. The link outlives the call, here and below.
asio::awaitable<Result<std::string>> read_frame(Link& link);

/// The same, of a hello: others as decode_hello, too.
asio::awaitable<Result<Hello>> read_hello(Link& link);

asio::awaitable<Verdict> read_verdict(Link& link);

}  // namespace tutti
