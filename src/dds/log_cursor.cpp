#include "dds/log_cursor.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "dds/record.hpp"
#include "dds/session_record.hpp"
#include "log/batch.hpp"
#include "node/disk_logs.hpp"

namespace tutti::dds {

namespace {

constexpr std::size_t kPieceBytes = 256 * 1024;

// Aligned as a type asks that needs more than a batch's 8 bytes.
std::shared_ptr<std::byte> aligned_copy(std::span<const std::byte> bytes, std::size_t alignment) {
  const auto align = static_cast<std::align_val_t>(alignment);
  std::shared_ptr<std::byte> copy(
      static_cast<std::byte*>(::operator new(std::max<std::size_t>(bytes.size(), 1), align)),
      [align](std::byte* memory) { ::operator delete(memory, align); });
  if (!bytes.empty()) std::memcpy(copy.get(), bytes.data(), bytes.size());
  return copy;
}

}  // namespace

struct LogCursor::State {
  std::shared_ptr<const log::Disk> disk;
  std::unique_ptr<log::Stream> stream;
  std::uint32_t topic = 0;
  std::function<bool(std::uint64_t)> is_refused;
  std::uint32_t in_place_bytes = 0;
  std::uint32_t alignment = 8;
  // What was read last, and of that what was not added yet.
  std::vector<LoanedBytes::Sample> found;
  std::vector<std::shared_ptr<const void>> keepers;
  std::size_t at = 0;

  void add(const log::Record& logged, const std::shared_ptr<log::Batch>& batch);
};

void LogCursor::State::add(const log::Record& logged, const std::shared_ptr<log::Batch>& batch) {
  if (logged.tick) return;
  const std::optional<Record> record = read_record(logged.data);
  if (!record || record->header.topic != topic) return;
  const bool from_client = record->kind() == RecordKind::client_sample;
  if (record->kind() != RecordKind::sample && !from_client) return;
  // As Bundle::deliver_session: what is no record there has no outcome that could be remembered.
  if (from_client && !read_session_record(logged.data)) return;
  if (from_client && is_refused(logged.seq)) return;
  if (!fits_type(*record, in_place_bytes, alignment)) return;
  LoanedBytes::Sample sample{.data = record->payload.data(),
                             .size = static_cast<std::uint32_t>(record->payload.size())};
  sample.info.position = SeqNo{logged.seq};
  sample.info.sender = MemberIndex{logged.sender};
  sample.info.view = logged.view;
  sample.info.source_timestamp = record->header.source_timestamp;
  if (alignment <= 8) {
    found.push_back(sample);
    keepers.push_back(batch);
    return;
  }
  const std::shared_ptr<std::byte> copy = aligned_copy(record->payload, alignment);
  sample.data = copy.get();
  found.push_back(sample);
  keepers.push_back(copy);
}

Result<LogCursor> LogCursor::open(const std::string& directory, std::uint32_t topic,
                                  const Definition& definition, std::uint64_t from,
                                  std::function<bool(std::uint64_t)> is_refused) {
  auto state = std::make_shared<State>();
  state->disk = disk_of_logs();
  const Result<std::uint64_t> whole = log::whole_from(*state->disk, directory);
  if (!whole) return std::unexpected(whole.error());
  state->stream = std::make_unique<log::Stream>(*state->disk, directory, std::max(from, *whole));
  state->topic = topic;
  state->is_refused = std::move(is_refused);
  state->in_place_bytes = definition.type.in_place_bytes;
  state->alignment = definition.type.alignment;
  return LogCursor(std::move(state));
}

Result<void> LogCursor::next(std::size_t max, std::uint64_t until, LoanedBytes& into,
                             std::size_t pieces) {
  State& state = *state_;
  while (into.size() < max) {
    if (state.at < state.found.size()) {
      into.add(state.found[state.at], state.keepers[state.at]);
      ++state.at;
      continue;
    }
    if (!into.empty()) return {};  // what is there is given before the disk is waited for again
    state.found.clear();
    state.keepers.clear();
    state.at = 0;
    if (state.stream->next() >= until || pieces-- == 0) return {};
    auto batch = std::make_shared<log::Batch>();
    if (Result<void> read = state.stream->read(kPieceBytes, until, *batch); !read) return read;
    if (batch->empty()) return {};
    batch->for_each([&](const log::Record& record) { state.add(record, batch); });
  }
  return {};
}

std::uint64_t LogCursor::position() const {
  const State& state = *state_;
  if (state.at < state.found.size()) return state.found[state.at].info.position.value;
  return state.stream->next();
}

}  // namespace tutti::dds
