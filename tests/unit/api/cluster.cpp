#include "cluster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "support/loopback.hpp"
#include "support/sanitized.hpp"

namespace tutti {

GroupOptions small_group(Level level, DeliveryThread delivery) {
  GroupOptions group{.name = "log"};
  group.level = level;
  if (level == Level::unordered) group.order = Order::none;
  group.message_max_bytes = 256;
  group.window_bytes = 4096;
  group.window_messages = 64;
  group.delivery = delivery;
  return group;
}

void expect_ok(const std::vector<Result<void>>& results) {
  for (const Result<void>& result : results) EXPECT_TRUE(result) << result.error().message;
}

bool until(const std::function<bool()>& holds) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) {
      ADD_FAILURE() << "waited in vain";
      return false;
    }
    std::this_thread::sleep_for(1ms);  // leaves the processor to whom we wait for
  }
  return true;
}

// With a sanitizer a log that grows at full speed takes longer to fetch, to read and to compare
// than all else that a test does: behind these it grows by 1,000 messages a second at most.
constexpr std::uint64_t kAtFullSpeed = testing::kSanitized ? 2000 : ~std::uint64_t{0};

Talker::Talker(Group group, std::string prefix) {
  thread_ = std::thread([this, group, prefix = std::move(prefix)]() mutable {
    while (!told_to_stop_.load()) {
      Result<Ticket> sent = group.send(prefix + " " + std::to_string(sent_), 100ms);
      if (sent) {
        ++sent_;
        if (sent_ > kAtFullSpeed) std::this_thread::sleep_for(1ms);
      } else if (sent.error().code != ErrorCode::timed_out) {
        error_ = std::move(sent.error());
        return;
      }
    }
  });
}

std::uint64_t Talker::stop() {
  told_to_stop_ = true;
  if (thread_.joinable()) thread_.join();
  return sent_;
}

TestCluster::TestCluster(const ClusterOptions& options, const Adjust& adjust)
    : options_(options), addresses_(loopback_members(options.members)) {
  for (std::size_t member = 0; member < options.members; ++member) {
    now_.push_back(make(member, adjust));
  }
}

TestCluster::~TestCluster() { hush(); }

std::unique_ptr<Life> TestCluster::make(std::size_t member, const Adjust& adjust) {
  auto life = std::make_unique<Life>();
  life->name = addresses_[member].name;
  life->prefix = life->name + "." + std::to_string(past_.size());
  NodeOptions options{.name = life->name,
                      .members = addresses_,
                      .fabric = options_.fabric,
                      .provider = options_.fabric == FabricChoice::ofi ? "tcp" : "",
                      .drive = options_.drive,
                      .idle = options_.idle,
                      .start_timeout = kPatience,
                      .founders = options_.founders,
                      .suspect_after = options_.suspect_after};
  for (std::size_t i = 0; i < options_.groups.size(); ++i) {
    life->journals.push_back(std::make_unique<Journal>());
  }
  options.on_view = [of = life.get()](const ViewChange& change) {
    for (const auto& journal : of->journals) journal->note(change);
    if (of->in_view) of->in_view();
  };
  if (adjust) adjust(member, options);
  auto node = Node::create(std::move(options));
  EXPECT_TRUE(node) << node.error().message;
  life->node = std::move(*node);
  for (std::size_t index = 0; index < options_.groups.size(); ++index) {
    GroupOptions group = options_.groups[index];
    if (!group.on_delivery && group.delivery != DeliveryThread::application) {
      group.on_delivery = [of = life.get(), index](std::span<const Message> batch) {
        if (of->in_delivery) of->in_delivery();
        of->journals[index]->note(batch);
      };
    }
    if (options_.adjust_group) options_.adjust_group(member, group);
    auto joined = life->node->join(group);
    EXPECT_TRUE(joined) << joined.error().message;
    life->groups.push_back(*joined);
  }
  for (const GroupOptions& shape : options_.reserved) {
    const Result<void> reserved = life->node->reserve(shape, 1);
    EXPECT_TRUE(reserved) << reserved.error().message;
  }
  return life;
}

void TestCluster::start() {
  std::vector<std::size_t> all(size());
  for (std::size_t member = 0; member < size(); ++member) all[member] = member;
  start(all);
}

void TestCluster::start(const std::vector<std::size_t>& members) {
  std::vector<std::jthread> threads;
  threads.reserve(members.size());
  for (const std::size_t member : members) {
    threads.emplace_back([this, member] {
      const Result<void> started = node(member).start();
      EXPECT_TRUE(started) << life(member).name << ": " << started.error().message;
    });
  }
}

std::vector<Result<void>> TestCluster::stop(std::chrono::nanoseconds timeout) {
  hush();
  std::vector<Result<void>> results(size());
  std::vector<std::jthread> threads;
  for (std::size_t member = 0; member < size(); ++member) {
    if (!life(member).node) continue;
    threads.emplace_back([&, member] {
      results[member] = node(member).stop(timeout);
      life(member).ended = results[member].has_value();
    });
  }
  threads.clear();
  return results;
}

void TestCluster::renew(std::size_t member, const Adjust& adjust) {
  hush(member);
  past_.push_back(std::move(now_[member]));
  past_.back()->node.reset();
  now_[member] = make(member, adjust);
}

void TestCluster::kill(std::size_t member) {
  hush(member);  // who sends must not outlive the node
  life(member).node.reset();
}

Result<void> TestCluster::leave(std::size_t member) {
  hush(member);
  Result<void> left = node(member).leave(kPatience);
  life(member).ended = life(member).left = left.has_value();
  return left;
}

void TestCluster::talk(std::size_t member) {
  life(member).talker = std::make_unique<Talker>(group(member), life(member).prefix);
}

void TestCluster::talk(const std::vector<std::size_t>& members) {
  for (const std::size_t member : members) talk(member);
}

void TestCluster::hush(std::size_t member) {
  if (life(member).talker == nullptr) return;
  const std::uint64_t sent = life(member).talker->stop();
  if (!life(member).sent) life(member).sent = sent;
}

void TestCluster::hush() {
  for (std::size_t member = 0; member < size(); ++member) {
    if (now_[member] != nullptr) hush(member);
  }
}

bool TestCluster::are_in_view_of(const std::vector<std::size_t>& members) const {
  std::vector<std::string> names;
  for (const std::size_t member : members) names.push_back(addresses_[member].name);
  std::ranges::sort(names);
  return std::ranges::all_of(members, [&](std::size_t member) {
    const Life& life = *now_[member];
    const ViewChange view = life.node->view();
    std::vector<std::string> there = view.members.all();
    std::ranges::sort(there);
    // The node is in a view a moment before it calls on_view.
    return there == names && std::ranges::all_of(life.journals, [&](const auto& of) {
             return of->view() >= view.view;
           });
  });
}

bool TestCluster::hear_more(const std::vector<std::size_t>& members, std::size_t messages) {
  std::vector<std::size_t> goals;
  for (const std::size_t member : members) goals.push_back(journal(member).messages() + messages);
  const bool heard = until([&] {
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (journal(members[i]).messages() < goals[i]) return false;
    }
    return true;
  });
  for (std::size_t i = 0; i < members.size() && !heard; ++i) {
    const std::optional<Error> failure = node(members[i]).failure();
    ADD_FAILURE() << life(members[i]).name << " in view " << node(members[i]).view().view << " has "
                  << journal(members[i]).messages() << " messages of " << goals[i]
                  << (failure ? ": " + failure->message : "");
  }
  return heard;
}

void TestCluster::expect_one_story() {
  std::vector<Account> accounts;
  for (const auto* lives : {&past_, &now_}) {
    for (const auto& life : *lives) {
      accounts.push_back(
          {life->journals[0].get(), life->name, life->ended, life->left, life->sent, life->prefix});
    }
  }
  tutti::expect_one_story(accounts, options_.groups[0].level);
}

Deliveries TestCluster::deliveries(std::size_t member, std::size_t index) const {
  Deliveries out;
  for (const Told& told : now_[member]->journals[index]->sequence()) {
    out.push_back(std::to_string(told.seq) + " " + std::to_string(told.sender) + " " + told.text);
  }
  return out;
}

}  // namespace tutti
