#include "dds/participant_core.hpp"

#include <algorithm>
#include <cstring>
#include <ranges>
#include <set>
#include <utility>

#include "dds/waiting.hpp"

namespace tutti::dds {

namespace {

constexpr std::string_view kControlGroup = "tutti.dds";
constexpr std::uint32_t kControlMessageMax = 64 * 1024;
constexpr std::uint64_t kControlWindow = 256 * 1024;

std::vector<std::string> names_in(const std::vector<BundleOptions>& bundles) {
  std::vector<std::string> names;
  for (const BundleOptions& bundle : bundles) names.push_back(bundle.name);
  return names;
}

std::set<std::string> logged_in(const std::vector<BundleOptions>& bundles) {
  std::set<std::string> names;
  for (const BundleOptions& bundle : bundles) {
    if (bundle.service == Service::logged) names.insert(bundle.name);
  }
  return names;
}

}  // namespace

ParticipantCore::ParticipantCore(ParticipantOptions options)
    : options_(std::move(options)),
      directory_(names_in(options_.bundles), logged_in(options_.bundles)) {}

Result<std::shared_ptr<ParticipantCore>> ParticipantCore::create(Node& node,
                                                                 ParticipantOptions options) {
  if (options.bundles.empty()) options.bundles = default_bundles(!node.state_dir().empty());
  if (Result<void> valid = options.validate(); !valid) return std::unexpected(valid.error());
  std::shared_ptr<ParticipantCore> core(new ParticipantCore(std::move(options)));
  core->name_ = node.name();
  GroupOptions control{.name = std::string(kControlGroup)};
  control.message_max_bytes = kControlMessageMax;
  control.window_bytes = kControlWindow;
  control.delivery = DeliveryThread::own;
  control.on_delivery = [core](std::span<const Message> batch) { core->apply(batch); };
  control.stateful = true;
  control.save_state = [core](const StateSink& write) -> Result<void> {
    const std::lock_guard lock(core->mutex_);
    write(core->directory_.save());
    return {};
  };
  control.load_state = [core](const StatePiece& piece) { return core->load(piece); };
  Result<Group> joined = node.join(std::move(control));
  if (!joined) return std::unexpected(std::move(joined.error()));
  core->control_.emplace(std::move(*joined));
  for (const BundleOptions& each : core->options_.bundles) {
    Result<std::shared_ptr<Bundle>> bundle = Bundle::join(
        node, each,
        [weak = std::weak_ptr(core), name = each.name](std::uint32_t id, std::uint64_t view) {
          const std::shared_ptr<ParticipantCore> self = weak.lock();
          return self != nullptr && self->lacks_deletion({name, id}, view);
        });
    if (!bundle) return std::unexpected(std::move(bundle.error()));
    core->bundles_.push_back(std::move(*bundle));
  }
  Result<void> watched =
      node.watch_views([core](const ViewChange& change) { core->note_view(change); });
  if (!watched) return std::unexpected(std::move(watched.error()));
  watched = node.watch_end([core = std::weak_ptr(core)] {
    const std::shared_ptr<ParticipantCore> here = core.lock();
    if (here == nullptr) return;
    for (const auto& bundle : here->bundles_) bundle->end_with_node();
  });
  if (!watched) return std::unexpected(std::move(watched.error()));
  return core;
}

void ParticipantCore::close() {
  std::vector<std::shared_ptr<Endpoint>> endpoints;
  std::vector<std::shared_ptr<TopicCore>> topics;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    for (const auto& [key, local] : locals_) {
      endpoints.insert(endpoints.end(), local.endpoints.begin(), local.endpoints.end());
      for (const auto& each : local.topics) {
        if (std::shared_ptr<TopicCore> topic = each.lock()) topics.push_back(std::move(topic));
      }
    }
  }
  announced_.notify_all();
  const bool waits = control_->may_wait("the end of a participant").has_value();  // PC4
  for (const auto& each : endpoints) each->gate.end(waits);
  for (const auto& each : topics) each->gate().end(waits);
  for (const auto& each : bundles_) each->close();
}

std::shared_ptr<Bundle> ParticipantCore::bundle(std::string_view name) const {
  for (const auto& each : bundles_) {
    if (each->options().name == name) return each;
  }
  return nullptr;
}

std::optional<TopicKey> ParticipantCore::key_of(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const Directory::Entry* const entry = directory_.find(name);
  return entry == nullptr ? std::nullopt : std::optional(entry->key);
}

bool ParticipantCore::is_announced(const std::string& bundle) const {
  const std::lock_guard lock(mutex_);
  return directory_.is_announced(bundle);
}

std::vector<TopicDescription> ParticipantCore::topics() const {
  const std::lock_guard lock(mutex_);
  std::vector<TopicDescription> out;
  for (const auto& [name, entry] : directory_.topics()) {
    TopicDescription& topic = out.emplace_back();
    topic.name = name;
    topic.type = entry.definition.type;
    topic.options = entry.definition.options;
    topic.id = entry.key.id;
    for (const auto& [participant, counts] : entry.endpoints) {
      topic.endpoints.push_back({std::string(control_->name_of(MemberIndex{participant})),
                                 counts.readers, counts.writers});
    }
  }
  return out;
}

ParticipantStatistics ParticipantCore::statistics() const {
  ParticipantStatistics out;
  for (const auto& each : bundles_) each->add_to(out);
  return out;
}

ParticipantCore::Deadline ParticipantCore::deadline() const {
  return deadline_in(options_.timeout);
}

// PC1.
void ParticipantCore::announce(const std::shared_ptr<Bundle>& logged) {
  const BundleTopics topics = logged->topics();
  const std::string& name = logged->options().name;
  std::vector<std::vector<std::byte>> records;
  // The newest first: where all died before the deletion of a topic was sent, there may be two of
  // that name, and the older one is deleted then (DD4).
  for (const auto& [id, definition] : topics.all() | std::views::reverse) {
    records.push_back(Directory::announce({name, id}, topics.next_id(), &definition));
  }
  records.push_back(Directory::announce({name, 0}, topics.next_id(), nullptr));
  for (std::vector<std::byte>& record : records) send_later(std::move(record));  // in this order
}

Result<void> ParticipantCore::await_announcements(Deadline deadline) {
  std::unique_lock lock(mutex_);
  const Result<bool> done = await(*control_, announced_, lock, deadline,
                                  [&] { return ended_ || directory_.unannounced().empty(); });
  if (!done) return std::unexpected(done.error());
  if (ended_) return fail(ErrorCode::stopped, "the participant has ended");
  if (*done) return {};
  return fail(ErrorCode::timed_out, "no sender of bundle '" + directory_.unannounced() +
                                        "' has said yet which topics its log has, and so no topic "
                                        "can be made or found; start a sender of the bundle, or "
                                        "give a large log more time (ParticipantOptions::timeout)");
}

}  // namespace tutti::dds
