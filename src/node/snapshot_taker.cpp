#include "node/snapshot_taker.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "base/memory_advice.hpp"
#include "base/random.hpp"
#include "log/stream.hpp"
#include "membership/saved_state.hpp"

namespace tutti {
namespace {

// Of a state that is read at a time: joiners may wait for this thread.
constexpr std::size_t kReadBytes = 256U << 10;

}  // namespace

SnapshotTaker::SnapshotTaker(SnapshotTakerEvents events)
    : events_(std::move(events)), disk_(log::posix_disk()) {}

void SnapshotTaker::add(std::size_t group, const GroupState& state, DiskLog& log,
                        DeliveryPause& pause) {
  TUTTI_ASSERT(log.snapshots() != nullptr, group);
  all_.push_back({.group = group, .state = &state, .log = &log, .pause = &pause});
}

void SnapshotTaker::ask_to_load(std::size_t group, std::shared_ptr<SnapshotLoad> load) {
  const std::lock_guard lock(mutex_);
  const auto one = std::ranges::find(all_, group, &One::group);
  TUTTI_ASSERT(one != all_.end(), group);
  one->load = std::move(load);
}

// The log has to be this node's, up to where the group begins for it.
std::shared_ptr<SnapshotLoad> SnapshotTaker::due_load(const One& one) {
  const std::lock_guard lock(mutex_);
  if (one.load == nullptr || one.log->whole_to() < one.load->until()) return nullptr;
  return one.load;
}

bool SnapshotTaker::is_due(One& one) {
  switch (one.stage) {
    case Stage::rests:
      return due_load(one) != nullptr || one.log->snapshots()->is_wanted();
    case Stage::pauses:
      return one.pause->is_reached();
    case Stage::writes:
      return true;
  }
  return false;
}

bool SnapshotTaker::waits() {
  return std::ranges::any_of(all_, [this](One& one) { return is_due(one); });
}

bool SnapshotTaker::work() {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    One& one = all_[next_++ % all_.size()];
    if (!is_due(one)) continue;
    step(one);
    return true;
  }
  return false;
}

void SnapshotTaker::forget() {
  for (One& one : all_) {
    one.read = {};
    one.writer.reset();
  }
}

void SnapshotTaker::step(One& one) {
  if (one.stage == Stage::rests) {
    if (const std::shared_ptr<SnapshotLoad> due = due_load(one)) return load(one, *due);
    one.stage = Stage::pauses;
    one.pause->ask();
    return events_.look(one.group);
  }
  Result<bool> done = false;
  try {
    if (one.stage == Stage::pauses) {
      const Result<void> taken = take(one);
      if (!taken) done = std::unexpected(taken.error());
    } else {
      done = write_piece(one);
    }
  } catch (const std::bad_alloc&) {
    done = fail(ErrorCode::system, "there is no memory for it: " + memory_advice());
  }
  if (!done) return end(one, std::unexpected(std::move(done.error())));
  if (*done) end(one, {});
}

// The pause ends whatever comes of it.
Result<void> SnapshotTaker::take(One& one) {
  struct EndsPause {
    ~EndsPause() {
      one.pause->end();
      taker.events_.look(one.group);
    }
    SnapshotTaker& taker;
    One& one;
  };
  {
    const EndsPause ends{*this, one};
    one.place = one.pause->place();
    one.stage = Stage::writes;
    one.offset = 0;
    Result<ReadSnapshot> taken = take_state(*one.state);
    if (!taken) {
      return fail(taken.error().code,
                  std::string(saver_of(*one.state)) + ": " + taken.error().message);
    }
    one.read = std::move(*taken);
  }
  const Result<std::string> path = one.log->snapshots()->path();
  if (!path) return std::unexpected(path.error());
  const Result<std::uint64_t> salt = random_u64();
  if (!salt) return std::unexpected(salt.error());
  Result<std::unique_ptr<log::SnapshotWriter>> writer =
      log::SnapshotWriter::create(*disk_, *path, *salt);
  if (!writer) return std::unexpected(std::move(writer.error()));
  one.writer = std::move(*writer);
  return {};
}

Result<bool> SnapshotTaker::write_piece(One& one) {
  piece_.resize(kReadBytes);
  const Result<std::size_t> size = one.read(one.offset, piece_);
  if (!size) return fail(size.error().code, "what reads a snapshot: " + size.error().message);
  if (*size > piece_.size()) {
    return fail(ErrorCode::invalid_argument,
                "what reads a snapshot returned " + std::to_string(*size) + " bytes, but only " +
                    std::to_string(piece_.size()) + " were asked for; fill no more than that");
  }
  one.offset += *size;
  if (*size != 0) {
    if (Result<void> done = one.writer->append(std::span(piece_).first(*size)); !done) {
      return std::unexpected(std::move(done.error()));
    }
    return false;
  }
  const Result<log::Snapshot> header =
      one.writer->finish(one.log->snapshots()->header(one.place.seq, one.place.view));
  if (!header) return std::unexpected(header.error());
  one.log->snapshots()->offer(*header);
  return true;
}

// The group goes on without it, and its log keeps more.
void SnapshotTaker::end(One& one, const Result<void>& result) {
  one.read = {};
  one.writer.reset();
  one.stage = Stage::rests;
  piece_ = {};
  if (result) return;
  if (result.error().code != ErrorCode::stopped) {
    events_.warn("group '" + one.state->name + "': cannot take a snapshot, so nothing of its log " +
                 "is released: " + result.error().message);
  }
  one.log->snapshots()->failed();
}

void SnapshotTaker::load(One& one, SnapshotLoad& load) {
  try {
    load.finish(load_newest(one, load));
  } catch (const std::bad_alloc&) {
    load.finish(fail(ErrorCode::system, "there is no memory for it: " + memory_advice()));
  }
  {
    const std::lock_guard lock(mutex_);
    one.load.reset();
  }
  events_.look(one.group);
}

// SO1. One that has changed since the node's start gives way to the one before it.
Result<std::uint64_t> SnapshotTaker::load_newest(const One& one, const SnapshotLoad& load) {
  const Result<std::uint64_t> whole_from = log::whole_from(*disk_, one.log->directory());
  if (!whole_from) return std::unexpected(whole_from.error());
  if (load.asked() != 0 && load.asked() >= *whole_from) return load.asked();
  std::string wrong;
  std::vector<log::Snapshot> all = one.log->snapshots()->kept();
  for (; !all.empty(); all.pop_back()) {
    Result<std::unique_ptr<log::SnapshotFile>> file = log::SnapshotFile::open(
        *disk_, one.log->directory() + "/" + log::snapshot_name(all.back().seq));
    Result<void> whole = file ? (*file)->verify() : std::unexpected(file.error());
    if (whole) {
      if (Result<void> loaded = load_file(one, **file); !loaded) {
        return std::unexpected(std::move(loaded.error()));
      }
      return all.back().seq;
    }
    wrong = "the snapshot " + whole.error().message;
    events_.warn("group '" + one.state->name + "': " + wrong);
  }
  if (wrong.empty() || *whole_from <= load.asked()) return std::max(*whole_from, load.asked());
  return fail(ErrorCode::damaged, wrong + ", and the log begins with record " +
                                      std::to_string(*whole_from) +
                                      "; move the state directory away, and start this node again: "
                                      "it fetches everything from the others");
}

Result<void> SnapshotTaker::load_file(const One& one, log::SnapshotFile& file) {
  const std::uint64_t blocks = file.blocks();
  for (std::uint64_t index = 0; index < std::max<std::uint64_t>(blocks, 1); ++index) {
    std::span<const std::byte> bytes;
    if (blocks != 0) {
      const auto block = file.block(index);
      if (!block) return std::unexpected(block.error());
      bytes = *block;
    }
    Result<void> loaded =
        one.state->load({.bytes = bytes, .first = index == 0, .last = index + 1 >= blocks});
    if (!loaded) {
      return fail(loaded.error().code,
                  "load_state, with the snapshot " + file.path() + ": " + loaded.error().message);
    }
  }
  return {};
}

}  // namespace tutti
