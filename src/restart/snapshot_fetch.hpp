/// \file snapshot_fetch.hpp
/// How the snapshot of another node comes to this one, for a log that lacks what others have
/// released: the file, in pieces, from one node.
///
/// Invariants:
///  SH1  The file counts only once all of it is there, has been read back and is right, and then
///       the log begins anew at its number (SN1). Nothing of the log is changed before.
///  SH2  Pieces of two nodes are never put together: their files differ (SF1).
/// Threads: one. Calls may block for as long as the disk does.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "log/disk.hpp"
#include "restart/message.hpp"
#include "restart/node_logs.hpp"

namespace tutti::restart {

class SnapshotFetch {
 public:
  /// Of that log, from that node, of the group of that founding. The logs outlive it.
  SnapshotFetch(NodeLogs& logs, std::size_t log, std::uint32_t slot, std::uint64_t seq,
                std::uint64_t origin)
      : logs_(&logs), log_(log), slot_(slot), seq_(seq), origin_(origin) {}

  [[nodiscard]] std::uint32_t slot() const { return slot_; }
  [[nodiscard]] std::size_t log() const { return log_; }
  /// What to ask that node next.
  [[nodiscard]] FetchSnapshot next() const {
    return {.group = logs_->group(log_), .seq = seq_, .offset = offset_};
  }
  enum class Taken : std::uint8_t {
    earlier,  ///< it answers an earlier question: nothing has changed, and the answer is to come
    goes_on,
    done,     ///< the log begins at the snapshot's number
    refused,  ///< the node does not have it any more, or it is not right: trouble() says so
  };
  /// An answer of that node. An error is one of this node's disk.
  [[nodiscard]] Result<Taken> take(const SnapshotPiece& piece);
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  [[nodiscard]] Taken refuse(std::string why);
  [[nodiscard]] Result<Taken> complete();

  NodeLogs* logs_;
  std::size_t log_;
  std::uint32_t slot_;
  std::uint64_t seq_;
  std::uint64_t origin_;
  std::unique_ptr<log::File> file_;
  std::uint64_t offset_ = 0;  // of the file: what is there
  std::uint64_t total_ = 0;   // its size
  std::string trouble_;
};

/// The other side: reads pieces of this node's snapshots for others. One that is deleted meanwhile
/// is read to its end.
class SnapshotPieces {
 public:
  /// The disk outlives it.
  explicit SnapshotPieces(const log::Disk& disk) : disk_(disk) {}

  /// For that reader, of a log in that directory; without bytes if that cannot be had.
  [[nodiscard]] SnapshotPiece read(std::uint32_t reader, const std::string& directory,
                                   const FetchSnapshot& asked, std::size_t bytes);
  /// That reader is gone.
  void forget(std::uint32_t reader);

 private:
  struct Open {
    std::uint64_t seq = 0;
    std::unique_ptr<log::File> file{};
    std::uint64_t total = 0;
  };
  const log::Disk& disk_;
  std::map<std::pair<std::uint32_t, std::string>, Open> open_;
};

}  // namespace tutti::restart
