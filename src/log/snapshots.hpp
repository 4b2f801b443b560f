/// \file snapshots.hpp
/// The snapshots beside one log: which of them count, and how they come and go.
///
/// Invariants:
///  SN1  A file has the name of a snapshot only once its content is synced, and the log is on disk
///       up to its number, or begins anew there at once (a fetched one). So it counts if it is
///       whole and the log has records up to its number, from whole_from() on or not at all.
///  SN2  The newest kKept are kept, so that one may be damaged. What the log has below the oldest
///       of them may go, and nothing above it (release_limit()).
///  SN3  Before a log is cut, the snapshots beyond the cut are gone, and that is on disk.
///  SN4  open() can stop at any step, and begins again from what it finds. What is half written, or
///       does not count, is removed there; a snapshot that is damaged is told, and stays until
///       newer ones have taken its place.
/// Threads: those of the log's Writer, one at a time. All calls may block for as long as the disk.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "log/disk.hpp"
#include "log/snapshot_file.hpp"
#include "log/writer.hpp"

namespace tutti::log {

class Snapshots {
 public:
  static constexpr std::size_t kKept = 2;
  /// The files in which snapshots are written: one's own, and one that is fetched.
  static constexpr const char* kNewName = "snapshot.new";
  static constexpr const char* kFetchedName = "snapshot.fetched";

  /// Reads those beside that log, every byte of them. Both outlive this.
  [[nodiscard]] static Result<Snapshots> open(Disk& disk, Writer& writer);

  /// Those that count, oldest first; at most kKept.
  [[nodiscard]] const std::vector<Snapshot>& all() const { return all_; }
  /// The number of the newest, 0 if there is none.
  [[nodiscard]] std::uint64_t newest() const { return all_.empty() ? 0 : all_.back().seq; }
  /// SN2. 0: nothing may go.
  [[nodiscard]] std::uint64_t release_limit() const {
    return all_.size() < kKept ? 0 : all_.front().seq;
  }
  /// What was found and does not count, for people.
  [[nodiscard]] const std::vector<std::string>& trouble() const { return trouble_; }
  [[nodiscard]] std::string path_of(std::uint64_t seq) const;
  [[nodiscard]] std::string path_of(const char* name) const;

  /// An empty file of that name, in which one is to be written.
  [[nodiscard]] Result<std::unique_ptr<File>> create(const char* name);
  /// What was written under that name, and synced, counts from now on (SN1): it is newer than all
  /// others, or takes the place of the newest.
  [[nodiscard]] Result<void> publish(const char* name, const Snapshot& snapshot);
  /// SN3.
  [[nodiscard]] Result<void> cut_to(std::uint64_t seq);
  /// Those of another founding do not count.
  void of_founding(std::uint64_t origin);
  /// The log begins at that number: older ones are not needed.
  [[nodiscard]] Result<void> drop_before(std::uint64_t seq);

 private:
  Snapshots(Disk& disk, Writer& writer) : disk_(&disk), writer_(&writer) {}
  [[nodiscard]] Result<void> look();
  [[nodiscard]] Result<void> remove(const std::vector<std::string>& names);
  [[nodiscard]] Result<void> remove_others();

  Disk* disk_;
  Writer* writer_;
  std::vector<Snapshot> all_;
  std::vector<std::string> trouble_;
};

}  // namespace tutti::log
