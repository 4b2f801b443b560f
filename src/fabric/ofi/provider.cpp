#include "fabric/ofi/provider.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

namespace tutti::ofi {
namespace {

constexpr const char* kNoMemory = "no memory to ask libfabric for a provider";

// A connected endpoint first, see the header.
constexpr std::array kTypes{FI_EP_MSG, FI_EP_RDM};

constexpr std::uint32_t kApi = FI_VERSION(1, 17);

// One write of at most so much, so that control words do not wait long behind it.
constexpr std::size_t kWriteBytesMax = 1024 * 1024;

// All that we can do for a provider; it takes what it needs.
constexpr int kMemoryModes =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;

bool has_layer(std::string_view name) { return name.find(';') != std::string_view::npos; }

/// An empty name: of any provider. Null: no memory.
Info hints_for(const std::string& name, fi_ep_type type, std::uint64_t order) {
  Info hints(fi_allocinfo());
  if (hints == nullptr) return hints;
  if (!name.empty()) {
    hints->fabric_attr->prov_name = ::strdup(name.c_str());
    if (hints->fabric_attr->prov_name == nullptr) return nullptr;
  }
  hints->caps = FI_RMA | FI_WRITE | FI_REMOTE_WRITE;
  hints->ep_attr->type = type;
  hints->tx_attr->msg_order = order;
  hints->rx_attr->msg_order = order;
  hints->domain_attr->mr_mode = kMemoryModes;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  // We poll in every turn of the loop, so a provider needs no thread of its own.
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  return hints;
}

bool has_internet_addresses(const fi_info& info) {
  return info.addr_format == FI_SOCKADDR || info.addr_format == FI_SOCKADDR_IN ||
         info.addr_format == FI_SOCKADDR_IN6;
}

/// The first that libfabric offers, with endpoints at `host`; null if it offers none.
Info offered(const fi_info& hints, const std::string& host) {
  fi_info* found = nullptr;
  if (fi_getinfo(kApi, nullptr, nullptr, 0, &hints, &found) != 0) return nullptr;
  Info anywhere(found);
  if (host.empty() || !has_internet_addresses(*anywhere)) return anywhere;
  found = nullptr;
  if (fi_getinfo(kApi, host.c_str(), nullptr, FI_SOURCE, &hints, &found) != 0) return nullptr;
  return Info(found);
}

/// Those that will do.
std::string known_providers() {
  std::set<std::string> names;
  for (const fi_ep_type type : kTypes) {
    const Info hints = hints_for("", type, FI_ORDER_RMA_WAW);
    const Info all = hints == nullptr ? nullptr : offered(*hints, "");
    for (const fi_info* info = all.get(); info != nullptr; info = info->next) {
      if (check_order(*info)) names.insert(info->fabric_attr->prov_name);
    }
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

Result<Info> find(const std::string& name, const std::string& host) {
  for (const fi_ep_type type : kTypes) {
    if (type == FI_EP_MSG && has_layer(name)) continue;
    const Info hints = hints_for(name, type, FI_ORDER_RMA_WAW);
    if (hints == nullptr) return fail(ErrorCode::system, kNoMemory);
    if (Info info = offered(*hints, host)) return info;
  }
  for (const fi_ep_type type : kTypes) {  // is it the order?
    const Info hints = hints_for(name, type, FI_ORDER_NONE);
    const Info info = hints == nullptr ? nullptr : offered(*hints, host);
    if (info == nullptr) continue;
    if (Result<void> ordered = check_order(*info); !ordered) {
      return std::unexpected(ordered.error());
    }
  }
  return fail(ErrorCode::invalid_argument, "libfabric has no provider '" + name +
                                               "' for one-sided writes" +
                                               (host.empty() ? "" : " at " + host) +
                                               "; those that will do here: " + known_providers());
}

}  // namespace

Result<void> check_order(const fi_info& info) {
  const std::string name = info.fabric_attr->prov_name;
  const std::string so =
      "; without it a member could see that a message is there before its "
      "bytes are: use another provider, or tcp";
  // The older bit speaks for writes of both kinds.
  constexpr std::uint64_t kEither = FI_ORDER_RMA_WAW | FI_ORDER_WAW;
  if ((info.tx_attr->msg_order & kEither) == 0 || (info.rx_attr->msg_order & kEither) == 0) {
    return fail(ErrorCode::invalid_argument,
                "libfabric's provider '" + name +
                    "' does not keep writes in order (FI_ORDER_RMA_WAW)" + so);
  }
  if (info.ep_attr->max_order_waw_size < kOrderedBytesMin) {
    return fail(ErrorCode::invalid_argument,
                "libfabric's provider '" + name + "' keeps writes in order up to " +
                    std::to_string(info.ep_attr->max_order_waw_size) + " bytes only, needed are " +
                    std::to_string(kOrderedBytesMin) + so);
  }
  return {};
}

Provider::Provider(Info info, Owned<fid_fabric> fabric, Owned<fid_domain> domain,
                   std::uint64_t first_key)
    : info_(std::move(info)),
      fabric_(std::move(fabric)),
      domain_(std::move(domain)),
      next_key_(first_key) {}

Result<Provider> Provider::open(const std::string& name, const std::string& host) {
  Result<Info> info = find(name, host);
  if (!info) return std::unexpected(std::move(info.error()));
  if (Result<void> ordered = check_order(**info); !ordered) {
    return std::unexpected(ordered.error());
  }
  fid_fabric* fabric = nullptr;
  if (const int status = fi_fabric((*info)->fabric_attr, &fabric, nullptr); status != 0) {
    return fail_ofi("cannot open libfabric's provider '" + name + "'", status);
  }
  Owned<fid_fabric> owned(fabric);
  fid_domain* domain = nullptr;
  if (const int status = fi_domain(fabric, info->get(), &domain, nullptr); status != 0) {
    return fail_ofi("cannot open the device of libfabric's provider '" + name + "'", status);
  }
  Owned<fid_domain> owned_domain(domain);
  // Keys start somewhere else at each start, so that a write for an earlier one meets none of ours.
  std::uint32_t first_key = 0;
  if (::getrandom(&first_key, sizeof first_key, GRND_NONBLOCK) != sizeof first_key) first_key = 1;
  if ((*info)->domain_attr->mr_key_size < sizeof first_key) first_key &= 0xff;
  return Provider(std::move(*info), std::move(owned), std::move(owned_domain), first_key);
}

bool Provider::reconnects() const {
  return std::string_view(info_->fabric_attr->prov_name).find("ofi_rxm") != std::string_view::npos;
}

bool Provider::is_fragile_within_a_process() const { return name() == "shm"; }

std::size_t Provider::write_bytes_max() const {
  return std::min(
      {info_->ep_attr->max_msg_size, info_->ep_attr->max_order_waw_size, kWriteBytesMax});
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
