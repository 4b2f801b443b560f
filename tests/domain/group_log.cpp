#include "domain/group_log.hpp"

#include <algorithm>

#include "domain/cluster.hpp"

namespace tutti::domain {

namespace {

// Small, so that a log has several; a message has at most some 1,200 bytes.
constexpr std::uint64_t kSegmentBytes = 32 * 1024;

log::WriterOptions writer_options(std::uint64_t& salts) {
  log::WriterOptions options;
  options.segment_bytes = kSegmentBytes;
  options.salts = [&salts]() -> Result<std::uint64_t> { return ++salts; };
  return options;
}

}  // namespace

std::string directory_of_log(const std::string& state_dir, const std::string& group) {
  return state_dir + "/" + group;
}

GroupLog::GroupLog(std::shared_ptr<testing::SimDisk> on, std::uint64_t& salts, const NodeCore& node,
                   const GroupCore& group)
    : disk(std::move(on)),
      writer(log::Writer::open(*disk, directory_of_log(node.state_dir, group.options.name),
                               {.node = node.name, .group = group.options.name},
                               writer_options(salts))) {}

void GroupLog::append(const std::vector<Entry>& entries, std::uint64_t end, ClusterEvents& events) {
  if (!writer) return events.wrong("clean end", writer.error().message);
  log::Writer& to = **writer;
  log::Batch batch;
  const auto write = [&] {
    if (batch.empty()) return;
    if (Result<void> written = to.write(batch); !written) {
      events.wrong("clean end", written.error().message);
    }
  };
  for (std::uint64_t at = to.next(); at < end; ++at) {
    const Entry& entry = entries[at];
    batch.add({.seq = at, .view = entry.view, .sender = entry.sender.value, .data = entry.bytes});
    if (batch.bytes() > to.batch_bytes_max() / 2) write();
  }
  write();
}

}  // namespace tutti::domain
