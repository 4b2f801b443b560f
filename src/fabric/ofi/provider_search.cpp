#include "fabric/ofi/provider_search.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "base/random.hpp"
#include "fabric/ofi/offers.hpp"

namespace tutti::ofi {
namespace {

constexpr std::uint32_t kApi = FI_VERSION(1, 17);

// A connected endpoint first, see the header.
constexpr std::array kTypes{FI_EP_MSG, FI_EP_RDM};

constexpr std::array kOrders{std::uint64_t{FI_ORDER_RMA_WAW}, std::uint64_t{FI_ORDER_NONE}};

// All that we can do for a provider; it takes what it needs.
constexpr int kMemoryModes =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;

// They say that their queues have descriptors to sleep on, and have none.
constexpr std::array<std::string_view, 2> kSleepless{"sockets", "udp;ofi_rxd"};

bool is_sleepless(std::string_view name) {
  return std::ranges::find(kSleepless, name) != kSleepless.end();
}

/// An empty name: of any provider. Null: no memory.
Info named(const std::string& name) {
  Info hints(loaded().dupinfo(nullptr));
  if (hints == nullptr || name.empty()) return hints;
  hints->fabric_attr->prov_name = ::strdup(name.c_str());
  return hints->fabric_attr->prov_name == nullptr ? nullptr : std::move(hints);
}

Info hints_for(const std::string& name, fi_ep_type type, std::uint64_t order) {
  Info hints = named(name);
  if (hints == nullptr) return hints;
  hints->caps = FI_RMA | FI_WRITE | FI_REMOTE_WRITE;
  hints->ep_attr->type = type;
  hints->tx_attr->msg_order = order;
  hints->rx_attr->msg_order = order;
  if (order == FI_ORDER_NONE) hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
  hints->domain_attr->mr_mode = kMemoryModes;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  // We poll in every turn of the loop, so a provider needs no thread of its own.
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  return hints;
}

/// Null if there is nothing.
Info ask(const Info& hints, const char* host, std::uint64_t flags) {
  fi_info* found = nullptr;
  if (hints == nullptr || loaded().getinfo(kApi, host, nullptr, flags, hints.get(), &found) != 0) {
    return nullptr;
  }
  return Info(found);
}

bool is_shared_memory(const fi_info& info) {
  return std::string_view(info.fabric_attr->prov_name) == "shm";
}

bool has_internet_addresses(const fi_info& info) {
  return info.addr_format == FI_SOCKADDR || info.addr_format == FI_SOCKADDR_IN ||
         info.addr_format == FI_SOCKADDR_IN6;
}

// Shared memory is named for the process id, unless we name it. Ids come again: of a process that
// was killed, whose memory is left, and in another container, whose memory would be taken away.
std::string name_of_its_own() {
  const std::uint64_t number = random_u64().value_or(0);  // then there is the id still
  return "tutti-" + std::to_string(::getpid()) + "-" + std::to_string(number);
}

/// All that libfabric offers, with endpoints at `host`; null if it offers none.
Info offered(const Info& hints, const std::string& host) {
  Info anywhere = ask(hints, nullptr, 0);
  if (anywhere == nullptr || host.empty()) return anywhere;
  if (is_shared_memory(*anywhere)) return ask(hints, name_of_its_own().c_str(), FI_SOURCE);
  return has_internet_addresses(*anywhere) ? ask(hints, host.c_str(), FI_SOURCE)
                                           : std::move(anywhere);
}

/// The first of that very name: libfabric also offers layers upon it. Null if there is none.
Info by_name(const Info& all, const std::string& name) {
  for (const fi_info* info = all.get(); info != nullptr; info = info->next) {
    if (info->fabric_attr->prov_name == name) return Info(loaded().dupinfo(info));
  }
  return nullptr;
}

/// In order before without, then as in kTypes.
Info first_of(const std::string& name, const std::string& host) {
  for (const std::uint64_t order : kOrders) {
    for (const fi_ep_type type : kTypes) {
      Info info = by_name(offered(hints_for(name, type, order), host), name);
      if (info != nullptr && (order == FI_ORDER_NONE || promises_order(*info))) return info;
    }
  }
  return nullptr;
}

Offer offer_of(const fi_info& info) {
  Offer offer{.provider = info.fabric_attr->prov_name,
              .connected = info.ep_attr->type == FI_EP_MSG,
              .ordered = promises_order(info),
              .ordered_bytes = info.ep_attr->max_order_waw_size};
  if (is_sleepless(offer.provider)) offer.why_not = "it has nothing that members could sleep on";
  return offer;
}

/// By name, with what a node would take of each.
std::map<std::string, Offer> all_offers() {
  std::map<std::string, Offer> out;
  for (const std::uint64_t order : kOrders) {
    for (const fi_ep_type type : kTypes) {
      const Info all = offered(hints_for("", type, order), "");
      for (const fi_info* info = all.get(); info != nullptr; info = info->next) {
        out.try_emplace(info->fabric_attr->prov_name, offer_of(*info));
      }
    }
  }
  return out;
}

std::string those_that_will_do() {
  std::string text;
  for (const auto& [name, offer] : all_offers()) {
    if (offer.why_not.empty()) text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "none" : text;
}

Error why_not(const std::string& name, const std::string& host) {
  const std::string provider = "libfabric's provider '" + name + "'";
  std::string why =
      provider + " makes no one-sided writes that land in order or tell when they have";
  if (by_name(ask(named(name), nullptr, 0), name) == nullptr) {
    why = "libfabric has no provider '" + name +
          "' here: none by that name was built in, or there is no device for it";
  } else if (is_sleepless(name)) {
    why = provider + " has nothing that members could sleep on";
  } else if (first_of(name, "") != nullptr) {
    return {ErrorCode::system, provider + " has no device at " + host +
                                   ", the address of this member: is it one of this host's?"};
  }
  return {ErrorCode::invalid_argument, why + "; those that will do here: " + those_that_will_do()};
}

}  // namespace

bool promises_order(const fi_info& info) {
  // The older bit speaks for writes of both kinds.
  constexpr std::uint64_t kEither = FI_ORDER_RMA_WAW | FI_ORDER_WAW;
  return (info.tx_attr->msg_order & kEither) != 0 && (info.rx_attr->msg_order & kEither) != 0 &&
         info.ep_attr->max_order_waw_size >= kOrderedBytesMin;
}

Ordering ordering_of(const fi_info& info) {
  // Its larger writes are read by the target, out of the writer's memory: if the writer has died,
  // they are skipped, and smaller ones behind them land.
  if (is_shared_memory(info)) return Ordering::none;
  return promises_order(info) ? Ordering::writes : Ordering::none;
}

Result<Info> find_provider(const std::string& name, const std::string& host) {
  if (!library()) return std::unexpected(library().error());
  Info info = is_sleepless(name) ? nullptr : first_of(name, host);
  if (info == nullptr) return std::unexpected(why_not(name, host));
  return info;
}

// A member that is killed under the lock leaves it locked, and whoever comes next spins for ever:
// in 3 of 120 kills under load, with libfabric 1.17. Later ones hold such locks for less, but they
// do.
std::string caution_of(std::string_view provider) {
  if (provider != "shm") return {};
  return "libfabric's provider 'shm' writes under a lock in shared memory: a member that is killed "
         "there may hang those that it was writing to; --fabric shm survives it, and is faster";
}

Result<Offers> offers() {
  if (!library()) return std::unexpected(library().error());
  const std::uint32_t version = loaded().version();
  Offers out{.version =
                 std::to_string(FI_MAJOR(version)) + "." + std::to_string(FI_MINOR(version))};
  for (auto& [name, offer] : all_offers()) out.providers.push_back(offer);
  return out;
}

}  // namespace tutti::ofi
