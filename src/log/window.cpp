#include "log/window.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tutti::log {

bool Window::have(std::uint64_t offset, std::size_t bytes) {
  if (offset > size_ || size_ - offset < bytes || !outcome_) return false;
  if (offset >= begin_ && offset - begin_ + bytes <= bytes_.size()) return true;
  bytes_.resize(std::min<std::uint64_t>(std::max(bytes, kWindowBytes), size_ - offset));
  begin_ = offset;
  outcome_ = file_->read(offset, bytes_);
  if (!outcome_) bytes_.clear();
  return outcome_.has_value();
}

std::optional<RecordHeader> Window::header_at(std::uint64_t offset) {
  RecordHeader header{};
  if (!have(offset, sizeof header)) return {};
  std::memcpy(&header, from(offset).data(), sizeof header);
  return header;
}

std::optional<Found> Window::at(std::uint64_t offset) {
  const std::optional<RecordHeader> header = header_at(offset);
  if (!header || header->length > kRecordBytesMax) return {};
  if (!have(offset, bytes_of_record(header->length))) return {};
  return find_record(from(offset), salt_, offset);
}

}  // namespace tutti::log
