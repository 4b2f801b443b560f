#include "fire/witness.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/crc32c.hpp"
#include "cli/clock.hpp"

namespace tutti::fire {
namespace {

using history::EventKind;

// A joiner that delivered nothing does not know where its view ended: the program that gathers the
// histories fills in what the others say (tests/system/fire/histories.py).
constexpr std::uint64_t kUnknown = ~0ULL;

std::uint64_t now() { return static_cast<std::uint64_t>(cli::now_ns()); }

std::byte pattern(const Mark& mark, std::size_t at) {
  return static_cast<std::byte>(mark.incarnation + mark.ticket * 31 + at * 7);
}

void mix(std::uint64_t& digest, std::uint64_t value) {
  digest = (digest ^ value) * 0x9FB21C651E98DF25;
  digest ^= digest >> 29;
}

std::uint64_t digest_of(const ViewChange& change) {
  std::uint64_t digest = change.view;
  for (Rank rank; rank.value < change.members.size(); ++rank.value) {
    for (const char c : change.members[rank]) mix(digest, static_cast<unsigned char>(c));
    mix(digest, change.incarnations[rank]);
  }
  return digest;
}

}  // namespace

Witness::Witness(std::string name, std::vector<std::string> nodes, std::vector<Level> levels,
                 std::string file)
    : name_(std::move(name)),
      nodes_(std::move(nodes)),
      levels_(std::move(levels)),
      file_(std::move(file)),
      next_ordinal_(levels_.size(), kUnknown) {}

Witness::~Witness() = default;

history::NodeRef Witness::ref(const std::string& name, std::uint64_t incarnation) const {
  return {static_cast<std::uint16_t>(std::ranges::find(nodes_, name) - nodes_.begin()),
          incarnation};
}

history::At Witness::at(std::uint16_t group) const {
  return {.view = view_.load(std::memory_order_relaxed), .time_ns = now(), .group = group};
}

void Witness::record(const history::Event& event) {
  if (recorder_ != nullptr) recorder_->append(event);
}

void Witness::open(std::uint64_t incarnation) {
  incarnation_.store(incarnation);
  if (file_.empty()) return;
  auto recorder = history::Recorder::to_file(
      file_, {.name = name_, .node = ref(name_, 0).node, .incarnation = incarnation});
  if (recorder) {
    recorder_ = std::move(*recorder);
  } else {
    std::fprintf(stderr, "%s: %s\n", name_.c_str(), recorder.error().message.c_str());
  }
}

// Only now this member knows why the others are gone. In a history, that some member suspected
// them, and where the view ended, come before the next view.
void Witness::end_view(const ViewChange& change, std::uint64_t digest) {
  for (const Departure& gone : change.left) {
    if (gone.reason != tutti::LeftReason::suspected) continue;
    record(history::make_suspect(at(), ref(gone.member, gone.incarnation),
                                 history::SuspectReason::told));
  }
  for (std::uint16_t group = 0; group < levels_.size(); ++group) {
    const bool ordered = levels_[group] != Level::unordered;
    record(history::make_cut(at(group), digest, ordered ? next_ordinal_[group] : 0));
  }
}

void Witness::view_changed(const ViewChange& change) {
  const std::uint64_t digest = digest_of(change);
  if (view_.load(std::memory_order_relaxed) == 0) {
    open(change.incarnations[change.rank]);
  } else {
    end_view(change, digest);
  }
  history::At here = at();
  here.view = change.view;
  record(history::make_install(here, digest, static_cast<std::uint32_t>(change.members.size()), 0));
  std::string told = "view " + std::to_string(change.view) + " " + std::to_string(here.time_ns);
  for (Rank rank; rank.value < change.members.size(); ++rank.value) {
    const std::string& name = change.members[rank];
    const bool joined = std::ranges::find(change.joined, name) != change.joined.end();
    record(history::make_view_member(
        here, ref(name, change.incarnations[rank]), rank.value,
        static_cast<std::uint8_t>((joined ? history::kMemberJoined : 0) | history::kMemberSends)));
    told += (rank.value == 0 ? " " : ",") + name + ":" + std::to_string(change.incarnations[rank]);
  }
  for (const Departure& gone : change.left) {
    record(history::make_view_left(here, ref(gone.member, gone.incarnation),
                                   gone.reason == tutti::LeftReason::left
                                       ? history::LeftReason::leave
                                       : history::LeftReason::suspected));
  }
  view_.store(change.view);
  std::printf("%s\n", told.c_str());
}

void Witness::delivered(std::uint16_t group, std::span<const Message> batch,
                        const std::function<bool()>& intact) {
  const history::At here = at(group);
  const std::uint64_t self = incarnation_.load(std::memory_order_relaxed);
  std::vector<history::Event> events;
  std::uint64_t own = 0;
  for (const Message& message : batch) {
    Mark mark{};
    if (message.size >= sizeof mark) std::memcpy(&mark, message.data, sizeof mark);
    own += mark.incarnation == self ? 1 : 0;
    if (recorder_ == nullptr) continue;
    // The bytes name the sender: if it is not a member of the view, that is a violation.
    history::Delivery delivery{
        .sender = {static_cast<std::uint16_t>(message.sender.value), mark.incarnation},
        .ticket = Ticket{mark.ticket & ~kSafeMark},
        .ordinal = message.seq,
        .length = message.size,
        .crc = crc32c(message.bytes()),
        .level = (mark.ticket & kSafeMark) != 0 ? Level::atomic : levels_[group],
        .send_view = here.view};
    events.push_back(history::make_deliver(here, delivery));
    if (mark.incarnation == self) events.push_back(history::make_send_ok(here, delivery.ticket));
    const std::uint32_t at_end = crc32c(message.bytes());
    if (std::exchange(delivery.crc, at_end) != at_end) {
      events.push_back(history::make_deliver_end(here, delivery));
    }
  }
  if (!intact()) return;
  if (std::exchange(first_of_view_, here.view) != here.view) {
    std::printf("first %llu %llu\n", static_cast<unsigned long long>(here.view),
                static_cast<unsigned long long>(here.time_ns));
  }
  for (const history::Event& event : events) record(event);
  next_ordinal_[group] = batch.back().seq.value + 1;
  own_.fetch_add(own);
  all_.fetch_add(batch.size());
}

void Witness::sends(std::uint16_t group, std::uint64_t ticket, Service service,
                    std::span<std::byte> message) {
  const Mark mark{ticket | (service == Service::safe ? kSafeMark : 0),
                  incarnation_.load(std::memory_order_relaxed)};
  std::memcpy(message.data(), &mark, sizeof mark);
  for (std::size_t i = sizeof mark; i < message.size(); ++i) message[i] = pattern(mark, i);
  if (recorder_ == nullptr) return;
  record(history::make_send(at(group), Ticket{ticket}, static_cast<std::uint32_t>(message.size()),
                            crc32c(message)));
}

void Witness::leaves() { record(history::make_event(EventKind::leave, at())); }

void Witness::stopped(history::StopReason reason, bool evicted) {
  if (evicted) record(history::make_event(EventKind::evicted, at()));
  record(history::make_stopped(at(), reason));
  if (recorder_ == nullptr) return;
  if (const Result<void> closed = recorder_->close(); !closed) {
    std::fprintf(stderr, "%s: %s\n", name_.c_str(), closed.error().message.c_str());
  }
}

}  // namespace tutti::fire
