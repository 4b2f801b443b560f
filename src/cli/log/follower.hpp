/// \file follower.hpp
/// Follows a log that its writer goes on with: what has come since the last look. Each look reads
/// the newest segment, so do not look all the time.
///
/// Invariant: what is visited is the log as it was at some moment, in order. Where the log was cut
/// meanwhile, or begun anew at a later number, `moved` says so before the next record.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/log/reading.hpp"

namespace tutti::cli {

class Follower {
 public:
  /// The log goes on from `to` instead of `from`: less, it was cut; more, the records between are
  /// not there.
  using Moved = std::function<void(std::uint64_t from, std::uint64_t to)>;

  /// `reading` is what has been seen so far.
  Follower(const log::Disk& disk, std::string directory, const log::Reading& reading, Moved moved);

  /// Visits what is new. Also records that are written and not yet synced: they are in the file.
  [[nodiscard]] Result<void> look(const RecordVisit& visit);

 private:
  struct Part {
    std::string path;
    log::Segment header;
  };
  [[nodiscard]] Result<std::vector<std::string>> names() const;
  [[nodiscard]] Result<std::vector<Part>> parts(const std::vector<std::string>& names) const;
  [[nodiscard]] Result<void> read(const Part& part, std::uint64_t until, const RecordVisit& visit);
  [[nodiscard]] Result<void> look_once(const std::vector<std::string>& names,
                                       const RecordVisit& visit);

  const log::Disk& disk_;
  const std::string directory_;
  const Moved moved_;
  std::uint64_t number_ = 0;  // of the newest segment seen
  std::uint64_t next_ = 0;
};

}  // namespace tutti::cli
