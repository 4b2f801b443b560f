#include "membership/saved_state.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace tutti {
namespace {

// A state that was saved at once, as a snapshot.
ReadSnapshot reader_of(std::vector<std::byte> state) {
  auto kept = std::make_shared<const std::vector<std::byte>>(std::move(state));
  return [kept](std::uint64_t offset, std::span<std::byte> into) -> Result<std::size_t> {
    const std::uint64_t left = kept->size() - std::min<std::uint64_t>(offset, kept->size());
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left, into.size()));
    if (size != 0) std::memcpy(into.data(), kept->data() + offset, size);
    return size;
  };
}

}  // namespace

Result<ReadSnapshot> take_state(const GroupState& group) {
  if (group.snapshot) {
    Result<ReadSnapshot> taken = group.snapshot();
    if (taken && !*taken) {
      return fail(ErrorCode::invalid_argument,
                  "it returned an empty function; return one that reads the state, or an error");
    }
    return taken;
  }
  std::vector<std::byte> state;
  Result<void> saved = group.save([&state](std::span<const std::byte> bytes) {
    state.insert(state.end(), bytes.begin(), bytes.end());
  });
  if (!saved) return std::unexpected(std::move(saved.error()));
  return reader_of(std::move(state));
}

}  // namespace tutti
