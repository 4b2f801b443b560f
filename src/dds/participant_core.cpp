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

// Names the bundle, and says what it does not offer.
Result<void> ParticipantCore::resolve(Definition& definition) const {
  const auto refuse = [&](const std::string& what) {
    return fail(ErrorCode::invalid_argument, "topic '" + definition.name + "': " + what);
  };
  TopicOptions& options = definition.options;
  const std::string service(to_string(options.service));
  if (options.bundle.empty()) {
    const auto at = std::ranges::find(options_.bundles, options.service, &BundleOptions::service);
    if (at == options_.bundles.end()) {
      return refuse("no bundle has the service '" + service +
                    "'; add one to ParticipantOptions::bundles at all participants" +
                    (options.service == Service::logged ? ", with NodeOptions::state_dir" : ""));
    }
    options.bundle = at->name;
  }
  if (Result<void> valid = definition.validate(); !valid) return valid;
  const std::shared_ptr<Bundle> carrier = bundle(options.bundle);
  if (carrier == nullptr) {
    return refuse("there is no bundle '" + options.bundle +
                  "'; name one of ParticipantOptions::bundles");
  }
  const BundleOptions& bundle = carrier->options();
  if (bundle.service != options.service) {
    return refuse("its service is '" + service + "', but that of bundle '" + bundle.name +
                  "' is '" + std::string(to_string(bundle.service)) + "'");
  }
  if (options.history.kind == History::Kind::keep_all && bundle.delivery != DeliveryThread::own) {
    return refuse(
        "keep_all lets deliveries wait for readers, so it needs a bundle with delivery "
        "own; bundle '" +
        bundle.name + "' has predicate");
  }
  if (!carrier->is_member()) {
    return refuse("participant '" + name_ + "' is not among the members of bundle '" + bundle.name +
                  "'");
  }
  if (definition.type.alignment > bundle.alignment) {
    return refuse("its type is aligned to " + std::to_string(definition.type.alignment) +
                  " bytes, but bundle '" + bundle.name + "' to " +
                  std::to_string(bundle.alignment) + "; set BundleOptions::alignment");
  }
  const std::uint64_t most =
      std::uint64_t{definition.type.in_place_bytes} +
      payload_offset(definition.type.keyed ? kKeyedFlag : 0, definition.type.alignment);
  if (most > bundle.message_max_bytes) {
    return refuse("a sample takes " + std::to_string(most) + " bytes, but bundle '" + bundle.name +
                  "' carries at most " + std::to_string(bundle.message_max_bytes) +
                  "; set BundleOptions::message_max_bytes");
  }
  Encoder encoded;
  definition.encode(encoded);
  const std::uint64_t record = sizeof(RecordHeader) + encoded.written().size();
  if (carrier->is_ordered() && record > bundle.message_max_bytes) {
    return refuse("its definition with the description of its type takes " +
                  std::to_string(record) + " bytes, but bundle '" + bundle.name +
                  "' carries at most " + std::to_string(bundle.message_max_bytes) +
                  "; set BundleOptions::message_max_bytes");
  }
  return {};
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

Result<Directory::Answer> ParticipantCore::ask(std::span<const std::byte> record,
                                               Deadline deadline) {
  const Result<Ticket> sent = control_->send(record, time_until(deadline));
  if (!sent) return std::unexpected(sent.error());
  return answer_of(*sent, deadline);
}

Result<Directory::Answer> ParticipantCore::answer_of(Ticket ticket, Deadline deadline) {
  if (Result<void> done = control_->wait(ticket, time_until(deadline)); !done) {
    return std::unexpected(std::move(done.error()));
  }
  const std::lock_guard lock(mutex_);
  auto node = answers_.extract(ticket);
  if (node.empty() && overtaken_) {
    return fail(ErrorCode::stopped,
                "the other members have gone on without this one while it read what they had sent; "
                "nothing more is delivered here. Start this member again to join them");
  }
  if (node.empty()) return Directory::Answer{};
  return std::move(node.mapped());
}

Error ParticipantCore::refusal(const Definition& definition,
                               const Directory::Answer& answer) const {
  const std::string topic = "topic '" + definition.name + "': ";
  switch (answer.outcome) {
    case Directory::Outcome::mismatch: {
      const std::lock_guard lock(mutex_);
      const Directory::Entry* had = directory_.find(answer.key);
      const std::optional<Difference> differs =
          had != nullptr ? difference(had->definition, definition) : std::nullopt;
      return {ErrorCode::mismatch,
              topic + "it is there already, and differs: it has " +
                  (differs ? differs->had + ", and was asked for with " + differs->wanted
                           : "other options") +
                  ". Use the same everywhere, or another name"};
    }
    case Directory::Outcome::full:
      return {ErrorCode::invalid_argument,
              topic + "there are " + std::to_string(options_.topics_max) +
                  " topics already; delete some, or set ParticipantOptions::topics_max at all "
                  "participants"};
    case Directory::Outcome::not_yet:
      return {ErrorCode::timed_out,
              topic + "the topics of a log are not known yet; ask again later"};
    default:
      return {ErrorCode::mismatch, topic +
                                       "the participants do not understand each other; give all "
                                       "the same bundles and the same version of Tutti"};
  }
}

Result<std::shared_ptr<TopicCore>> ParticipantCore::create_topic(Definition definition,
                                                                 TopicListener listener) {
  if (Result<void> may = control_->may_wait("Topic::create"); !may) {
    return std::unexpected(std::move(may.error()));
  }
  if (Result<void> good = resolve(definition); !good) return std::unexpected(good.error());
  const Deadline until = deadline();
  if (Result<void> done = await_announcements(until); !done) return std::unexpected(done.error());
  Result<Directory::Answer> answer = ask(Directory::claim(definition, options_.topics_max), until);
  if (!answer) return std::unexpected(std::move(answer.error()));
  const bool won = answer->outcome == Directory::Outcome::created ||
                   answer->outcome == Directory::Outcome::joined;
  if (!won) return std::unexpected(refusal(definition, *answer));
  return join_topic(answer->key, definition, std::move(listener), until);
}

Result<std::shared_ptr<TopicCore>> ParticipantCore::find_topic(std::string_view name,
                                                               TopicListener listener) {
  if (Result<void> may = control_->may_wait("UntypedTopic::find"); !may) {
    return std::unexpected(std::move(may.error()));
  }
  if (Result<void> done = await_announcements(deadline()); !done) {
    return std::unexpected(done.error());
  }
  std::optional<Definition> definition;
  {
    const std::lock_guard lock(mutex_);
    const Directory::Entry* there = directory_.find(name);
    if (there != nullptr) definition = there->definition;
  }
  if (definition) return create_topic(std::move(*definition), std::move(listener));
  return fail(ErrorCode::invalid_argument,
              "there is no topic '" + std::string(name) + "'; Topic::create makes one");
}

Result<std::shared_ptr<TopicCore>> ParticipantCore::join_topic(const TopicKey& key,
                                                               const Definition& definition,
                                                               TopicListener listener,
                                                               Deadline deadline) {
  std::shared_ptr<Bundle> carrier = bundle(key.bundle);
  if (carrier == nullptr || !carrier->is_member()) {
    return fail(ErrorCode::invalid_argument, "topic '" + definition.name + "': participant '" +
                                                 name_ + "' is not among the members of bundle '" +
                                                 key.bundle + "'");
  }
  if (!carrier->is_sender() && carrier->find(key.id) == nullptr) define(key);
  Result<std::shared_ptr<TopicState>> topic = carrier->ensure(key.id, definition, deadline);
  if (!topic) return std::unexpected(std::move(topic.error()));
  auto core = std::make_shared<TopicCore>(shared_from_this(), std::move(carrier), std::move(*topic),
                                          key, std::move(listener));
  const std::lock_guard lock(mutex_);
  auto& topics = locals_[key].topics;
  std::erase_if(topics, [](const auto& each) { return each.expired(); });
  topics.push_back(core);
  return core;
}

Result<void> ParticipantCore::delete_topic(std::string_view name) {
  if (Result<void> may = control_->may_wait("DomainParticipant::delete_topic"); !may) return may;
  const Deadline until = deadline();
  if (Result<void> done = await_announcements(until); !done) return done;
  TopicKey key;
  {
    const std::lock_guard lock(mutex_);
    const Directory::Entry* entry = directory_.find(name);
    if (entry != nullptr) key = entry->key;
  }
  const std::string topic = "topic '" + std::string(name) + "': ";
  if (key.id == 0) return fail(ErrorCode::invalid_argument, topic + "there is none");
  const std::shared_ptr<Bundle> carrier = bundle(key.bundle);
  if (carrier->is_ordered() && !carrier->is_sender()) {
    return fail(ErrorCode::invalid_argument, topic + "participant '" + name_ +
                                                 "' is not among the senders of bundle '" +
                                                 key.bundle + "': let one of these delete it");
  }
  const Result<Directory::Answer> answer = ask(Directory::release(key), until);
  if (!answer) return std::unexpected(answer.error());
  if (answer->outcome == Directory::Outcome::in_use) {
    const std::lock_guard lock(mutex_);
    const Directory::Entry* entry = directory_.find(key);
    return fail(ErrorCode::invalid_argument,
                topic + "it has readers or writers: " + (entry != nullptr ? names_of(*entry) : "") +
                    "; destroy these first");
  }
  if (answer->outcome != Directory::Outcome::released) {
    return fail(ErrorCode::invalid_argument, topic + "another participant has deleted it");
  }
  if (!carrier->is_ordered()) return {};
  return carrier->await_deletion(key.id, until);
}

std::string ParticipantCore::names_of(const Directory::Entry& entry) const {
  std::string names;
  for (const auto& [participant, counts] : entry.endpoints) {
    if (!names.empty()) names += ", ";
    names += std::string(control_->name_of(MemberIndex{participant})) + " (" +
             std::to_string(counts.readers) + " readers, " + std::to_string(counts.writers) +
             " writers)";
  }
  return names;
}

}  // namespace tutti::dds
