/// \file relay.hpp
/// Serves clients that are no members: they publish and subscribe to topics over TCP through this
/// participant (docs/client-protocol.md; tutti/client.hpp is the client).
///
/// The relay has a thread of its own. It pulls what its clients subscribe to, from the topics'
/// stores and logs, so that members never wait for a client. Of a topic with the history keep_all
/// deliveries wait for readers: it has no subscribers outside.
/// Threads: any, but one at a time.
#pragma once
#include <memory>
#include <string>

#include "tutti/dds/participant.hpp"
#include "tutti/dds/relay_options.hpp"
#include "tutti/error.hpp"
#include "tutti/export.hpp"

namespace tutti::dds {

class RelayCore;

class TUTTI_API Relay {
 public:
  /// Listens. After Node::start, one for each participant. Waits until logged bundles have
  /// delivered their logs; refused inside callbacks of the node. Errors: the options, the address,
  /// timed_out.
  [[nodiscard]] static Result<Relay> create(const DomainParticipant& participant,
                                            RelayOptions options);

  /// "host:port", with the port that it has.
  [[nodiscard]] const std::string& address() const;
  /// Waits for the relay's thread, a moment. Not in RelayOptions::log.
  [[nodiscard]] RelayStatistics statistics() const;

  Relay(Relay&&) noexcept;
  Relay& operator=(Relay&&) noexcept;
  /// Says goodbye to the clients, which go on at other relays.
  ~Relay();

 private:
  explicit Relay(std::unique_ptr<RelayCore> core);
  std::unique_ptr<RelayCore> core_;
};

}  // namespace tutti::dds
