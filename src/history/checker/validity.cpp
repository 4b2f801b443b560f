// Every message that was sent is delivered in time by all members that can, or its sender is told
// that it failed (D10 V1 V5).
#include <algorithm>

#include "history/checker/families.hpp"

namespace tutti::history {
namespace {

class Validity {
 public:
  Validity(Run& run, const Trace& trace, const Timing& timing)
      : run_(run), trace_(trace), timing_(timing) {
    const std::vector<GoodTime>& good = timing_.good_times();
    if (!good.empty() && good.back().end_ns == kNever) last_good_ = &good.back();
  }

  void check() {
    run_.for_each_send_log([&](std::uint16_t group, const SendLog& log) { check_log(group, log); });
    for (const auto& [id, traced] : trace_.groups) {
      if (run_.groups.at(id).ordered()) {
        check_reached(id, traced);
      } else {
        check_heard(id, traced);
      }
    }
    if (last_good_ == nullptr) {
      run_.findings.skip("D10: whether the core delivered everything: the run does not end healed");
    }
  }

 private:
  [[nodiscard]] bool core(std::uint32_t life) const {
    return last_good_ != nullptr && timing_.in_core(*last_good_, life) && stays(life);
  }
  /// Whether it runs to the end of the run: it neither crashed nor left.
  [[nodiscard]] bool stays(std::uint32_t life) const {
    const Life& member = run_.lives[life];
    return !member.crashed && !member.gaps() && member.leave == kNever &&
           member.evicted == kNever && stopped_for(life) != StopReason::left;
  }
  [[nodiscard]] bool stays_in(std::uint32_t life, std::uint16_t group) const {
    const Group& rules = run_.groups.at(group);
    return !rules.at_run_time || (run_.is_in(life, rules, run_.lives[life].installs.back().view) &&
                                  !rules.parted.contains(run_.lives[life].who.incarnation));
  }
  [[nodiscard]] std::optional<StopReason> stopped_for(std::uint32_t life) const {
    const std::uint64_t at = run_.lives[life].stopped;
    if (at == kNever) return std::nullopt;
    return static_cast<StopReason>(run_.event({life, at}).detail);
  }
  [[nodiscard]] EventRef send_of(std::uint32_t life, std::uint16_t group,
                                 std::uint64_t ticket) const {
    const auto events = run_.lives[life].history->events;
    const auto found = std::ranges::find_if(events, [&](const Event& event) {
      return event.kind == EventKind::send && event.group == group && event.number == ticket;
    });
    return {life, static_cast<std::uint64_t>(found - events.begin())};
  }
  [[nodiscard]] const GroupTrace* traced(std::uint16_t group) const {
    const auto found = trace_.groups.find(group);
    return found != trace_.groups.end() ? &found->second : nullptr;
  }

  /// Checks those messages of a sender that it has not delivered itself.
  void check_log(std::uint16_t group, const SendLog& log) {
    const Life& life = run_.lives[log.life];
    const GroupTrace* trace = traced(group);
    const Ending* ending = trace != nullptr ? trace->ending(log.life) : nullptr;
    const bool left = stopped_for(log.life) == StopReason::left && !life.gaps();
    const bool in_core = core(log.life);
    for (std::uint64_t ticket = ending != nullptr ? ending->own_next : 1; ticket <= log.end;
         ++ticket) {
      const Sent sent = log.sent.get(ticket - 1);
      if (sent.time == 0 || log.failed.contains(ticket)) continue;
      if (left || in_core) {
        report(Property::D10, log.life, group, ticket,
               " sent a message that it has not delivered and was not told had failed");
      }
      const GoodTime* good = nullptr;
      if (timing_.due(run_.time_of(sent), good) < life.end_ns && timing_.in_core(*good, log.life)) {
        report(Property::V1, log.life, group, ticket,
               " sent a message that it has not delivered in time");
      }
    }
  }

  void report(Property property, std::uint32_t life, std::uint16_t group, std::uint64_t ticket,
              const std::string& what) {
    if (!run_.findings.keeps(property)) return run_.findings.add(property, {}, {});
    run_.findings.add(property, run_.name(life) + what, {send_of(life, group, ticket)});
  }

  /// In an ordered group all members of the core get to the same ordinal.
  void check_reached(std::uint16_t group, const GroupTrace& traced) {
    std::uint64_t next = 0;
    for (const Ending& ending : traced.endings) next = std::max(next, ending.next);
    for (std::uint32_t life = 0; life < run_.lives.size(); ++life) {
      if (run_.lives[life].installs.empty()) continue;
      const Ending* ending = traced.ending(life);
      if (ending == nullptr || ending->next >= next || !stays_in(life, group)) continue;
      check_missing(group, traced, *ending);
    }
    if (last_good_ == nullptr) return;
    for (std::uint32_t life = 0; life < run_.lives.size(); ++life) {
      if (!core(life) || run_.lives[life].installs.empty() || traced.ending(life) != nullptr ||
          !stays_in(life, group))
        continue;
      check_silent(group, traced, life);
    }
  }

  /// Checks a member of the core that delivered nothing: there was nothing for it.
  void check_silent(std::uint16_t group, const GroupTrace& traced, std::uint32_t life) {
    for (const Ending& ending : traced.endings) {
      const EventRef last{ending.life, ending.last_index};
      const ViewContent* content = run_.content_at(life, run_.event(last).view);
      if (content == nullptr || !core(ending.life) ||
          content->group_member(group, run_.lives[life].who) == nullptr) {
        continue;
      }
      run_.findings.add(Property::D10,
                        run_.name(life) + " delivers none of the messages that " +
                            run_.name(ending.life) + " delivers",
                        {last});
      return;
    }
  }

  void check_missing(std::uint16_t group, const GroupTrace& traced, const Ending& ending) {
    const Group& rules = run_.groups.at(group);
    const Entry missed = traced.sequence.get(ending.next - rules.first_ordinal);
    const EventRef last{ending.life, ending.last_index};
    const Sent sent = sent_of(group, missed);
    if (core(ending.life) && missed.sender != 0) {
      run_.findings.add(
          Property::D10,
          run_.name(ending.life) + " never delivers ordinal " + std::to_string(ending.next),
          {last});
      const GoodTime* good = nullptr;
      if (sent.time != 0 && timing_.due(run_.time_of(sent), good) < run_.end_ns) {
        run_.findings.add(Property::V1,
                          run_.name(ending.life) + " has not delivered ordinal " +
                              std::to_string(ending.next) + " in time",
                          {last});
      }
    }
    const Life& life = run_.lives[ending.life];
    if (stays(ending.life) && life.stopped == kNever) timing_.undelivered(ending.life, last, sent);
  }

  [[nodiscard]] Sent sent_of(std::uint16_t group, const Entry& entry) const {
    if (entry.sender == 0 || entry.ticket == 0) return {};
    const std::uint64_t name = trace_.names[entry.sender - 1];
    const std::uint32_t* life =
        run_.life_of(static_cast<std::uint16_t>(name >> 32), static_cast<std::uint32_t>(name));
    const SendLog* log = life != nullptr ? run_.sent_by(*life, group) : nullptr;
    return log != nullptr ? log->sent.get(entry.ticket - 1) : Sent{};
  }

  /// In a group without an order, each member of the core delivers all that the core sent.
  void check_heard(std::uint16_t group, const GroupTrace& traced) {
    for (const Heard& heard : traced.heard) {
      const SendLog* log = run_.sent_by(heard.sender, group);
      if (!core(heard.life) || !core(heard.sender) || log == nullptr) continue;
      for (std::uint64_t ticket = heard.next; ticket <= log->end; ++ticket) {
        if (log->sent.get(ticket - 1).time == 0 || log->failed.contains(ticket)) continue;
        run_.findings.add(
            Property::D10,
            run_.name(heard.life) + " never delivers a message of " + run_.name(heard.sender),
            {send_of(heard.sender, group, ticket)});
        break;
      }
    }
  }

  Run& run_;
  const Trace& trace_;
  const Timing& timing_;
  const GoodTime* last_good_ = nullptr;
};

}  // namespace

void check_validity(Run& run, const Trace& trace, const Timing& timing) {
  if (!run.options.complete) {
    return run.findings.skip("D10, V1 of messages never delivered: not complete");
  }
  Validity(run, trace, timing).check();
}

}  // namespace tutti::history
