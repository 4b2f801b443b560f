#include "log/batch.hpp"

#include <cstring>

#include "base/assert.hpp"

namespace tutti::log {

void Batch::add(const Record& record) {
  TUTTI_ASSERT(record.data.size() <= kRecordBytesMax, record.data.size(), record.seq);
  TUTTI_ASSERT(empty() || record.seq == next(), record.seq, next());  // LF3
  if (empty()) first_ = record.seq;
  const RecordHeader header{.crc = 0,
                            .length = static_cast<std::uint32_t>(record.data.size()),
                            .seq = record.seq,
                            .view = record.view,
                            .sender = record.sender,
                            .flags = record.tick ? kTickFlag : 0};
  const std::size_t at = bytes_.size();
  bytes_.resize(at + bytes_of_record(record.data.size()));  // zeros behind the data
  std::memcpy(bytes_.data() + at, &header, sizeof header);
  if (!record.data.empty()) {
    std::memcpy(bytes_.data() + at + sizeof header, record.data.data(), record.data.size());
  }
  view_ = record.view;
  ++records_;
}

Record Batch::record_at(std::size_t at) const {
  RecordHeader header{};
  std::memcpy(&header, bytes_.data() + at, sizeof header);
  return {.seq = header.seq,
          .view = header.view,
          .sender = header.sender,
          .tick = (header.flags & kTickFlag) != 0,
          .data = std::span(bytes_).subspan(at + sizeof header, header.length)};
}

void Batch::back_to(const Mark& mark) {
  bytes_.resize(mark.bytes);
  view_ = mark.view;
  records_ = mark.records;
}

void Batch::clear() {
  bytes_.clear();
  records_ = 0;
}

}  // namespace tutti::log
