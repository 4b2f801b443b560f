#include "log/snapshots.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "log/stream.hpp"

namespace tutti::log {

Result<Snapshots> Snapshots::open(Disk& disk, Writer& writer) {
  Snapshots out(disk, writer);
  if (Result<void> looked = out.look(); !looked) return std::unexpected(std::move(looked.error()));
  return out;
}

std::string Snapshots::path_of(const char* name) const { return writer_->directory() + "/" + name; }

std::string Snapshots::path_of(std::uint64_t seq) const {
  return writer_->directory() + "/" + snapshot_name(seq);
}

// SN4.
Result<void> Snapshots::look() {
  const std::string& directory = writer_->directory();
  const Result<std::vector<std::string>> names = disk_->list(directory);
  if (!names) return std::unexpected(names.error());
  const Result<std::uint64_t> whole_from = log::whole_from(*disk_, directory);
  if (!whole_from) return std::unexpected(whole_from.error());
  std::vector<std::string> useless;
  for (const std::string& name : *names) {
    const std::optional<std::uint64_t> seq = seq_of_snapshot(name);
    const bool counts = seq && *seq >= *whole_from && *seq <= writer_->next();
    if (name == kNewName || name == kFetchedName || (seq && !counts)) useless.push_back(name);
    if (!counts) continue;
    std::string path = directory;
    path += "/" + name;
    Result<std::unique_ptr<SnapshotFile>> file = SnapshotFile::open(*disk_, path);
    Result<void> whole = file ? (*file)->verify() : std::unexpected(file.error());
    if (!whole) {
      trouble_.push_back("the snapshot " + whole.error().message);
    } else if ((*file)->header().seq != *seq) {
      trouble_.push_back("the snapshot " + path + " says that it has the number " +
                         std::to_string((*file)->header().seq));
    } else if ((*file)->header().identity.group != writer_->identity().group) {
      trouble_.push_back("the snapshot " + path + " is of group '" +
                         (*file)->header().identity.group + "'");
    } else {
      all_.push_back((*file)->header());
    }
  }
  while (all_.size() > kKept) {
    useless.push_back(snapshot_name(all_.front().seq));
    all_.erase(all_.begin());
  }
  return remove(useless);
}

Result<void> Snapshots::remove(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (Result<void> there = writer_->lock().still_there(); !there) return there;
    if (Result<void> done = disk_->remove(writer_->directory() + "/" + name); !done) return done;
  }
  return names.empty() ? Result<void>{} : disk_->sync_directory(writer_->directory());
}

Result<void> Snapshots::remove_others() {
  const Result<std::vector<std::string>> names = disk_->list(writer_->directory());
  if (!names) return std::unexpected(names.error());
  std::vector<std::string> others;
  for (const std::string& name : *names) {
    const std::optional<std::uint64_t> seq = seq_of_snapshot(name);
    if (seq && std::ranges::find(all_, *seq, &Snapshot::seq) == all_.end()) others.push_back(name);
  }
  return remove(others);
}

Result<std::unique_ptr<File>> Snapshots::create(const char* name) {
  if (Result<void> there = writer_->lock().still_there(); !there) {
    return std::unexpected(std::move(there.error()));
  }
  return disk_->create(path_of(name));
}

// SN1. The older ones go only once the new one is there for good.
Result<void> Snapshots::publish(const char* name, const Snapshot& snapshot) {
  TUTTI_ASSERT(snapshot.seq >= newest(), snapshot.seq, newest());
  if (Result<void> there = writer_->lock().still_there(); !there) return there;
  if (Result<void> done = disk_->rename(path_of(name), path_of(snapshot.seq)); !done) return done;
  if (Result<void> done = disk_->sync_directory(writer_->directory()); !done) return done;
  if (!all_.empty() && all_.back().seq == snapshot.seq) all_.pop_back();
  all_.push_back(snapshot);
  if (all_.size() > kKept) all_.erase(all_.begin());
  return remove_others();
}

Result<void> Snapshots::cut_to(std::uint64_t seq) {
  const bool beyond = newest() > seq;
  std::erase_if(all_, [&](const Snapshot& one) { return one.seq > seq; });
  const Result<std::vector<std::string>> names = disk_->list(writer_->directory());
  if (!names) return std::unexpected(names.error());
  std::vector<std::string> gone;
  for (const std::string& name : *names) {
    const std::optional<std::uint64_t> of = seq_of_snapshot(name);
    if (of && *of > seq) gone.push_back(name);
  }
  TUTTI_ASSERT(!beyond || !gone.empty(), seq);
  return remove(gone);
}

void Snapshots::of_founding(std::uint64_t origin) {
  std::erase_if(all_, [&](const Snapshot& one) {
    if (one.origin == origin) return false;
    trouble_.push_back("the snapshot " + path_of(one.seq) +
                       " belongs to a group that was founded another time");
    return true;
  });
}

Result<void> Snapshots::drop_before(std::uint64_t seq) {
  std::erase_if(all_, [&](const Snapshot& one) { return one.seq < seq; });
  return remove_others();
}

}  // namespace tutti::log
