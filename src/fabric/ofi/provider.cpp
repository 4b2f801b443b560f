#include "fabric/ofi/provider.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/random.hpp"
#include "fabric/ofi/provider_search.hpp"

namespace tutti::ofi {
namespace {

// One write of at most so much, so that control words do not wait long behind it.
constexpr std::size_t kWriteBytesMax = 1024 * 1024;

}  // namespace

Provider::Provider(Info info, Owned<fid_fabric> fabric, Owned<fid_domain> domain,
                   std::uint64_t first_key, Ordering most)
    : info_(std::move(info)),
      fabric_(std::move(fabric)),
      domain_(std::move(domain)),
      next_key_(first_key),
      ordering_(most == Ordering::none ? most : ordering_of(*info_)),
      keeps_newer_words_(most != Ordering::none && promises_order(*info_)) {}

Result<Provider> Provider::open(const std::string& name, const std::string& host, Ordering most) {
  Result<Info> info = find_provider(name, host);
  if (!info) return std::unexpected(std::move(info.error()));
  fid_fabric* fabric = nullptr;
  if (const int status = loaded().fabric((*info)->fabric_attr, &fabric, nullptr); status != 0) {
    return fail_ofi("cannot open libfabric's provider '" + name + "'", status);
  }
  Owned<fid_fabric> owned(fabric);
  fid_domain* domain = nullptr;
  if (const int status = fi_domain(fabric, info->get(), &domain, nullptr); status != 0) {
    return fail_ofi("cannot open the device of libfabric's provider '" + name + "'", status);
  }
  Owned<fid_domain> owned_domain(domain);
  // Keys start somewhere else at each start, so that a write for an earlier one meets none of ours.
  const Result<std::uint64_t> random = random_u64();
  if (!random) return std::unexpected(random.error());
  auto first_key = static_cast<std::uint32_t>(*random);
  if ((*info)->domain_attr->mr_key_size < sizeof first_key) first_key &= 0xff;
  return Provider(std::move(*info), std::move(owned), std::move(owned_domain), first_key, most);
}

bool Provider::reconnects() const {
  return std::string_view(info_->fabric_attr->prov_name).find("ofi_rxm") != std::string_view::npos;
}

bool Provider::is_fragile_within_a_process() const { return name() == "shm"; }

bool Provider::wakes_targets() const {
  const std::string_view name = info_->fabric_attr->prov_name;
  const std::string_view core = name.substr(0, name.find(';'));
  return core == "tcp" || core == "net";
}

bool Provider::understands(const std::string& theirs, const std::string& ours) const {
  if (theirs.empty() || theirs == ours) return false;
  if (info_->addr_format == FI_ADDR_STR) return true;
  if (theirs.size() != ours.size()) return false;
  constexpr std::array<std::uint32_t, 4> sockets{FI_SOCKADDR, FI_SOCKADDR_IN, FI_SOCKADDR_IN6,
                                                 FI_SOCKADDR_IB};
  return std::ranges::find(sockets, info_->addr_format) == sockets.end() ||
         theirs.compare(0, sizeof(sa_family_t), ours, 0, sizeof(sa_family_t)) == 0;
}

std::size_t Provider::write_bytes_max() const {
  const std::size_t ordered =
      ordering_ == Ordering::writes ? info_->ep_attr->max_order_waw_size : kWriteBytesMax;
  return std::min({info_->ep_attr->max_msg_size, ordered, kWriteBytesMax});
}

Result<Owned<fid_mr>> Provider::expose(std::span<std::byte> memory, fid_ep* endpoint) {
  fid_mr* region = nullptr;
  const std::uint64_t key = wants(FI_MR_PROV_KEY) ? 0 : next_key_++;
  const int status = fi_mr_reg(domain_.get(), memory.data(), memory.size(), FI_REMOTE_WRITE, 0, key,
                               0, &region, nullptr);
  if (status != 0) {
    return fail_ofi("cannot register " + std::to_string(memory.size()) +
                        " bytes with libfabric's provider '" + name() +
                        "' (is the limit of locked memory too small? see ulimit -l)",
                    status);
  }
  return enable(Owned<fid_mr>(region), endpoint);
}

std::uint64_t Provider::base_of(std::span<std::byte> memory) const {
  return wants(FI_MR_VIRT_ADDR) ? reinterpret_cast<std::uintptr_t>(memory.data()) : 0;
}

Result<Owned<fid_mr>> Provider::use(std::span<const std::byte> memory, fid_ep* endpoint) {
  if (!wants(FI_MR_LOCAL)) return Owned<fid_mr>();
  fid_mr* region = nullptr;
  const std::uint64_t key = wants(FI_MR_PROV_KEY) ? 0 : next_key_++;
  const int status =
      fi_mr_reg(domain_.get(), memory.data(), memory.size(), FI_WRITE, 0, key, 0, &region, nullptr);
  if (status != 0) {
    return fail_ofi("cannot register " + std::to_string(memory.size()) +
                        " bytes to send from with libfabric's provider '" + name() + "'",
                    status);
  }
  return enable(Owned<fid_mr>(region), endpoint);
}

Result<Owned<fid_mr>> Provider::enable(Owned<fid_mr> region, fid_ep* endpoint) const {
  if (!wants(FI_MR_ENDPOINT)) return region;
  if (endpoint == nullptr) {
    return fail(ErrorCode::system, "libfabric's provider '" + name() +
                                       "' wants memory bound to an endpoint that is made later");
  }
  int status = fi_mr_bind(region.get(), &endpoint->fid, 0);
  if (status == 0) status = fi_mr_enable(region.get());
  if (status != 0) return fail_ofi("cannot bind registered memory to its endpoint", status);
  return region;
}

}  // namespace tutti::ofi
