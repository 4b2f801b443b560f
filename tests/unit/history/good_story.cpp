// Two makers of right stories: one told by hand, one by dice.
#include <algorithm>

#include "base/prng.hpp"
#include "unit/history/story.hpp"

namespace tutti::history::testing {

namespace {

void talk(Story& story, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    for (const LifeId life : story.present) {
      story.send(life, kAtomic);
      story.send(life, kAgreed);
      story.send(life, kUnordered);
      if (life == kA || life == kB) story.send(life, kSome);
    }
    story.settle();
  }
}

void use(Story& story, LifeId life) {
  story.note(life, make_count(EventKind::nulls, story.at(), 2));
  story.note(life, make_count(EventKind::data_pushes, story.at(), 10));
  story.note(life, make_resources(story.at(), ResourceKind::memory, 1000, 1000));
  story.note(life, make_resources(story.at(), ResourceKind::fds, 10, 12));
  story.note(life, make_resources(story.at(), ResourceKind::threads, 2, 2));
  story.note(life, make_resources(story.at(), ResourceKind::queue, 5, 64));
}

void write(Story& story, LifeId to, LifeId from, WriteClass what) {
  const Write write{
      .source = story.ref(from), .epoch = story.view, .offset = 64, .length = 8, .what = what};
  story.note(to, make_write(EventKind::write_landed, story.at(), write));
}

}  // namespace

// View 1: A B C E. 2: D joins. 3: C crashed, E was cut off. 4: C returns as C2. 5: B has left.
Story good_story() {
  Story story;
  story.begin("A", 0);
  story.begin("B", 1);
  story.begin("C", 2);
  story.begin("E", 4);
  story.begin("D", 3);
  story.add_group(kAtomic, Level::atomic);
  story.add_group(kAgreed, Level::agreed);
  story.add_group(kUnordered, Level::unordered);
  story.add_group(kSome, Level::atomic, {kA, kB});
  story.first_view({kA, kB, kC, kE});
  talk(story, 2);
  story.send(kA, kAtomic);  // has no place when view 1 ends: sent again
  story.change_view({.joins = {kD}});
  talk(story, 2);
  write(story, kB, kC, WriteClass::row);
  story.fault(EventKind::fault_begin, FaultKind::minority, 4);
  story.wait(20);
  story.note(kA, make_suspect(story.at(), story.ref(kE), SuspectReason::heartbeat));
  for (const LifeId lost : {kA, kB, kD}) {
    story.note(kE, make_suspect(story.at(), story.ref(lost), SuspectReason::heartbeat));
  }
  story.note(kE, make_event(EventKind::wedge, story.at(kAllGroups)));
  story.note(kE, make_event(EventKind::evicted, story.at()));
  story.note(kE, make_stopped(story.at(), StopReason::minority));
  story.send(kB, kAtomic);
  story.send(kA, kAtomic);
  story.order(kAtomic, kB);
  story.order(kAtomic, kA);
  story.deliver(kC, kAtomic);
  story.deliver_tail(kC, kAgreed);
  story.lives[kC].crashed = true;
  story.fault(EventKind::fault_begin, FaultKind::crash, 2);
  story.change_view({.fails = {kC, kE}});
  story.wait(60);
  story.fault(EventKind::fault_end, FaultKind::minority, 4);
  story.fault(EventKind::fault_end, FaultKind::crash, 2);
  talk(story, 1);
  story.wait(100);
  story.fault(EventKind::fault_begin, FaultKind::pause, 3);
  story.wait(10);
  story.fault(EventKind::fault_end, FaultKind::pause, 3);
  story.wait(100);
  story.begin("C2", 2);
  story.change_view({.joins = {kC2}});
  talk(story, 1);
  story.send(kB, kAtomic);  // misses the view that B leaves in
  story.change_view({.leaves = {kB}});
  write(story, kA, kD, WriteClass::token);
  write(story, kA, kC2, WriteClass::session);
  Write late{.source = story.ref(kC), .epoch = 2, .offset = 0, .length = 8};
  story.note(kA, make_write(EventKind::write_rejected, story.at(), late));
  story.heal();
  talk(story, 2);
  story.send(kA, kAtomic);
  story.fault(EventKind::fault_begin, FaultKind::doorbell_lost, 3);
  story.settle();
  for (const LifeId life : story.present) use(story, life);
  story.wait(100);
  story.note_harness(make_event(EventKind::quiet_begin, story.at()));
  for (int i = 0; i < 30; ++i) {
    story.wait(20);
    for (const LifeId life : story.present) {
      story.note(life, make_count(EventKind::heartbeats, story.at(), 1));
    }
  }
  story.wait(1);
  story.note_harness(make_event(EventKind::quiet_end, story.at()));
  return story;
}

namespace {

/// Tells a story by dice.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  Story tell() {
    const auto nodes = static_cast<std::uint16_t>(3 + random_.below(4));
    std::vector<LifeId> first;
    first.reserve(nodes);
    for (std::uint16_t node = 0; node < nodes; ++node) {
      first.push_back(story_.begin("n" + std::to_string(node), node));
    }
    next_node_ = nodes;
    for (std::uint16_t id = 0; id < 3; ++id) story_.add_group(id, static_cast<Level>(2 - id));
    story_.first_view(first);
    for (std::uint64_t views = 2 + random_.below(4); views > 0; --views) {
      act(100);
      change();
    }
    act(50);
    story_.heal();
    act(100);
    story_.settle();
    story_.wait(200);
    story_.note_harness(make_event(EventKind::quiet_begin, story_.at()));
    for (int i = 0; i < 10; ++i) {
      story_.wait(20);
      story_.note(any(), make_count(EventKind::heartbeats, story_.at(), 1));
    }
    story_.note_harness(make_event(EventKind::quiet_end, story_.at()));
    return std::move(story_);
  }

 private:
  LifeId any() { return story_.present[random_.below(story_.present.size())]; }

  void act(int steps) {
    for (int i = 0; i < steps; ++i) {
      const auto group = static_cast<std::uint16_t>(random_.below(3));
      const LifeId life = any();
      switch (random_.below(6)) {
        case 0:
          story_.send(life, group);
          break;
        case 1:
        case 2:
          story_.order(group, life);
          break;
        case 3:
          write(life);
          break;
        default:
          for (std::uint64_t n = 1 + random_.below(4); n > 0; --n)
            story_.deliver(life, group, any());
      }
    }
    story_.note(any(), make_count(EventKind::nulls, story_.at(), 1));
    story_.note(any(), make_resources(story_.at(), ResourceKind::queue, random_.below(10), 10));
  }

  void write(LifeId life) {
    const Write write{.source = story_.ref(any()), .epoch = story_.view, .offset = 8, .length = 8};
    story_.note(life, make_write(EventKind::write_landed, story_.at(), write));
  }

  void change() {
    Story::Change change;
    const std::size_t members = story_.present.size();
    if (random_.one_in(2) && members > 2) {
      const LifeId failed = any();
      change.fails.push_back(failed);
      if (random_.one_in(2)) story_.deliver_tail(failed, 1);
      story_.lives[failed].crashed = true;
      story_.fault(EventKind::fault_begin, FaultKind::crash, story_.lives[failed].identity.node);
    } else if (random_.one_in(3) && members > 2) {
      change.leaves.push_back(any());
    }
    if (random_.one_in(2) || (change.fails.empty() && change.leaves.empty())) {
      const auto node = !change.fails.empty() ? next_node_++ : returning();
      change.joins.push_back(story_.begin("j" + std::to_string(story_.lives.size()), node));
    }
    story_.change_view(change);
  }

  /// A node that is not there now, as a new incarnation, or a new one.
  std::uint16_t returning() {
    for (const Story::Life& life : story_.lives) {
      const std::uint16_t node = life.identity.node;
      const bool here = std::ranges::any_of(story_.present, [&](LifeId present) {
        return story_.lives[present].identity.node == node;
      });
      if (!here && node != kHarnessNode && random_.one_in(2)) return node;
    }
    return next_node_++;
  }

  Prng random_;
  Story story_;
  std::uint16_t next_node_ = 0;
};

}  // namespace

Story random_story(std::uint64_t seed) { return Dice(seed).tell(); }

}  // namespace tutti::history::testing
