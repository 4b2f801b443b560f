#include "restart/piece_reader.hpp"

namespace tutti::restart {

Result<std::vector<OwnedRecord>> PieceReader::read(std::uint32_t reader,
                                                   const std::string& directory, std::uint64_t from,
                                                   std::uint64_t until, std::size_t bytes) {
  std::unique_ptr<log::Stream>& stream = streams_[{reader, directory}];
  if (stream == nullptr || stream->next() != from) {
    stream = std::make_unique<log::Stream>(disk_, directory, from);
  }
  log::Batch batch;
  const Result<void> read = stream->read(bytes, until, batch);
  if (!read || stream->next() >= until) streams_.erase({reader, directory});
  if (!read) return std::unexpected(read.error());
  std::vector<OwnedRecord> out;
  out.reserve(batch.records());
  batch.for_each([&](const log::Record& record) {
    out.push_back({record.seq,
                   record.view,
                   record.sender,
                   record.tick,
                   {record.data.begin(), record.data.end()}});
  });
  return out;
}

void PieceReader::forget(const std::string& directory) {
  std::erase_if(streams_, [&](const auto& one) { return one.first.second == directory; });
}

void PieceReader::forget(std::uint32_t reader) {
  std::erase_if(streams_, [&](const auto& one) { return one.first.first == reader; });
}

}  // namespace tutti::restart
