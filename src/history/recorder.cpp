#include "history/recorder.hpp"

#include <sched.h>

namespace tutti::history {

Result<std::unique_ptr<Recorder>> Recorder::to_file(const std::filesystem::path& path,
                                                    Identity identity) {
  Result<std::unique_ptr<EventFile>> file = EventFile::create(path, identity);
  if (!file) return std::unexpected(std::move(file.error()));
  return std::unique_ptr<Recorder>(new Recorder(std::move(identity), std::move(*file)));
}

std::unique_ptr<Recorder> Recorder::in_memory(Identity identity) {
  return std::unique_ptr<Recorder>(new Recorder(std::move(identity), nullptr));
}

void Recorder::append(Event event) noexcept {
  event.node = identity_.node;
  event.incarnation = identity_.incarnation;
  if (file_ != nullptr) return file_->append(event);
  while (busy_.test_and_set(std::memory_order_acquire)) sched_yield();  // pairs with the clear
  events_.push_back(event);
  busy_.clear(std::memory_order_release);
}

Result<void> Recorder::close() { return file_ != nullptr ? file_->close() : Result<void>{}; }

}  // namespace tutti::history
