/// \file station.hpp
/// What a node has of libfabric, once for all peers: the provider and, for connected endpoints, the
/// listener, its queue of events and the queue of their completions.
///
/// Attachments are known by numbers that are never used again, so that what comes late for one that
/// is gone is recognized and dropped.
/// Threads: the predicate thread only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "fabric/ofi/completion_queue.hpp"
#include "fabric/ofi/provider.hpp"

namespace tutti::ofi {

/// Of connected endpoints.
struct ConnectionEvent {
  enum class Kind : std::uint8_t { called, connected, ended };
  Kind kind = Kind::called;
  std::uint64_t attachment = 0;  ///< connected, ended
  std::uint64_t token = 0;       ///< called: what the caller gave
  Info request{};                ///< called: to answer() with
};

class Station {
 public:
  /// As Provider::open, and it listens.
  [[nodiscard]] static Result<std::unique_ptr<Station>> open(const std::string& provider,
                                                             const std::string& host,
                                                             Ordering most = Ordering::writes);

  [[nodiscard]] Provider& provider() { return provider_; }
  /// Null without connections, as events().
  [[nodiscard]] CompletionQueue* completions() { return completions_ ? &*completions_ : nullptr; }
  [[nodiscard]] fid_eq* events() const { return events_.get(); }
  /// Where callers find the listener; only with connections.
  [[nodiscard]] Result<std::string> listener_address() const;

  /// The next event of the connections, if there is one.
  [[nodiscard]] std::optional<ConnectionEvent> next_event();
  void reject(const ConnectionEvent& call);

  /// Whether both queues' descriptors become readable when something is there that is not there
  /// now.
  [[nodiscard]] bool may_sleep() const;

 private:
  explicit Station(Provider provider) : provider_(std::move(provider)) {}
  [[nodiscard]] Result<void> listen(const std::string& host);

  Provider provider_;
  std::optional<CompletionQueue> completions_;
  Owned<fid_eq> events_;
  Owned<fid_pep> listener_;
};

/// The address of an endpoint or a listener.
[[nodiscard]] Result<std::string> name_of(fid& object);

}  // namespace tutti::ofi
