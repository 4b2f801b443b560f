#include "tutti/dds/relay.hpp"

#include <optional>
#include <utility>

#include "base/random.hpp"
#include "relay/server.hpp"
#include "relay/topic_backend.hpp"

namespace tutti::dds {

class RelayCore {
 public:
  explicit RelayCore(std::shared_ptr<ParticipantCore> begun) : participant(std::move(begun)) {}
  ~RelayCore() {
    server.reset();
    backend.reset();
    participant->end_relay();
  }
  RelayCore(const RelayCore&) = delete;
  RelayCore& operator=(const RelayCore&) = delete;

  const std::shared_ptr<ParticipantCore> participant;  // its relay has begun
  std::optional<relay::TopicBackend> backend{};
  std::unique_ptr<relay::Server> server{};
};

Result<Relay> Relay::create(const DomainParticipant& participant, RelayOptions options) {
  // Before anything that waits: of two calls at once, one is refused.
  if (!participant.core_->begin_relay()) {
    return fail(ErrorCode::invalid_argument,
                "participant '" + participant.name() + "' has a relay already: one is enough");
  }
  auto core = std::make_unique<RelayCore>(participant.core_);
  // Topics that are only in the logs would be unknown to its first clients.
  const auto deadline = std::chrono::steady_clock::now() + options.start_timeout;
  for (const auto& bundle : participant.core_->bundles()) {
    if (bundle->options().service != Service::logged || !bundle->is_sender()) continue;
    if (Result<void> replayed = bundle->await_replay(deadline); !replayed) {
      return fail(replayed.error().code,
                  "a relay begins once bundle '" + bundle->options().name +
                      "' has delivered its log: " + replayed.error().message);
    }
  }
  const Result<std::uint64_t> run = random_u64();
  if (!run) return std::unexpected(run.error());
  core->backend.emplace(participant.core_, *run);
  Result<std::unique_ptr<relay::Server>> server =
      relay::Server::start(*core->backend, std::move(options));
  if (!server) return std::unexpected(std::move(server.error()));
  core->server = std::move(*server);
  return Relay(std::move(core));
}

Relay::Relay(std::unique_ptr<RelayCore> core) : core_(std::move(core)) {}
Relay::Relay(Relay&&) noexcept = default;
Relay& Relay::operator=(Relay&&) noexcept = default;
Relay::~Relay() = default;

const std::string& Relay::address() const { return core_->server->address(); }
RelayStatistics Relay::statistics() const { return core_->server->statistics(); }

}  // namespace tutti::dds
