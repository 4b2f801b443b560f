#include "fabric/verbs/pair.hpp"

#include <string>
#include <utility>

#include "base/system_error.hpp"

namespace tutti::verbs {
namespace {

// A work request with so much inline still fits what NICs read at once; less if it is refused.
constexpr std::uint32_t kInlineBytesWanted = 220;

Result<void> make_queue_pair(Pair& pair) {
  const DeviceLimits& limits = pair.device->limits();
  ibv_qp_init_attr wanted{};
  for (std::uint32_t bytes = kInlineBytesWanted;; bytes /= 2) {
    wanted = {};
    wanted.qp_context = &pair;
    wanted.send_cq = pair.completions.get();
    wanted.recv_cq = pair.completions.get();
    wanted.cap.max_send_wr = limits.send_queue_depth;
    wanted.cap.max_recv_wr = kReceiveQueueDepth;
    wanted.cap.max_send_sge = 1;
    wanted.cap.max_recv_sge = 1;
    wanted.cap.max_inline_data = bytes;
    wanted.qp_type = IBV_QPT_RC;
    wanted.sq_sig_all = 0;
    if (::rdma_create_qp(pair.id.get(), pair.device->domain(), &wanted) == 0) break;
    if (bytes == 0) return fail_system("cannot get a queue pair");
  }
  pair.queue_pair.reset(pair.id.get());
  pair.depth = limits.send_queue_depth;
  pair.inline_bytes = wanted.cap.max_inline_data / 8 * 8;  // words are cut at words
  return {};
}

}  // namespace

Result<std::shared_ptr<Pair>> Pair::make(std::shared_ptr<Device> device, EventChannel channel,
                                         CmId connecting, std::size_t row_bytes) {
  if (connecting->verbs != device->context()) {
    return fail(ErrorCode::system, "the connection goes through another RDMA device than '" +
                                       device->name() + "'; check the routes ('ip route get')");
  }
  const std::size_t rounded = (row_bytes + kBellBytes - 1) / kBellBytes * kBellBytes;
  Result<Pages> row = Pages::writable(rounded + kBellBytes);
  if (!row) return std::unexpected(std::move(row.error()));
  Result<Pages> copies = Pages::writable(kStagingSlots * kStagingSlotBytes + kBellBytes);
  if (!copies) return std::unexpected(std::move(copies.error()));
  auto pair = std::make_shared<Pair>(std::move(device), std::move(channel), std::move(connecting),
                                     std::move(*row), std::move(*copies));
  const Device& own = *pair->device;
  Result<MemoryRegion> region =
      own.register_memory(pair->region.bytes(), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  if (!region) return std::unexpected(std::move(region.error()));
  pair->region_key = std::move(*region);
  Result<MemoryRegion> staging = own.register_memory(pair->staging.bytes(), 0);
  if (!staging) return std::unexpected(std::move(staging.error()));
  pair->staging_key = std::move(*staging);
  const auto depth = static_cast<int>(own.limits().send_queue_depth + kReceiveQueueDepth + 1);
  pair->completions.reset(::ibv_create_cq(own.context(), depth, pair.get(), own.completions(), 0));
  if (pair->completions == nullptr) return fail_system("cannot get a completion queue");
  if (Result<void> r = make_queue_pair(*pair); !r) return std::unexpected(r.error());
  for (std::uint32_t i = 0; i < kReceiveQueueDepth; ++i) {
    if (Result<void> r = pair->post_receive(); !r) return std::unexpected(r.error());
  }
  return pair;
}

Result<void> Pair::post_receive() const {
  ibv_recv_wr request{};
  request.wr_id = kReceiveMark;
  ibv_recv_wr* refused = nullptr;
  if (const int error = ::ibv_post_recv(id->qp, &request, &refused); error != 0) {
    return fail_system("cannot post a receive", error);
  }
  return {};
}

}  // namespace tutti::verbs
