#include "domain/world.hpp"

#include "domain/world_parts.hpp"

namespace tutti::domain {

namespace {

constexpr std::uint64_t kStepNs = 200'000;
constexpr std::size_t kSteps = 5000;

}  // namespace

World::World(std::uint64_t seed) : seed_(seed), random_(seed), overtaking_(~seed) {
  reset_clocks();
  const std::size_t slots = 3 + random_.below(3);
  for (std::size_t slot = 0; slot < slots; ++slot) names_.push_back("p" + std::to_string(slot));
  ages_ = random_.one_in(4);
  logs_ = random_.one_in(2);
  keeps_all_ = random_.one_in(2);
  disks_.resize(slots);
  window_ = 2 + random_.below(8);
  const std::uint64_t timeouts[] = {80, 1000, 25'000};
  timeout_ns_ = timeouts[random_.below(3)] * kStepNs;
  for (std::uint64_t id = 1; id <= 3; ++id) clients_.push_back({id, 100 + id});
  choose_topics();
  cluster_ = std::make_unique<Cluster>(names_, random_, *this);
  // Each looks at the clock at another time, so what is old goes at another place of the sequence.
  cluster_->compare_stored(!ages_);
  members_.resize(slots);
  found();
  note("ages " + std::to_string(ages_) + ", timeout " + std::to_string(timeout_ns_ / kStepNs) +
       " steps, window " + std::to_string(window_));
  for (const auto& variants : definitions_) {
    const dds::Definition& one = variants.front();
    note(one.name + ": " + one.options.to_text() + (one.type.keyed ? ", keyed" : "") +
         (one.type.in_place_bytes != 0 ? ", in place" : ""));
  }
}

World::~World() {
  for (const MemberPtr& one : members_) {
    if (one != nullptr) retire(*one);
  }
}

void World::holds(bool it_does, const std::string& property, const std::string& what) {
  if (!it_does) wrong(property, what);
}

void World::wrong(const std::string& property, const std::string& what) {
  if (wrong_.empty()) wrong_ = property + ": " + what;
}

void World::note(const std::string& what) {
  notes_.push_back(std::to_string(time_of_day() / kStepNs) + " " + what);
}

std::string World::story() const {
  std::string out;
  for (const std::string& one : notes_) out += one + "\n";
  return out;
}

void World::choose_topics() {
  const std::size_t names = 2 + random_.below(4);
  std::vector<std::string> bundles = {"atomic", "stored", "stored", "unordered", "part", "few"};
  if (logs_) bundles.insert(bundles.end(), {"logged", "logged", "logged", "chronicle"});
  if (keeps_all_) bundles.insert(bundles.end(), {"patient", "patient", "archive"});
  const std::vector<dds::BundleOptions> all = participant_options().bundles;
  for (std::size_t name = 0; name < names; ++name) {
    topic_names_.push_back("topic" + std::to_string(name));
    dds::Definition topic{.name = topic_names_.back()};
    topic.type = {.name = "type" + std::to_string(name), .hash = 10 + name};
    topic.type.keyed = random_.one_in(2);
    if (random_.one_in(3)) topic.type.in_place_bytes = 64;
    topic.options.bundle = bundles[random_.below(bundles.size())];
    const auto carrier = std::ranges::find(all, topic.options.bundle, &dds::BundleOptions::name);
    topic.options.service = carrier->service;
    const bool is_logged = carrier->service == dds::Service::logged;
    const bool may_wait = topic.options.bundle == "patient" || topic.options.bundle == "archive";
    if (!is_logged && !random_.one_in(4)) {
      topic.options.history = dds::keep_last(static_cast<std::uint32_t>(1 + random_.below(4)));
    }
    const bool waits = may_wait && !random_.one_in(4);
    if (waits) topic.options.history = dds::keep_all();
    if (waits || random_.one_in(2)) {
      topic.options.max_samples = static_cast<std::uint32_t>(1 + random_.below(8));
    }
    if (random_.one_in(3)) topic.options.max_bytes = 1024;
    // Where what was taken goes, it depends on other readers what stands before a sample that is
    // old.
    const bool is_stored = topic.options.service == dds::Service::volatile_storage;
    if (ages_ && is_stored && !waits) topic.options.max_age = std::chrono::milliseconds(100);
    std::vector<dds::Definition> variants(3, topic);
    variants[1].type.hash += 1000;
    variants[2].options.max_samples += 1;
    definitions_.push_back(std::move(variants));
  }
}

dds::ParticipantOptions World::participant_options() const {
  dds::ParticipantOptions options;
  options.timeout = std::chrono::nanoseconds(timeout_ns_);
  options.topics_max = names_.size() == 3 ? 2 : 1000;
  options.bundles = {
      {.name = "atomic", .service = dds::Service::atomic},
      {.name = "stored",
       .service = dds::Service::volatile_storage,
       .delivery = DeliveryThread::own},
      {.name = "unordered", .service = dds::Service::unordered},
      {.name = "part",
       .service = dds::Service::atomic,
       .members = {"p0", "p1", "p2"},
       .senders = {"p0", "p1"}},
      {.name = "few", .service = dds::Service::volatile_storage, .senders = {"p0", "p2"}}};
  if (keeps_all_) {
    options.bundles.push_back(
        {.name = "patient", .service = dds::Service::atomic, .delivery = DeliveryThread::own});
    options.bundles.push_back({.name = "archive",
                               .service = dds::Service::volatile_storage,
                               .delivery = DeliveryThread::own});
  }
  if (logs_) {
    options.bundles.push_back(
        {.name = "logged", .service = dds::Service::logged, .delivery = DeliveryThread::own});
    options.bundles.push_back({.name = "chronicle",
                               .service = dds::Service::logged,
                               .senders = {"p0"},
                               .delivery = DeliveryThread::own});
  }
  return options;
}

World::MemberPtr World::make(std::size_t slot) {
  auto member = std::make_shared<Member>();
  member->slot = slot;
  for (const dds::BundleOptions& one : participant_options().bundles) {
    const bool is_logged = one.service == dds::Service::logged;
    member->model.bundles.push_back({.name = one.name,
                                     .ordered = one.service != dds::Service::unordered,
                                     .has_state = one.members.empty() && !is_logged});
    if (is_logged) member->model.directory.unannounced.insert(one.name);
  }
  NodeOptions options;
  options.name = names_[slot];
  options.state_dir = "/" + names_[slot] + "/" + std::to_string(disks_[slot]);
  member->handle.emplace(std::move(*Node::create(options)));
  auto participant = dds::DomainParticipant::create(*member->handle, participant_options());
  holds(participant.has_value(), "clean end", participant ? "" : participant.error().message);
  member->participant.emplace(std::move(*participant));
  member->node = cluster_->newest();
  for (const auto& group : member->node->groups) group->window = window_;
  return member;
}

void World::step() {
  pass_time(kStepNs);
  const MemberPtr member = members_[random_.below(members_.size())];
  if (member == nullptr || member->node->over) return;
  NodeCore& node = *member->node;
  const std::size_t groups = node.groups.size();
  const std::uint64_t kind = random_.below(22);
  // In the first group, from any on, that has something to do.
  const auto try_groups = [&](auto&& does) {
    const std::size_t first = random_.below(groups);
    for (std::size_t i = 0; i < groups; ++i) {
      if (does((first + i) % groups)) return;
    }
  };
  calling_ = true;
  if (kind < 6) {
    try_groups([&](std::size_t group) { return cluster_->place_one(node, group); });
  } else if (kind < 13) {
    const std::uint64_t most = 1 + random_.below(6);
    try_groups([&](std::size_t group) { return cluster_->deliver(node, group, most); });
  } else if (kind == 13) {
    cluster_->enter_view(node);
  } else if (kind == 14) {
    try_groups([&](std::size_t group) { return cluster_->call_handler(node, group); });
  }
  calling_ = false;
  if (kind < 15) return;
  for (Thread& thread : member->threads) resume(*member, thread);
  if (member->leaves) end_readers(*member);
  if (calm_) take_for_others(*member);
  if (!calm_ && node.is_in_view() && !member->leaves) act(member);
}

bool World::quieten(std::size_t steps) {
  for (std::size_t i = 0; i < steps && wrong_.empty(); ++i) {
    step();
    if (i % 16 != 0 || !cluster_->is_quiet()) continue;
    const bool busy = std::ranges::any_of(members_, [](const MemberPtr& one) {
      return one != nullptr && std::ranges::count(one->threads, true, &Thread::busy) > 0;
    });
    if (!busy) return true;
  }
  return false;
}

void World::run() {
  for (std::size_t i = 0; i < kSteps && wrong_.empty(); ++i) {
    step();
    if (doomed_ != nullptr) crash_the_doomed();
    if (all_stop_in_ > 0 && --all_stop_in_ == 0) restart();
    if (random_.one_in(500)) fault();
    if (logs_ && random_.one_in(3000)) restart();
    if (random_.one_in(8)) change_view();
  }
  if (wrong_.empty()) settle();
}

}  // namespace tutti::domain
