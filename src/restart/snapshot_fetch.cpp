#include "restart/snapshot_fetch.hpp"

#include <algorithm>

namespace tutti::restart {

SnapshotFetch::Taken SnapshotFetch::refuse(std::string why) {
  trouble_ = std::move(why);
  file_.reset();
  return Taken::refused;
}

// SH1. What comes is input.
Result<SnapshotFetch::Taken> SnapshotFetch::take(const SnapshotPiece& piece) {
  if (piece.group != logs_->group(log_) || piece.seq != seq_ || piece.offset != offset_) {
    return Taken::earlier;
  }
  if (piece.bytes.empty()) {
    return refuse("a snapshot of group '" + piece.group + "' is not there any more");
  }
  if (offset_ != 0 && piece.total != total_) {
    return refuse("a snapshot of group '" + piece.group + "' has changed while it was fetched");
  }
  total_ = piece.total;
  if (file_ == nullptr) {
    auto created = logs_->snapshots(log_)->create(log::Snapshots::kFetchedName);
    if (!created) return std::unexpected(std::move(created.error()));
    file_ = std::move(*created);
  }
  if (Result<void> done = file_->write(offset_, piece.bytes); !done) {
    return std::unexpected(std::move(done.error()));
  }
  offset_ += piece.bytes.size();
  return offset_ < total_ ? Result<Taken>(Taken::goes_on) : complete();
}

Result<SnapshotFetch::Taken> SnapshotFetch::complete() {
  if (Result<void> done = file_->sync(); !done) return std::unexpected(std::move(done.error()));
  file_.reset();
  auto file = log::SnapshotFile::open(
      logs_->disk(), logs_->snapshots(log_)->path_of(log::Snapshots::kFetchedName));
  Result<void> whole = file ? (*file)->verify() : std::unexpected(file.error());
  if (!whole) {
    if (whole.error().code == ErrorCode::system) return std::unexpected(std::move(whole.error()));
    return refuse("what came of a snapshot is not right: " + whole.error().message);
  }
  const log::Snapshot& header = (*file)->header();
  if (header.seq != seq_ || header.identity.group != logs_->group(log_) ||
      header.origin != origin_) {
    return refuse("what came is not the snapshot of group '" + logs_->group(log_) +
                  "' that was asked for");
  }
  if (Result<void> done = logs_->begin_from_snapshot(log_, header); !done) {
    return std::unexpected(std::move(done.error()));
  }
  return Taken::done;
}

SnapshotPiece SnapshotPieces::read(std::uint32_t reader, const std::string& directory,
                                   const FetchSnapshot& asked, std::size_t bytes) {
  SnapshotPiece out{.group = asked.group, .seq = asked.seq, .offset = asked.offset};
  const std::pair<std::uint32_t, std::string> key(reader, directory);
  Open& open = open_[key];
  if (open.file == nullptr || open.seq != asked.seq) {
    auto file = disk_.open(directory + "/" + log::snapshot_name(asked.seq), log::Access::read);
    auto size = file ? (*file)->size() : std::unexpected(file.error());
    if (!size) {
      open_.erase(key);
      return out;
    }
    open = {.seq = asked.seq, .file = std::move(*file), .total = *size};
  }
  out.total = open.total;
  if (asked.offset >= open.total) return out;
  out.bytes.resize(std::min<std::uint64_t>(bytes, open.total - asked.offset));
  if (!open.file->read(asked.offset, out.bytes)) out.bytes.clear();
  if (out.bytes.empty() || asked.offset + out.bytes.size() == open.total) open_.erase(key);
  return out;
}

void SnapshotPieces::forget(std::uint32_t reader) {
  std::erase_if(open_, [&](const auto& one) { return one.first.first == reader; });
}

}  // namespace tutti::restart
