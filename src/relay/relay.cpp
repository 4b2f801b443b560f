#include "tutti/dds/relay.hpp"

#include <utility>

#include "base/random.hpp"
#include "relay/server.hpp"
#include "relay/topic_backend.hpp"

namespace tutti::dds {

class RelayCore {
 public:
  RelayCore(std::shared_ptr<ParticipantCore> participant, std::uint64_t run)
      : backend(std::move(participant), run) {}
  relay::TopicBackend backend;
  std::unique_ptr<relay::Server> server{};  // ends before the backend
};

Result<Relay> Relay::create(const DomainParticipant& participant, RelayOptions options) {
  if (participant.core_->bundles().front()->has_session_watcher()) {
    return fail(ErrorCode::invalid_argument,
                "participant '" + participant.name() + "' has a relay already: one is enough");
  }
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
  auto core = std::make_unique<RelayCore>(participant.core_, *run);
  Result<std::unique_ptr<relay::Server>> server =
      relay::Server::start(core->backend, std::move(options));
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
