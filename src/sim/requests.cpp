#include "sim/requests.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace tutti::sim {
namespace {

using Written = Requests<Memory>::Written;

// What a request or a reply says of itself; the rest is a pattern of it.
struct AskMark {
  std::uint64_t asker = 0;  // incarnation
  std::uint64_t asked = 0;  // incarnation
  std::uint64_t id = 0;
  std::uint64_t nth = 0;  // of the requests of the session, from 1 on; of a reply 0

  friend bool operator==(const AskMark&, const AskMark&) = default;
};

std::byte ask_pattern(const AskMark& mark, std::size_t at) {
  return static_cast<std::byte>(mark.asker + mark.asked * 3 + mark.id * 31 + mark.nth + at * 7);
}

std::vector<std::byte> ask_text(const AskMark& mark, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::memcpy(bytes.data(), &mark, sizeof mark);
  for (std::size_t at = sizeof mark; at < size; ++at) bytes[at] = ask_pattern(mark, at);
  return bytes;
}

// Nothing if it is not whole.
std::optional<AskMark> ask_mark_in(std::span<const std::byte> bytes) {
  AskMark mark;
  if (bytes.size() < sizeof mark) return {};
  std::memcpy(&mark, bytes.data(), sizeof mark);
  for (std::size_t at = sizeof mark; at < bytes.size(); ++at) {
    if (bytes[at] != ask_pattern(mark, at)) return {};
  }
  return mark;
}

// What a handler makes of that request.
bool is_refused(std::uint64_t id) { return id % 7 == 3; }
// Its caller waits for no reply, and it is released without one, as one that comes too late is.
bool is_given_up(std::uint64_t id) { return id % 11 == 5; }
std::uint32_t patience_of(std::uint64_t id) {
  return is_given_up(id) ? 1 : 2 + id * 0x9E3779B9 % (RequestFrame::kPatienceMax - 1);
}
std::size_t reply_size(const RequestWords& words, std::uint64_t id) {
  const std::size_t most = is_refused(id) ? 200 : words.bytes_max;
  return sizeof(AskMark) + id * 0x9E3779B97F4A7C15 % (most - sizeof(AskMark) + 1);
}

}  // namespace

void AppRequests::call(Prng& random) {
  constexpr std::size_t kWaitingMost = 3;
  const Slot to{static_cast<std::uint32_t>(random.below(peers_.size()))};
  Peer& peer = peers_[to.value];
  if (peer.session == 0 || peer.waiting.size() == kWaitingMost) return;
  const std::size_t most = random.one_in(2) ? words_.bytes_max : 64;
  const Waiting call{.id = ++ids_,
                     .size = sizeof(AskMark) + random.below(most - sizeof(AskMark) + 1)};
  if (!is_given_up(call.id)) open_[call.id] = {.to = to, .session = peer.session};
  if (!peer.waiting.empty() || !write(to, peer, call)) peer.waiting.push_back(call);
}

void AppRequests::write_waiting() {
  for (std::uint32_t slot = 0; slot < peers_.size(); ++slot) {
    Peer& peer = peers_[slot];
    if (!std::exchange(peer.has_space, false)) continue;
    while (!peer.waiting.empty() && write(Slot{slot}, peer, peer.waiting.front())) {
      peer.waiting.pop_front();
    }
  }
}

// False if there is no space for it.
bool AppRequests::write(Slot to, Peer& peer, const Waiting& call) {
  const AskMark mark{self_.incarnation, node_.member(to), call.id, peer.written + 1};
  const Written written = node_.lanes().write(to, peer.session, FrameKind::request, call.id,
                                              ask_text(mark, call.size), patience_of(call.id));
  if (written == Written::gone) find("D17: a session has ended, and nobody was told");
  if (written == Written::full) return false;
  ++peer.written;
  return true;
}

bool AppRequests::turn(Prng& random, std::uint64_t handler_ns) {
  const std::uint64_t now_ns = node_.now_ns();
  if (jobs_.empty() || waits_) return false;
  if (!std::exchange(handling_, true)) {
    const std::uint64_t takes_ns = random.below(handler_ns);
    busy_until_ns_ = now_ns + (random.one_in(4) ? takes_ns : 0);
  }
  if (now_ns < busy_until_ns_) return true;
  const Job job = jobs_.front();
  if (!is_given_up(job.id) && !answer(job)) {
    waits_ = true;
    return false;
  }
  node_.lanes().release(job.from, job.session);
  Peer& peer = peers_[job.from.value];
  if (peer.session == job.session) peer.unhandled -= job.granules;
  jobs_.pop_front();
  handling_ = false;
  return true;
}

// False if there is no space for it.
bool AppRequests::answer(const Job& job) {
  const AskMark mark{node_.member(job.from), self_.incarnation, job.id, 0};
  const FrameKind kind = is_refused(job.id) ? FrameKind::failed : FrameKind::reply;
  return node_.lanes().write(job.from, job.session, kind, job.id,
                             ask_text(mark, reply_size(words_, job.id))) != Written::full;
}

void AppRequests::end() {
  open_.clear();
  jobs_.clear();
  for (Peer& peer : peers_) peer.waiting.clear();
}

bool AppRequests::awaits(Slot slot) const {
  return std::ranges::any_of(open_, [slot](const auto& call) { return call.second.to == slot; });
}

std::string AppRequests::unanswered() const {
  if (!open_.empty()) {
    return "waits in vain for the reply to its request " + std::to_string(open_.begin()->first);
  }
  return jobs_.empty() ? "" : "has not handled all requests";
}

void AppRequests::opened(Slot peer, std::uint64_t session) {
  if (peers_[peer.value].session != 0) find("D17: a session begins before the last one has ended");
  peers_[peer.value] = {};
  peers_[peer.value].session = session;
  peers_[peer.value].incarnation = node_.member(peer);
  peers_[peer.value].opened_ns = node_.now_ns();
}

void AppRequests::request(Slot from, std::uint64_t session, std::uint64_t id,
                          std::uint32_t patience_ms, std::span<const std::byte> bytes) {
  Peer& peer = peers_[from.value];
  const AskMark wanted{node_.member(from), self_.incarnation, id, ++peer.arrived};
  if (session != peer.session || session == 0) find("D17: a request is of no session");
  if (ask_mark_in(bytes) != wanted) {
    find("D17: a request is handled that is not the next one for this member: number " +
         std::to_string(peer.arrived) + " of slot " + std::to_string(from.value));
  }
  if (patience_ms != patience_of(id)) find("D17: a request has the patience of another");
  const Job job{
      .from = from, .session = session, .id = id, .granules = RequestFrame::granules(bytes.size())};
  peer.unhandled += job.granules;
  if (peer.unhandled > words_.lane_granules()) {
    find("RQ4: more requests of a member wait here than fit into its lane");
  }
  jobs_.push_back(job);
}

void AppRequests::reply(Slot from, std::uint64_t session, std::uint64_t id, bool failed,
                        std::span<const std::byte> bytes) {
  const auto call = open_.find(id);
  if (call == open_.end() || call->second.to != from || call->second.session != session) {
    return find("D17: a reply is to no open request of this session: " + std::to_string(id));
  }
  const AskMark wanted{self_.incarnation, node_.member(from), id, 0};
  if (ask_mark_in(bytes) != wanted || failed != is_refused(id) ||
      bytes.size() != reply_size(words_, id)) {
    find("D17: a reply is not that of its request: " + std::to_string(id));
  }
  open_.erase(call);
}

void AppRequests::gone(Slot slot, std::uint64_t session) {
  Peer& peer = peers_[slot.value];
  if (peer.session != session) find("D17: a session ends that has not begun");
  if (!node_.may_be_gone(slot, peer.incarnation, peer.opened_ns)) {
    find("D17: calls to slot " + std::to_string(slot.value) + " end, and it is there");
  }
  std::erase_if(open_, [session](const auto& call) { return call.second.session == session; });
  // The handler of the first one runs: its reply finds that the session has ended.
  const auto first = jobs_.begin() + (handling_ && !jobs_.empty() ? 1 : 0);
  jobs_.erase(std::remove_if(first, jobs_.end(),
                             [session](const Job& job) { return job.session == session; }),
              jobs_.end());
  peer = {};
  waits_ = false;
}

void AppRequests::space(Slot peer) {
  peers_[peer.value].has_space = true;
  waits_ = false;
}

void AppRequests::find(const std::string& what) {
  if (finding_.empty()) finding_ = what;
}

}  // namespace tutti::sim
