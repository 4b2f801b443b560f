#include "domain/world.hpp"

#include "domain/world_parts.hpp"

namespace tutti::domain {

namespace {

constexpr std::uint64_t kStepNs = 200'000;
constexpr std::size_t kSteps = 5000;

}  // namespace

World::World(std::uint64_t seed) : seed_(seed), random_(seed) {
  reset_clocks();
  const std::size_t slots = 3 + random_.below(3);
  for (std::size_t slot = 0; slot < slots; ++slot) names_.push_back("p" + std::to_string(slot));
  ages_ = random_.one_in(4);
  window_ = 2 + random_.below(8);
  const std::uint64_t timeouts[] = {80, 1000, 25'000};
  timeout_ns_ = timeouts[random_.below(3)] * kStepNs;
  for (std::uint64_t id = 1; id <= 3; ++id) clients_.push_back({id, 100 + id});
  choose_topics();
  cluster_ = std::make_unique<Cluster>(names_, random_, *this);
  // Each looks at the clock at another time, so what is old goes at another place of the sequence.
  cluster_->compare_stored(!ages_);
  std::vector<std::shared_ptr<NodeCore>> founders;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    members_.push_back(slot < 2 || random_.one_in(2) ? make(slot) : nullptr);
    if (members_.back() != nullptr) founders.push_back(members_.back()->node);
  }
  cluster_->found(founders);
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
  const char* const bundles[] = {"atomic", "stored", "stored", "unordered", "part", "few"};
  const dds::Service services[] = {dds::Service::atomic,           dds::Service::volatile_storage,
                                   dds::Service::volatile_storage, dds::Service::unordered,
                                   dds::Service::atomic,           dds::Service::volatile_storage};
  for (std::size_t name = 0; name < names; ++name) {
    topic_names_.push_back("topic" + std::to_string(name));
    dds::Definition topic{.name = topic_names_.back()};
    topic.type = {.name = "type" + std::to_string(name), .hash = 10 + name};
    topic.type.keyed = random_.one_in(2);
    if (random_.one_in(3)) topic.type.in_place_bytes = 64;
    const std::size_t which = random_.below(std::size(bundles));
    topic.options.bundle = bundles[which];
    topic.options.service = services[which];
    if (!random_.one_in(4)) {
      topic.options.history = dds::keep_last(static_cast<std::uint32_t>(1 + random_.below(4)));
    }
    if (random_.one_in(2)) {
      topic.options.max_samples = static_cast<std::uint32_t>(1 + random_.below(8));
    }
    if (random_.one_in(3)) topic.options.max_bytes = 1024;
    // Where what was taken goes, it depends on other readers what stands before a sample that is
    // old.
    const bool is_stored = topic.options.service == dds::Service::volatile_storage;
    if (ages_ && is_stored) topic.options.max_age = std::chrono::milliseconds(100);
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
      {.name = "stored", .service = dds::Service::volatile_storage},
      {.name = "unordered", .service = dds::Service::unordered},
      {.name = "part",
       .service = dds::Service::atomic,
       .members = {"p0", "p1", "p2"},
       .senders = {"p0", "p1"}},
      {.name = "few", .service = dds::Service::volatile_storage, .senders = {"p0", "p2"}}};
  return options;
}

World::MemberPtr World::make(std::size_t slot) {
  auto member = std::make_shared<Member>();
  member->slot = slot;
  for (const dds::BundleOptions& one : participant_options().bundles) {
    member->model.bundles.push_back(
        {.name = one.name, .ordered = one.service != dds::Service::unordered});
  }
  NodeOptions options;
  options.name = names_[slot];
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
    if (random_.one_in(500)) fault();
    if (random_.one_in(8)) change_view();
  }
  if (wrong_.empty()) settle();
}

}  // namespace tutti::domain
