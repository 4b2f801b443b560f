#include "fabric/ofi/completion_queue.hpp"

#include <fcntl.h>

#include <utility>

#include "base/system_error.hpp"

namespace tutti::ofi {

Result<UniqueFd> wait_fd_of(fid& object) {
  int descriptor = -1;
  if (const int status = fi_control(&object, FI_GETWAIT, &descriptor); status != 0) {
    return fail_ofi("libfabric gives no descriptor to sleep on", status);
  }
  UniqueFd copy = duplicate(descriptor);
  if (!copy) return fail_system("cannot copy the descriptor that libfabric sleeps on");
  return copy;
}

Result<CompletionQueue> CompletionQueue::open(Provider& provider, std::size_t peers) {
  CompletionQueue out;
  out.fabric_ = &provider.fabric();
  fi_cq_attr attributes{};
  attributes.size = kSignalledMax * peers;
  attributes.format = FI_CQ_FORMAT_CONTEXT;
  attributes.wait_obj = FI_WAIT_FD;
  fid_cq* queue = nullptr;
  int status = fi_cq_open(&provider.domain(), &attributes, &queue, nullptr);
  if (status == -FI_ENOSYS || status == -FI_EINVAL || status == -FI_EOPNOTSUPP) {
    out.can_wait_ = false;
    attributes.wait_obj = FI_WAIT_NONE;
    status = fi_cq_open(&provider.domain(), &attributes, &queue, nullptr);
  }
  if (status != 0) {
    return fail_ofi(
        "cannot make a completion queue with libfabric's provider '" + provider.name() + "'",
        status);
  }
  out.queue_.reset(queue);
  return out;
}

std::span<const Completion> CompletionQueue::progress() {
  std::array<fi_cq_entry, std::tuple_size_v<decltype(ended_)>> entries;
  const ssize_t count = fi_cq_read(queue_.get(), entries.data(), entries.size());
  ended_count_ = 0;
  if (count > 0) {
    for (ssize_t i = 0; i < count; ++i) {
      ended_[ended_count_].attachment =
          reinterpret_cast<std::uintptr_t>(entries[static_cast<std::size_t>(i)].op_context);
      ended_[ended_count_++].error.clear();
    }
  } else if (count == -FI_EAVAIL) [[unlikely]] {
    read_error();
  }
  return std::span(ended_).first(ended_count_);
}

void CompletionQueue::read_error() {
  fi_cq_err_entry entry{};
  if (fi_cq_readerr(queue_.get(), &entry, 0) <= 0) return;
  Completion& ended = ended_[ended_count_++];
  ended.attachment = reinterpret_cast<std::uintptr_t>(entry.op_context);
  ended.error = text_of(-entry.err);
  const char* more = fi_cq_strerror(queue_.get(), entry.prov_errno, entry.err_data, nullptr, 0);
  if (entry.prov_errno != 0 && more != nullptr && *more != '\0') {
    ended.error += std::string(" (") + more + ")";
  }
}

Result<UniqueFd> CompletionQueue::wait_fd() const { return wait_fd_of(queue_->fid); }

bool CompletionQueue::may_sleep() const {
  fid* object = &queue_->fid;
  return fi_trywait(fabric_, &object, 1) == FI_SUCCESS;
}

}  // namespace tutti::ofi
