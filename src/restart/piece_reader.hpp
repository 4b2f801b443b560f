/// \file piece_reader.hpp
/// Reads pieces of this node's logs for other nodes, which ask for one after the other.
///
/// Of each reader and log it keeps the place where the last piece ended, so that the next one costs
/// no reading of what was read before.
/// Threads: one at a time. Calls may block for as long as the disk does.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "log/stream.hpp"
#include "restart/log_summary.hpp"

namespace tutti::restart {

class PieceReader {
 public:
  /// The disk outlives it.
  explicit PieceReader(const log::Disk& disk) : disk_(disk) {}

  /// For that reader: records of the log in that directory, from number `from` on and before
  /// `until`, as many as `bytes` hold, at least one if there is one. An error as Stream::read().
  [[nodiscard]] Result<std::vector<OwnedRecord>> read(std::uint32_t reader,
                                                      const std::string& directory,
                                                      std::uint64_t from, std::uint64_t until,
                                                      std::size_t bytes);
  /// That log was cut.
  void forget(const std::string& directory);
  /// That reader is gone.
  void forget(std::uint32_t reader);
  /// How many places it keeps.
  [[nodiscard]] std::size_t places() const { return streams_.size(); }

 private:
  const log::Disk& disk_;
  std::map<std::pair<std::uint32_t, std::string>, std::unique_ptr<log::Stream>> streams_;
};

}  // namespace tutti::restart
