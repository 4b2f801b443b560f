#include "cli/log/reading.hpp"

#include <cstddef>
#include <vector>

#include "log/format.hpp"
#include "log/segment.hpp"

namespace tutti::cli {
Result<void> visit_records(const log::Disk& disk, const log::Reading& reading, std::uint64_t from,
                           std::uint64_t to, const RecordVisit& visit) {
  for (const log::SegmentFile& segment : reading.segments) {
    if (segment.content.next <= from || segment.header.first >= to) continue;
    const Result<std::vector<std::byte>> file =
        log::read_file(disk, segment.path, segment.header.bytes);
    if (!file) return std::unexpected(file.error());
    const Result<log::Segment> header = log::decode_header(*file);
    if (!header || header->salt != segment.header.salt) {
      return fail(ErrorCode::system, segment.path +
                                         ": it was released while it was read; the log "
                                         "begins later now, so run the command again");
    }
    bool enough = false;
    const auto see = [&](const log::Record& record, std::uint64_t offset) {
      if (record.seq < from) return true;
      if (record.seq >= to) return false;
      enough = !visit(record, {segment, offset});
      return !enough;
    };
    static_cast<void>(log::read_segment(*header, *file, see, segment.content.next));
    if (enough) return {};
  }
  return {};
}

}  // namespace tutti::cli
