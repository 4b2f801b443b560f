// What the membership asks of the views on disk.
#include <boost/asio/post.hpp>
#include <utility>

#include "node/restart/restart_thread.hpp"

namespace tutti {

using restart::Recovery;

std::vector<restart::GroupFirst> RestartThread::firsts_of(
    const std::vector<std::uint64_t>& by_group) const {
  std::vector<restart::GroupFirst> out;
  for (const std::size_t group : logged_) {
    out.push_back({.group = groups_[group].name, .first = by_group[group]});
  }
  return out;
}

namespace {

restart::ViewRecord record_of(const View& view, std::vector<restart::GroupFirst> firsts) {
  restart::ViewRecord out{.id = view.id, .first = std::move(firsts)};
  for (const ViewMember& member : view.members) out.members.push_back(member.slot.value);
  return out;
}

}  // namespace

// What founds a view was accepted by the recovery.
bool RestartThread::has_accepted(std::uint64_t view, const Proposal& proposal,
                                 std::uint64_t ballot) {
  if (view == 0) return true;
  std::vector<std::uint64_t> firsts;
  for (const Cut& cut : proposal.cuts) firsts.push_back(cut.next_seq);
  restart::Accepted accepted{
      .ballot = ballot,
      .proposal = {.follows = view, .next = record_of(proposal.next, firsts_of(firsts))}};
  const std::lock_guard lock(mutex_);
  if (accept_asked_ == accepted) return accepted_ == accepted;
  accept_asked_ = accepted;
  asio::post(context_, [this, accepted = std::move(accepted)] {
    writing_.begin();
    recovery_->accept(accepted);
    writing_.end();
    look();
    if (recovery_->error()) return;
    {
      const std::lock_guard done(mutex_);
      accepted_ = accepted;
    }
    events_.changed();
  });
  return false;
}

bool RestartThread::has_installed(const View& view, const std::vector<std::uint64_t>& firsts) {
  restart::ViewRecord record = record_of(view, firsts_of(firsts));
  const std::lock_guard lock(mutex_);
  if (installed_ == record) return true;
  if (install_asked_ == record) return false;
  install_asked_ = record;
  asio::post(context_, [this, record = std::move(record)]() mutable {
    installing_ = std::move(record);
    look();
  });
  return false;
}

// A joiner may have to wait for what members say of the views before.
void RestartThread::install() {
  writing_.begin();
  const Recovery::Installed done = recovery_->install(*installing_);
  writing_.end();
  if (done == Recovery::Installed::not_yet) return;
  {
    const std::lock_guard lock(mutex_);
    if (done == Recovery::Installed::yes) {
      installed_ = std::move(installing_);
    } else if (!recovery_->error()) {
      progress_.in_vain = true;
    }
  }
  installing_.reset();
  events_.changed();
}

void RestartThread::confirmed(std::uint64_t view) {
  asio::post(context_, [this, view] {
    writing_.begin();
    recovery_->confirm(view);
    writing_.end();
    look();
  });
}

}  // namespace tutti
