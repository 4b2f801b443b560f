// The application's state in the simulated world: saved and loaded by an actor of its own, which
// takes its time, as the node's thread for states does.
#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "history/make_event.hpp"
#include "sim/member.hpp"

namespace tutti::sim {
namespace {

using history::EventKind;

// How long a state is, which says where it ends.
std::size_t more_bytes(std::uint64_t messages) { return messages * 13 % 600; }

}  // namespace

// Groups of even number take snapshots, the others save their state at once.
std::vector<GroupState> Member::group_states() {
  std::vector<GroupState> states;
  for (std::uint16_t g = 0; g < plan_.rows.groups.size(); ++g) {
    GroupState state{.name = plan_.rows.groups[g].name};
    if (has_state(plan_, g)) {
      if (g % 2 == 0) {
        state.snapshot = [this, g] { return take_snapshot(g); };
      } else {
        state.save = [this, g](const StateSink& write) { return save(g, write); };
      }
      state.load = [this, g](const StatePiece& piece) { return load(g, piece); };
    }
    states.push_back(std::move(state));
  }
  return states;
}

// One job after the other. Here a state is as it was when the job ended: M9 does not hold if
// something was delivered meanwhile.
bool Member::work_on_states() {
  const bool done = state_job_ns_ <= net_.now_ns() && jobs_->work();
  if (done) state_job_ns_ = kNever;
  if (state_job_ns_ == kNever && jobs_->waits()) {
    const std::uint64_t most_ns =
        jobs_->next().kind == StateJob::Kind::save ? plan_.states.save_ns : plan_.states.piece_ns;
    state_job_ns_ = net_.now_ns() + random_.below(most_ns + 1);
  }
  return done;
}

// What is saved at once is not the same bytes at every member: two such states do not mix.
Result<void> Member::save(std::uint16_t group, const StateSink& write) {
  const AppState& state = seats_[group].state;
  write(std::as_bytes(std::span(&state, 1)));
  const auto mark = static_cast<std::byte>(group % 2 == 0 ? 0 : number());
  const std::vector<std::byte> more(more_bytes(state.messages), mark);
  write(more);
  record(
      history::make_snapshot(EventKind::snapshot_out,
                             {.view = jobs_->next().view, .time_ns = net_.now_ns(), .group = group},
                             state.digest, state.messages));
  return {};
}

// Read by a few bytes at a time, whatever is asked for.
Result<ReadSnapshot> Member::take_snapshot(std::uint16_t group) {
  std::vector<std::byte> bytes;
  Result<void> saved = save(group, [&bytes](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  });
  if (!saved) return std::unexpected(saved.error());
  return [bytes = std::move(bytes)](std::uint64_t offset,
                                    std::span<std::byte> into) -> Result<std::size_t> {
    const std::uint64_t left = bytes.size() - std::min<std::uint64_t>(offset, bytes.size());
    const std::size_t size = std::min<std::size_t>({left, into.size(), 1 + offset % 33});
    if (size != 0) std::memcpy(into.data(), bytes.data() + offset, size);
    return size;
  };
}

Result<void> Member::load(std::uint16_t group, const StatePiece& piece) {
  if (piece.first) loaded_.clear();
  loaded_.insert(loaded_.end(), piece.bytes.begin(), piece.bytes.end());
  if (!piece.last) return {};
  AppState& state = seats_[group].state;
  if (loaded_.size() < sizeof state) return fail(ErrorCode::mismatch, "too short");
  std::memcpy(&state, loaded_.data(), sizeof state);
  if (loaded_.size() != sizeof state + more_bytes(state.messages)) {
    return fail(ErrorCode::mismatch, "of a wrong length");
  }
  const auto more = std::span(loaded_).subspan(sizeof state);
  if (std::ranges::adjacent_find(more, std::ranges::not_equal_to{}) != more.end()) {
    return fail(ErrorCode::mismatch, "of two members");
  }
  record(
      history::make_snapshot(EventKind::snapshot_in,
                             {.view = jobs_->next().view, .time_ns = net_.now_ns(), .group = group},
                             state.digest, state.messages));
  return {};
}

}  // namespace tutti::sim
