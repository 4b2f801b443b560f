#include "history/checker/run.hpp"

#include <algorithm>

#include "history/checker/pages.hpp"

namespace tutti::history {

/// The pass over one history.
class Run::Scan {
 public:
  Scan(Run& run, std::uint32_t life) : run_(run), number_(life), life_(run.lives[life]) {}

  void see(const Event& event, std::uint64_t index) {
    life_.end_ns = std::max(life_.end_ns, event.time_ns);
    switch (event.kind) {
      case EventKind::send:
        return send(event);
      case EventKind::send_fail:
        log(event.group).failed.emplace(event.number, index);
        return;
      case EventKind::deliver:
        return deliver(event);
      case EventKind::wedge:
        wedged_[event.group] = event.view + 1;
        run_.wedges[event.view].push_back({number_, index});
        return;
      case EventKind::install:
        return install(event, index);
      case EventKind::view_member:
      case EventKind::group_member:
      case EventKind::view_left:
        return list(event);
      default:
        return rare(event, index);
    }
  }

  void end() {
    if (!open_) return;
    open_ = false;
    Installation& install = life_.installs.back();
    install.whole = !life_.history->crashed || content_.members.size() >= content_.member_count;
    if (!install.whole) return;
    std::vector<View::Variant>& variants = run_.views[install.view].variants;
    auto same = std::ranges::find(variants, content_, &View::Variant::content);
    if (same == variants.end()) {
      variants.push_back({.content = std::move(content_), .install = {number_, install.index}});
      same = variants.end() - 1;
    }
    install.variant = static_cast<std::uint32_t>(same - variants.begin());
  }

 private:
  struct InGroup {
    std::uint64_t next = 0;  // 1 + the ordinal delivered last, 0 before the first
    SendLog* log = nullptr;
    Group* group = nullptr;
  };

  SendLog& log(std::uint16_t group) {
    std::unique_ptr<SendLog>& log = run_.send_logs_[std::uint64_t{number_} << 16 | group];
    if (log == nullptr) {
      log = std::make_unique<SendLog>();
      log->life = number_;
      run_.groups[group].id = group;
    }
    return *log;
  }

  void send(const Event& event) {
    InGroup& in = in_group_[event.group];
    if (in.log == nullptr) in.log = &log(event.group);
    // An abandoned claim may leave a gap in the tickets. A number far beyond the events is no
    // ticket: its deliveries are reported as never sent.
    constexpr std::uint64_t kPerEvent = 8;
    const std::uint64_t limit = (life_.history->events.size() + 4096) * kPerEvent;
    if (event.number == 0 || event.number > limit) return;
    ++in.log->count;
    in.log->end = std::max(in.log->end, event.number);
    const std::uint64_t since = event.time_ns - std::min(event.time_ns, run_.begin_ns);
    Sent& sent = in.log->sent[event.number - 1];
    sent.length = event.length;
    sent.crc = event.crc;
    sent.view = static_cast<std::uint32_t>(event.view);
    sent.after = static_cast<std::uint32_t>(in.next);
    sent.wedged = is_wedged(event.group, event.view) || is_wedged(kAllGroups, event.view) ? 1 : 0;
    sent.time = static_cast<std::uint32_t>(
                    std::min<std::uint64_t>((since >> Sent::kTimeShift) + 1, (1U << 31) - 1)) &
                0x7fffffffU;
  }

  [[nodiscard]] bool is_wedged(std::uint16_t group, std::uint64_t view) const {
    const std::uint64_t* wedged = wedged_.find(group);
    return wedged != nullptr && *wedged == view + 1;
  }

  void deliver(const Event& event) {
    InGroup& in = in_group_[event.group];
    if (in.group == nullptr) {
      in.group = &run_.groups[event.group];
      in.group->id = event.group;
      in.group->first_ordinal = std::min(in.group->first_ordinal, event.position);
      if (!in.group->level) {
        const auto level = static_cast<Level>(level_of(event));
        in.group->level = level <= Level::atomic ? level : Level::atomic;
      }
    }
    // The first one may have been sent as safe in a group at agreed.
    if (in.group->atomic() && level_of(event) == static_cast<std::uint8_t>(Level::agreed) &&
        !run_.options.groups.contains(event.group)) {
      in.group->level = Level::agreed;
    }
    ++in.group->deliveries;
    in.next = event.position + 1;
  }

  void install(const Event& event, std::uint64_t index) {
    end();
    open_ = true;
    content_ = {.digest = event.number, .member_count = event.length, .leader_rank = event.extra};
    View& view = run_.views[event.view];
    view.installers.push_back({number_, static_cast<std::uint32_t>(life_.installs.size())});
    life_.installs.push_back({.view = event.view, .index = index, .time_ns = event.time_ns});
  }

  void list(const Event& event) {
    if (!open_ || event.view != life_.installs.back().view) return;
    const NodeRef who{event.peer, event.number};
    if (event.kind == EventKind::view_member) {
      content_.members.push_back({who, event.extra, event.detail});
    } else if (event.kind == EventKind::group_member) {
      content_.groups[event.group].push_back({who, event.extra, event.detail});
    } else {
      content_.lefts.push_back({who, static_cast<LeftReason>(event.detail)});
    }
  }

  void rare(const Event& event, std::uint64_t index) {
    const EventRef ref{number_, index};
    switch (event.kind) {
      case EventKind::cut:
        run_.cuts[{event.view, event.group}].push_back(ref);
        return;
      case EventKind::snapshot_out:
      case EventKind::snapshot_in:
        run_.snapshots[{event.view, event.group}].push_back(ref);
        return;
      case EventKind::suspect:
        run_.suspects.push_back(ref);
        return;
      case EventKind::accept:
        run_.accepts.push_back(ref);
        return;
      case EventKind::decide:
        run_.decides.push_back(ref);
        return;
      case EventKind::barrier:
        run_.barriers.push_back(ref);
        return;
      case EventKind::leave:
        life_.leave = std::min(life_.leave, index);
        return;
      case EventKind::evicted:
        life_.evicted = std::min(life_.evicted, index);
        return;
      case EventKind::stopped:
        life_.stopped = std::min(life_.stopped, index);
        return;
      case EventKind::nulls:
      case EventKind::data_pushes:
      case EventKind::heartbeats:
        run_.counts.push_back(ref);
        return;
      case EventKind::resources:
        run_.resources.push_back(ref);
        return;
      case EventKind::quiet_begin:
      case EventKind::quiet_end:
      case EventKind::heal:
      case EventKind::heal_core:
      case EventKind::fault_begin:
      case EventKind::fault_end:
        run_.harness.push_back(ref);
        return;
      default:
        return;
    }
  }

  Run& run_;
  const std::uint32_t number_;
  Life& life_;
  FlatMap<InGroup> in_group_;
  FlatMap<std::uint64_t> wedged_;  // group -> 1 + the view wedged last
  ViewContent content_;            // of the view whose list is being read
  bool open_ = false;
};

Run::Run(std::span<const History> histories, const CheckOptions& given, Findings& found)
    : options(given), findings(found) {
  for (const auto& [id, rules] : options.groups) {
    groups[id] = {.id = id,
                  .level = rules.level,
                  .round_robin = rules.round_robin,
                  .one_service = rules.one_service,
                  .one_number = rules.one_number,
                  .durable = rules.durable,
                  .first = rules.first,
                  .at_run_time = rules.at_run_time,
                  .parted = rules.parted};
  }
  lives.resize(histories.size());
  for (std::uint32_t i = 0; i < histories.size(); ++i) {
    const Identity& identity = histories[i].identity;
    lives[i].history = &histories[i];
    lives[i].who = {identity.node, identity.incarnation};
    lives[i].crashed = histories[i].crashed;
    if (!histories[i].events.empty()) {
      begin_ns = std::min(begin_ns, histories[i].events.front().time_ns);
    }
    if (identity.node != kHarnessNode) {
      by_name_[name_key(identity.node, fold(identity.incarnation))] = i;
    }
  }
  for (std::uint32_t i = 0; i < histories.size(); ++i) {
    Scan scan(*this, i);
    for_each_event(histories[i], [&](const Event& e, std::uint64_t index) { scan.see(e, index); });
    scan.end();
    end_ns = std::max(end_ns, lives[i].end_ns);
  }
  finish();
}

void Run::finish() {
  if (begin_ns == kNever) begin_ns = 0;
  std::ranges::sort(harness, {},
                    [this](EventRef ref) { return std::pair(event(ref).time_ns, ref); });
  for (auto& [id, group] : groups) {
    if (!options.groups.contains(id)) {
      group.round_robin = options.other_groups.round_robin;
      group.one_service = options.other_groups.one_service;
      group.one_number = options.other_groups.one_number;
      group.durable = options.other_groups.durable;
      group.first = options.other_groups.first;
      if (options.other_groups.level) group.level = options.other_groups.level;
    }
    if (!group.level) group.level = Level::atomic;
  }
  for (const EventRef ref : harness) {  // a crash by the harness counts as one, too
    const Event& fault = event(ref);
    if (fault.kind != EventKind::fault_begin ||
        fault.detail != static_cast<std::uint8_t>(FaultKind::crash)) {
      continue;
    }
    for (Life& life : lives) {
      if (life.who.node == fault.peer && life.end_ns <= fault.time_ns) life.crashed = true;
    }
  }
}

std::vector<std::uint32_t> Run::survivors(std::uint64_t view) const {
  std::vector<std::uint32_t> found;
  const auto at = views.find(view);
  if (at == views.end()) return found;
  for (const Installer& installer : at->second.installers) {
    const std::vector<Installation>& installs = lives[installer.life].installs;
    const std::size_t next = installer.nth + 1;
    if (next < installs.size() && installs[next].view == view + 1) found.push_back(installer.life);
  }
  return found;
}

const Installation* Run::installed_at(EventRef ref) const {
  const std::vector<Installation>& installs = lives[ref.life].installs;
  const auto after = std::ranges::upper_bound(installs, ref.index, {}, &Installation::index);
  return after == installs.begin() ? nullptr : &*(after - 1);
}

const Installation* Run::installation(std::uint32_t life, std::uint64_t view) const {
  const std::vector<Installation>& installs = lives[life].installs;
  if (installs.empty()) return nullptr;
  const std::uint64_t nth = view - installs.front().view;  // as long as ids are consecutive
  if (nth < installs.size() && installs[nth].view == view) return &installs[nth];
  const auto found = std::ranges::find(installs, view, &Installation::view);
  return found != installs.end() ? &*found : nullptr;
}

bool Run::is_in(std::uint32_t life, const Group& group, std::uint64_t view) const {
  const ViewContent* const content = content_at(life, view);
  if (content == nullptr || (group.at_run_time && !content->groups.contains(group.id))) {
    return false;
  }
  return content->group_member(group.id, lives[life].who) != nullptr;
}

bool Run::stays_in(std::uint32_t life, const Group& group, std::uint64_t view) const {
  if (!group.at_run_time) return true;
  const auto parted = group.parted.find(lives[life].who.incarnation);
  if (parted != group.parted.end() && parted->second <= view) return false;
  return is_in(life, group, view + 1);
}

std::uint64_t Run::first_view_in(std::uint32_t life, const Group& group) const {
  for (const Installation& install : lives[life].installs) {
    if (is_in(life, group, install.view)) return install.view;
  }
  return kNever;
}

const ViewContent* Run::content_at(std::uint32_t life, std::uint64_t view) const {
  const Installation* install = installation(life, view);
  return install != nullptr && install->whole ? &content(*install) : nullptr;
}

}  // namespace tutti::history
