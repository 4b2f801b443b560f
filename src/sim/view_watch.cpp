#include "sim/view_watch.hpp"

#include <algorithm>

#include "sim/plan.hpp"
#include "sst/memory.hpp"

namespace tutti::sim {

ViewLog* ViewWatch::open(const ViewMember& member, std::vector<bool> logged, const Net& net) {
  const std::uint32_t slot = member.slot.value;
  logged_ = std::move(logged);
  const ViewDisk::Told told{
      .installs = [this, slot](const InstalledOnDisk& before,
                               const InstalledOnDisk& next) { installs(slot, before, next); },
      .confirmed = [this, slot](std::uint64_t view) { confirmed(slot, view); }};
  const std::uint64_t seed = seed_ ^ (slot * 0xD6E8FEB86659FD93 + 0x7669657773);
  const auto [disk, fresh] = disks_.try_emplace(slot, disk_, net, seed, told);
  if (mended_) disk->second.mend();
  disk->second.begin(member.incarnation);
  running_[slot] = member;
  return &disk->second;
}

void ViewWatch::find(std::uint32_t slot, const std::string& what) {
  if (finding_.empty()) finding_ = what + ", of " + name_of(slot);
}

// The newest view that this incarnation has on its disk.
std::uint64_t ViewWatch::installed(const ViewMember& member) const {
  const std::optional<InstalledOnDisk>& last = disks_.at(member.slot.value).synced().installed;
  return last && last->incarnation == member.incarnation ? last->view.id : 0;
}

// D21. A block of no view has 0 as its epoch; that of view 0, too.
void ViewWatch::look(const ViewMember& member, const std::byte* row, const ViewWords& words,
                     bool in_view_0) {
  shows_view(member, NativeMemory::load(row + ViewWords::kInstalled));
  for (const std::uint64_t parity : {0, 1}) {
    const std::byte* block = row + words.block(parity);
    const std::uint64_t epoch = NativeMemory::load(block + ViewWords::kEpoch);
    shows_view(member, epoch);
    if (epoch % 2 != parity || (epoch == 0 && !in_view_0)) continue;
    const std::uint64_t accepted = NativeMemory::load(block + ViewWords::kAccepted);
    if (accepted == 0) continue;
    shows_accepted(member, epoch, accepted / 2,
                   NativeMemory::load(block + words.proposal(accepted % 2)));
  }
}

void ViewWatch::shows_view(const ViewMember& member, std::uint64_t view) {
  const std::uint64_t synced = installed(member);
  if (view <= synced) return;
  find(member.slot.value, "D21: the row is that of view " + std::to_string(view) + ", and view " +
                              std::to_string(synced) + " is the last on disk");
}

// What the member accepts next is on disk while the row still says the last. Once the next view is
// on disk, what was accepted before it is decided, whoever says it.
void ViewWatch::shows_accepted(const ViewMember& member, std::uint64_t view, std::uint64_t ballot,
                               std::uint64_t digest) {
  if (installed(member) > view) return;
  const std::optional<AcceptedOnDisk>& last = disks_.at(member.slot.value).synced().accepted;
  const AcceptedOnDisk shown{
      .incarnation = member.incarnation, .view = view, .ballot = ballot, .digest = digest};
  if (last == shown) return;
  const bool later = last && last->incarnation == member.incarnation && last->view == view &&
                     last->ballot > ballot;
  if (later) return;
  find(member.slot.value, "D21: the row says in view " + std::to_string(view) + " that ballot " +
                              std::to_string(ballot) + " is accepted, and that is not on disk");
}

// D22.
void ViewWatch::installs(std::uint32_t slot, const InstalledOnDisk& before,
                         const InstalledOnDisk& next) {
  const std::string view = "D22: view " + std::to_string(next.view.id);
  const bool same_life = before.incarnation == next.incarnation;
  if (same_life && next.view.id != before.view.id + 1) {
    find(slot, view + " follows view " + std::to_string(before.view.id) + " on the disk");
  }
  if (restarts_ && written_.empty()) {
    std::vector<Slot> slots;
    for (const ViewMember& member : next.view.members) slots.push_back(member.slot);
    const bool given = next.view.id == restarts_->id && slots == restarts_->members &&
                       next.view.survivors == 0 && next.firsts == restarts_->firsts;
    if (!given) find(slot, view + " is the first on a disk, and not the one of the restart");
  }
  const auto [known, fresh] = written_.try_emplace(next.view.id, next);
  if (fresh) return;
  if (known->second.view != next.view) find(slot, view + " has other members on other disks");
  if (known->second.firsts != next.firsts) find(slot, view + " has other cuts on other disks");
}

void ViewWatch::enters(const ViewMember& member, std::size_t group, const Proposal& decision,
                       std::uint64_t first) {
  const std::uint64_t told = decision.cuts[group].next_seq;
  if (told == first) return;
  find(member.slot.value, "D22: view " + std::to_string(decision.next.id) + " of group " +
                              std::to_string(group) + " begins with number " +
                              std::to_string(told) + ", it is said, and with " +
                              std::to_string(first) + " by the count");
}

void ViewWatch::deliver(std::size_t group, const ViewMember& member, const Message& message) {
  if (!logged_[group]) return;
  shows_view(member, message.view);
  std::uint64_t& last = lives_[key(member)].delivered_in[group];
  if (std::exchange(last, message.view) == message.view) return;
  const auto view = written_.find(message.view);
  if (view == written_.end()) return;  // found already
  const std::uint64_t first = view->second.firsts[group];
  if (message.seq.value == first) return;
  find(member.slot.value, "D22: view " + std::to_string(message.view) + " of group " +
                              std::to_string(group) + " begins with number " +
                              std::to_string(message.seq.value) + ", and with " +
                              std::to_string(first) + " on disk");
}

// D23. A majority for each group: each has a node in common with a majority that comes back.
void ViewWatch::confirmed(std::uint32_t slot, std::uint64_t view) {
  Life& life = lives_[key(running_.at(slot))];
  const std::string what = "D23: view " + std::to_string(view) + " is said to be confirmed, and ";
  if (view != installed(running_.at(slot)) || view <= life.confirmed) {
    find(slot, what + "is not the last one on disk, or was so before");
  }
  life.confirmed = view;
  const auto written = written_.find(view);
  if (written == written_.end()) return;
  for (std::size_t group = 0; group < logged_.size(); ++group) {
    if (!logged_[group]) continue;
    const std::uint64_t first = written->second.firsts[group];
    const IndexedBy<Rank, ViewMember>& members = written->second.view.members;
    const auto many = std::ranges::count_if(
        members, [&](const ViewMember& member) { return logs_.has_before(group, member, first); });
    if (2 * static_cast<std::size_t>(many) > members.size()) continue;
    find(slot, what + "only " + std::to_string(many) + " of " + std::to_string(members.size()) +
                   " members have on disk what comes before it in group " + std::to_string(group));
  }
}

void ViewWatch::gone(const ViewMember& member, bool crashed) {
  const auto disk = disks_.find(member.slot.value);
  if (disk == disks_.end()) return;
  if (crashed) {
    disk->second.crash();
  } else {
    disk->second.close();
  }
}

void ViewWatch::mend() {
  for (auto& [slot, disk] : disks_) disk.mend();
  mended_ = true;
}

std::uint64_t ViewWatch::next_ns(const ViewMember& member) const {
  return disks_.at(member.slot.value).next_ns();
}

std::string ViewWatch::lacks(const ViewMember& member, std::uint64_t view) const {
  const auto life = lives_.find(key(member));
  if (life != lives_.end() && life->second.confirmed == view) return {};
  return "V9: " + name_of(member.slot.value) + " does not know that view " + std::to_string(view) +
         " is confirmed";
}

}  // namespace tutti::sim
