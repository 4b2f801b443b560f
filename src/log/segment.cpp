#include "log/segment.hpp"

#include <cstring>
#include <vector>

#include "log/batch_walk.hpp"

namespace tutti::log {
namespace {

// A source of BatchWalk: a file that is in memory.
class WholeFile {
 public:
  WholeFile(std::span<const std::byte> file, std::uint64_t salt) : file_(file), salt_(salt) {}

  [[nodiscard]] std::uint64_t size() const { return file_.size(); }
  [[nodiscard]] std::optional<RecordHeader> header_at(std::uint64_t offset) const {
    if (offset + sizeof(RecordHeader) > file_.size()) return {};
    RecordHeader header{};
    std::memcpy(&header, file_.data() + offset, sizeof header);
    return header;
  }
  [[nodiscard]] std::optional<Found> at(std::uint64_t offset) const {
    if (offset >= file_.size()) return {};
    return find_record(file_.subspan(offset), salt_, offset);
  }

 private:
  const std::span<const std::byte> file_;
  const std::uint64_t salt_;
};

}  // namespace

SegmentContent read_segment(const Segment& segment, std::span<const std::byte> file,
                            const Visit& visit, std::uint64_t until) {
  WholeFile source(file, segment.salt);
  BatchWalk<WholeFile> walk(segment, source, until);
  struct At {
    Found found;
    std::uint64_t offset;
  };
  std::vector<At> records;  // of one batch
  bool goes_on = true;
  while (goes_on) {
    records.clear();
    const auto keep = [&](const Found& found, std::uint64_t offset) {
      if (visit) records.push_back({found, offset});
    };
    if (!walk.batch(keep)) break;
    for (std::size_t i = 0; goes_on && i < records.size(); ++i) {
      goes_on = visit(records[i].found.record(), records[i].offset);
    }
  }
  if (goes_on && walk.is_broken()) walk.judge();
  return walk.content();
}

}  // namespace tutti::log
