/// \file group_log.hpp
/// The log of a group that is logged, at one member: the library's own writer of logs, on a disk in
/// memory.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "log/writer.hpp"
#include "support/sim_disk.hpp"
#include "tutti/group.hpp"

namespace tutti {
class NodeCore;
}

namespace tutti::domain {

class ClusterEvents;
struct Entry;

/// Where the log of that group is.
[[nodiscard]] std::string directory_of_log(const std::string& state_dir, const std::string& group);

struct GroupLog {
  /// Goes on with the log that is there, or begins one.
  GroupLog(std::shared_ptr<testing::SimDisk> on, std::uint64_t& salts, const NodeCore& node,
           const GroupCore& group);
  /// Those of the sequence before `end` that it does not have yet.
  void append(const std::vector<Entry>& entries, std::uint64_t end, ClusterEvents& events);

  std::shared_ptr<testing::SimDisk> disk;
  Result<std::unique_ptr<log::Writer>> writer;
};

}  // namespace tutti::domain
