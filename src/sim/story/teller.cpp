#include "sim/story/teller.hpp"

#include <algorithm>

#include "sst/memory.hpp"

namespace tutti::sim {
namespace {

std::string joined(const std::vector<std::string>& texts, const char* between) {
  std::string text;
  for (const std::string& one : texts) text += (text.empty() ? "" : between) + one;
  return text;
}

}  // namespace

Teller::Teller(const RowPlan& plan)
    : plan_(plan),
      words_(plan),
      posted_(std::size_t{plan.nodes()} * plan.nodes()),
      seen_(posted_.size()),
      heard_(plan.nodes()) {}

void Teller::begin() {
  began_ns_ = last_ns_ = world_->now_ns();
  told_ns_ = ScriptedWorld::kNever;
  goes_on_.reset();
}

void Teller::tell(std::uint32_t slot, const std::string& what) {
  goes_on_.reset();
  if (telling_.hushed) return;
  last_ns_ = world_->now_ns();
  std::string time;
  if (std::exchange(told_ns_, last_ns_) != last_ns_) {
    time = "+" + std::to_string((last_ns_ - began_ns_) / ScriptedWorld::kDelayNs);
  }
  time.resize(std::max<std::size_t>(time.size() + 1, 5), ' ');
  text_ += time + words_.name(Slot{slot}) + (what.starts_with('\'') ? "" : " ") + what + "\n";
}

void Teller::tell_also(std::uint32_t slot, const std::string& what) {
  if (goes_on_ != slot || last_ns_ != world_->now_ns()) {
    tell(slot, what);
  } else if (!telling_.hushed) {
    text_.insert(text_.size() - 1, "; " + what);
  }
  goes_on_ = slot;
}

Teller::Known& Teller::known(std::vector<Known>& all, std::uint32_t whose, std::uint32_t other) {
  Known& found = all[whose * plan_.nodes() + other];
  found.row.resize(words_.end());
  return found;
}

Teller::Texts Teller::learn(Known& known, std::uint32_t owner, std::size_t offset,
                            std::span<const std::byte> bytes) {
  std::vector<std::pair<std::size_t, std::uint64_t>> news;  // where, and what was there
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    if (offset + at < words_.begin() || offset + at + 8 > words_.end()) continue;
    std::byte* const cell = known.row.data() + offset + at;
    const std::uint64_t before = NativeMemory::load(cell);
    const std::uint64_t now = NativeMemory::load(bytes.data() + at);
    if (before == now) continue;
    store_cell(cell, now);
    news.emplace_back(offset + at, before);
  }
  // A node that has just come is given old words, too: those of earlier views are not told.
  if (!news.empty() && !std::exchange(known.greeted, true)) known.since = words_.view_of(known.row);
  Texts texts;
  for (const auto& [at, before] : news) {
    if (words_.is_heartbeat(at) && !telling_.heartbeats) continue;
    if (known.since != 0 && words_.is_older(known.row.data(), at, known.since)) continue;
    std::string text = words_.changed(Slot{owner}, known.row.data(), at, before);
    if (!text.empty()) texts.push_back(std::move(text));
  }
  return texts;
}

void Teller::posted(const Net::Posted& posted) {
  words_.learn(world_->member(posted.from)->view());
  see(posted.from);
  if (world_->member(posted.from)->recorder().events().size() != heard_[posted.from].events) {
    tell_posts(posted.from);
    tell_events(posted.from);
  }
  Texts news;
  if (posted.data) {
    news.push_back(words_.data(Slot{posted.from}, posted.offset, posted.bytes));
  } else {
    news = learn(known(posted_, posted.from, posted.to), posted.from, posted.offset, posted.bytes);
  }
  auto found = std::ranges::find(posts_, posted.to, &std::pair<std::uint32_t, Texts>::first);
  if (found == posts_.end()) found = posts_.insert(found, {posted.to, {}});
  for (std::string& text : news) {
    Texts& texts = found->second;
    if (!text.empty() && (texts.empty() || texts.back() != text)) texts.push_back(std::move(text));
  }
}

// Those who are told the same are told in one line.
void Teller::tell_posts(std::uint32_t slot) {
  std::ranges::stable_sort(posts_, {}, &std::pair<std::uint32_t, Texts>::first);
  while (!posts_.empty()) {
    const Texts texts = posts_.front().second;
    Texts to;
    std::erase_if(posts_, [&](const auto& post) {
      if (post.second != texts) return false;
      to.push_back(words_.name(Slot{post.first}));
      return true;
    });
    if (texts.empty()) continue;
    tell(slot, (shared_ ? "shows " : "pushes to ") + joined(to, ", ") + ": " + joined(texts, "; "));
  }
}

// What has landed. Before anything else is told of the pass.
void Teller::see(std::uint32_t slot) {
  if (std::exchange(looked_, true)) return;
  for (std::uint32_t other = 0; other < plan_.nodes(); ++other) {
    if (other == slot) continue;
    const std::byte* row = world_->row(slot, other);
    const Texts texts = learn(known(seen_, slot, other), other, words_.begin(),
                              {row + words_.begin(), words_.end() - words_.begin()});
    if (texts.empty() || !telling_.sees) continue;
    tell(slot, "sees of " + words_.name(Slot{other}) + ": " + joined(texts, "; "));
  }
}

void Teller::wakes(std::uint32_t slot, bool by_doorbell) {
  looked_ = false;
  if (telling_.sleep) tell(slot, by_doorbell ? "is woken by a doorbell" : "wakes by itself");
}

void Teller::passed(std::uint32_t slot) {
  words_.learn(world_->member(slot)->view());  // it may have posted nothing in it
  see(slot);
  tell_posts(slot);
  tell_events(slot);
  looked_ = false;
}

void Teller::sleeps(std::uint32_t slot) {
  if (telling_.sleep) tell(slot, "sleeps");
}

void Teller::gone(std::uint32_t slot, const std::string& why) {
  tell_posts(slot);
  tell_events(slot);
  tell(slot, why);
  for (std::uint32_t other = 0; other < plan_.nodes(); ++other) {
    for (auto* all : {&posted_, &seen_}) {
      (*all)[slot * plan_.nodes() + other] = (*all)[other * plan_.nodes() + slot] = {};
    }
  }
}

void Teller::hears_loss(std::uint32_t slot, std::uint32_t of) {
  tell_also(slot, "has lost the connection to " + words_.name(Slot{of}));
}

void Teller::look_at(std::uint32_t slot) { tell_events(slot); }

void Teller::tell_events(std::uint32_t slot) {
  const Member& member = *world_->member(slot);
  Heard& heard = heard_[slot];
  if (heard.incarnation != member.self().incarnation) heard = {member.self().incarnation};
  const std::vector<history::Event>& events = member.recorder().events();
  while (heard.events < events.size()) {
    if (events[heard.events].kind == history::EventKind::deliver) tell_views(slot);
    heard.events = tell_event(slot, events, heard.events);
  }
  tell_views(slot);
}

void Teller::tell_views(std::uint32_t slot) {
  auto& views = heard_[slot].views;
  while (!views.empty() && views.front().first <= world_->member(slot)->announced_view()) {
    tell(slot, views.front().second);
    views.pop_front();
  }
}

}  // namespace tutti::sim
