#include "fabric/ofi/station.hpp"

#include <cstring>
#include <utility>

namespace tutti::ofi {
namespace {

constexpr std::size_t kPeersMax = 256;
constexpr std::size_t kTokenBytes = sizeof(std::uint64_t);

}  // namespace

Result<std::string> name_of(fid& object) {
  std::string name(256, '\0');
  std::size_t bytes = name.size();
  if (const int status = fi_getname(&object, name.data(), &bytes); status != 0) {
    return fail_ofi("libfabric does not tell the address of our endpoint", status);
  }
  name.resize(bytes);
  return name;
}

Result<std::unique_ptr<Station>> Station::open(const std::string& provider, const std::string& host,
                                               Ordering most) {
  Result<Provider> opened = Provider::open(provider, host, most);
  if (!opened) return std::unexpected(std::move(opened.error()));
  std::unique_ptr<Station> station(new Station(std::move(*opened)));
  if (!station->provider_.has_connections()) return station;
  if (Result<void> r = station->listen(host); !r) return std::unexpected(r.error());
  Result<CompletionQueue> completions = CompletionQueue::open(station->provider_, kPeersMax);
  if (!completions) return std::unexpected(std::move(completions.error()));
  station->completions_.emplace(std::move(*completions));
  return station;
}

Result<void> Station::listen(const std::string& host) {
  const std::string what =
      "cannot listen at " + host + " with libfabric's provider '" + provider_.name() + "'";
  fi_eq_attr attributes{};
  attributes.wait_obj = FI_WAIT_FD;
  fid_eq* events = nullptr;
  int status = fi_eq_open(&provider_.fabric(), &attributes, &events, nullptr);
  if (status != 0) return fail_ofi(what, status);
  events_.reset(events);
  fid_pep* listener = nullptr;
  status = fi_passive_ep(&provider_.fabric(), &provider_.info(), &listener, nullptr);
  if (status != 0) return fail_ofi(what, status);
  listener_.reset(listener);
  status = fi_pep_bind(listener, &events->fid, 0);
  if (status == 0) status = fi_listen(listener);
  if (status != 0) return fail_ofi(what, status);
  return {};
}

Result<std::string> Station::listener_address() const { return name_of(listener_->fid); }

std::optional<ConnectionEvent> Station::next_event() {
  // What the caller said follows the entry.
  alignas(fi_eq_cm_entry) std::array<std::byte, sizeof(fi_eq_cm_entry) + 256> bytes{};
  std::uint32_t kind = 0;
  const ssize_t size = fi_eq_read(events_.get(), &kind, bytes.data(), bytes.size(), 0);
  if (size == -FI_EAVAIL) {
    fi_eq_err_entry error{};
    if (fi_eq_readerr(events_.get(), &error, 0) <= 0 || error.fid == nullptr) return std::nullopt;
    return ConnectionEvent{.kind = ConnectionEvent::Kind::ended,
                           .attachment = reinterpret_cast<std::uintptr_t>(error.fid->context)};
  }
  if (size < static_cast<ssize_t>(sizeof(fi_eq_cm_entry))) return std::nullopt;
  const auto* entry = reinterpret_cast<const fi_eq_cm_entry*>(bytes.data());
  ConnectionEvent event;
  if (kind == FI_CONNREQ) {
    event.kind = ConnectionEvent::Kind::called;
    event.request.reset(entry->info);
    const std::size_t said = static_cast<std::size_t>(size) - sizeof(fi_eq_cm_entry);
    if (said >= kTokenBytes) {
      std::memcpy(&event.token, bytes.data() + sizeof(fi_eq_cm_entry), kTokenBytes);
    }
    return event;
  }
  event.kind =
      kind == FI_CONNECTED ? ConnectionEvent::Kind::connected : ConnectionEvent::Kind::ended;
  event.attachment = reinterpret_cast<std::uintptr_t>(entry->fid->context);
  return event;
}

void Station::reject(const ConnectionEvent& call) {
  fi_reject(listener_.get(), call.request->handle, nullptr, 0);
}

bool Station::may_sleep() const {
  if (events_ == nullptr) return true;
  fid* object = &events_->fid;
  return fi_trywait(&provider_.fabric(), &object, 1) == FI_SUCCESS && completions_->may_sleep();
}

}  // namespace tutti::ofi
