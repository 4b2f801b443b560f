/// \file link_call.cpp
/// Callers that want a restart link: this node's bootstrap hears whom they are, and hands them on.
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "node/bootstrap/handshakes.hpp"

namespace tutti {

// Until it is handed on, such a caller is one of the strangers, whose number is bounded.
asio::awaitable<void> Handshakes::hand_on(LinkPtr link, LinkRequest request) {
  Result<Slot> from = caller_of(request, request_.node);
  if (from && !request_.take_link) {
    from = fail(ErrorCode::mismatch, "'" + base_.name +
                                         "' takes no restart links: it has no group "
                                         "that is logged");
  }
  if (!from) {
    warn("refused link", "refused " + link->where() + ": " + from.error().message);
    co_await send_away(link, encode_verdict(from.error()));
    co_return;
  }
  link->close_watched();
  co_await link->flush();
  if (over_ || !link->is_open()) co_return;
  request_.take_link({*from, request.life, link->release()});
}

}  // namespace tutti
