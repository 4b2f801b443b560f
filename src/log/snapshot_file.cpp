#include "log/snapshot_file.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tutti::log {

Result<std::unique_ptr<SnapshotWriter>> SnapshotWriter::create(Disk& disk, const std::string& path,
                                                               std::uint64_t salt) {
  Result<std::unique_ptr<File>> file = disk.create(path);
  if (!file) return std::unexpected(std::move(file.error()));
  return std::unique_ptr<SnapshotWriter>(new SnapshotWriter(std::move(*file), salt));
}

Result<void> SnapshotWriter::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t part = std::min(bytes.size(), kBlockDataBytes - block_.size());
    block_.insert(block_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(part));
    bytes = bytes.subspan(part);
    bytes_ += part;
    if (block_.size() < kBlockDataBytes) break;
    if (Result<void> done = put_block(); !done) return done;
  }
  return {};
}

Result<void> SnapshotWriter::put_block() {
  const std::uint32_t sum = block_checksum(salt_, blocks_, block_);
  const auto length = static_cast<std::uint32_t>(block_.size());
  std::vector<std::byte> whole(kBlockHeaderBytes + block_.size());
  std::memcpy(whole.data(), &sum, sizeof sum);
  std::memcpy(whole.data() + sizeof sum, &length, sizeof length);
  std::ranges::copy(block_, whole.begin() + kBlockHeaderBytes);
  block_.clear();
  return file_->write(kHeaderBytes + blocks_++ * kBlockBytes, whole);
}

Result<Snapshot> SnapshotWriter::finish(Snapshot header) {
  if (!block_.empty()) {
    if (Result<void> done = put_block(); !done) return std::unexpected(std::move(done.error()));
  }
  header.salt = salt_;
  header.bytes = bytes_;
  const std::string bytes = encode_snapshot(header);
  if (Result<void> done = file_->write(0, std::as_bytes(std::span(bytes))); !done) {
    return std::unexpected(std::move(done.error()));
  }
  if (Result<void> done = file_->sync(); !done) return std::unexpected(std::move(done.error()));
  return header;
}

Result<std::unique_ptr<SnapshotFile>> SnapshotFile::open(const Disk& disk, std::string path) {
  Result<std::unique_ptr<File>> file = disk.open(path, Access::read);
  if (!file) return std::unexpected(std::move(file.error()));
  const Result<std::uint64_t> size = (*file)->size();
  if (!size) return std::unexpected(size.error());
  std::vector<std::byte> head(std::min<std::uint64_t>(*size, kHeaderBytes));
  if (Result<void> read = (*file)->read(0, head); !read) {
    return std::unexpected(std::move(read.error()));
  }
  Result<Snapshot> header = decode_snapshot(head);
  if (!header) return fail(header.error().code, path + ": " + header.error().message);
  const std::uint64_t bytes = *snapshot_file_bytes(header->bytes);
  if (*size != bytes) {
    return fail(ErrorCode::damaged, path + ": it has " + std::to_string(*size) + " bytes, it had " +
                                        std::to_string(bytes));
  }
  return std::unique_ptr<SnapshotFile>(
      new SnapshotFile(std::move(*file), std::move(path), std::move(*header)));
}

std::uint64_t SnapshotFile::blocks() const {
  return (header_.bytes + kBlockDataBytes - 1) / kBlockDataBytes;
}

Result<std::span<const std::byte>> SnapshotFile::block(std::uint64_t index) {
  const std::uint64_t before = index * kBlockDataBytes;
  const std::uint64_t length = std::min<std::uint64_t>(header_.bytes - before, kBlockDataBytes);
  block_.resize(kBlockHeaderBytes + length);
  const std::uint64_t offset = kHeaderBytes + index * kBlockBytes;
  if (Result<void> read = file_->read(offset, block_); !read) {
    return std::unexpected(std::move(read.error()));
  }
  std::uint32_t sum = 0;
  std::uint32_t said = 0;
  std::memcpy(&sum, block_.data(), sizeof sum);
  std::memcpy(&said, block_.data() + sizeof sum, sizeof said);
  const auto data = std::span<const std::byte>(block_).subspan(kBlockHeaderBytes);
  if (said != length || sum != block_checksum(header_.salt, index, data)) {
    return fail(ErrorCode::damaged, path_ + ", offset " + std::to_string(offset) +
                                        ": what is here is not what was written");
  }
  return data;
}

Result<void> SnapshotFile::verify() {
  for (std::uint64_t index = 0; index < blocks(); ++index) {
    if (const auto data = block(index); !data) return std::unexpected(data.error());
  }
  return {};
}

}  // namespace tutti::log
