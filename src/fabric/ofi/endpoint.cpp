#include "fabric/ofi/endpoint.hpp"

#include <cstdlib>
#include <cstring>
#include <utility>

namespace tutti::ofi {
namespace {

// libfabric hands it back, and never follows it.
void* context_of(std::uint64_t attachment) {
  return reinterpret_cast<void*>(attachment);  // NOLINT(performance-no-int-to-ptr)
}

std::unexpected<Error> cannot(const char* what, int status) {
  return fail_ofi(std::string("cannot ") + what + " an endpoint of libfabric's", status);
}

}  // namespace

Result<Endpoint> Endpoint::make(Station& station, std::uint64_t attachment, fi_info& info) {
  Provider& provider = station.provider();
  Endpoint out(attachment, provider.info().tx_attr->inject_size);
  fid_ep* endpoint = nullptr;
  int status = fi_endpoint(&provider.domain(), &info, &endpoint, context_of(attachment));
  if (status != 0) return cannot("make", status);
  out.endpoint_.reset(endpoint);
  fid_cq* completions = nullptr;
  if (provider.has_connections()) {
    completions = &station.completions()->get();
  } else {
    Result<CompletionQueue> own = CompletionQueue::open(provider, 1);
    if (!own) return std::unexpected(std::move(own.error()));
    out.completions_.emplace(std::move(*own));
    completions = &out.completions_->get();
  }
  status = fi_ep_bind(endpoint, &completions->fid, FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION);
  if (status != 0) return cannot("bind", status);
  if (provider.has_connections()) {
    status = fi_ep_bind(endpoint, &station.events()->fid, 0);
  } else {
    fi_av_attr attributes{};
    attributes.type = provider.info().domain_attr->av_type;
    attributes.count = 1;
    fid_av* addresses = nullptr;
    status = fi_av_open(&provider.domain(), &attributes, &addresses, nullptr);
    if (status != 0) return cannot("make an address vector for", status);
    out.addresses_.reset(addresses);
    status = fi_ep_bind(endpoint, &addresses->fid, 0);
  }
  if (status != 0) return cannot("bind", status);
  if (status = fi_enable(endpoint); status != 0) return cannot("enable", status);
  return out;
}

Result<Endpoint> Endpoint::datagram(Station& station, std::uint64_t attachment) {
  return make(station, attachment, station.provider().info());
}

Result<Endpoint> Endpoint::calling(Station& station, std::uint64_t attachment,
                                   const std::string& address, std::uint64_t token) {
  // Some providers (verbs) make the endpoint for whom it will call.
  Info info(loaded().dupinfo(&station.provider().info()));
  void* const called = std::malloc(address.size());  // libfabric frees it with the rest
  if (info == nullptr || called == nullptr) {
    std::free(called);
    return cannot("describe", -FI_ENOMEM);
  }
  std::memcpy(called, address.data(), address.size());
  std::free(std::exchange(info->dest_addr, called));
  info->dest_addrlen = address.size();
  Result<Endpoint> out = make(station, attachment, *info);
  if (!out) return out;
  const int status = fi_connect(out->endpoint_.get(), address.data(), &token, sizeof token);
  if (status != 0) return cannot("connect", status);
  return out;
}

Result<Endpoint> Endpoint::answering(Station& station, std::uint64_t attachment, fi_info& request) {
  Result<Endpoint> out = make(station, attachment, request);
  if (!out) return out;
  const int status = fi_accept(out->endpoint_.get(), nullptr, 0);
  if (status != 0) return cannot("answer a call for", status);
  return out;
}

Result<void> Endpoint::point_at(const std::string& address) {
  const int inserted = fi_av_insert(addresses_.get(), address.data(), 1, &peer_, 0, nullptr);
  if (inserted == 1) return {};
  return fail(ErrorCode::mismatch, "libfabric does not understand its endpoint's address");
}

Outcome Endpoint::write(const Write& what) {
  iovec piece{.iov_base = const_cast<std::byte*>(what.from), .iov_len = what.bytes};
  fi_rma_iov target{.addr = what.to, .len = what.bytes, .key = what.key};
  void* descriptor = what.descriptor;
  // Not fi_inject_write(): it takes no context, and an error would not name the attachment.
  const fi_msg_rma message{.msg_iov = &piece,
                           .desc = &descriptor,
                           .iov_count = 1,
                           .addr = peer_,
                           .rma_iov = &target,
                           .rma_iov_count = 1,
                           .context = context_of(attachment_),
                           .data = 0};
  const std::uint64_t flags = (what.signalled ? FI_COMPLETION | FI_DELIVERY_COMPLETE : 0) |
                              (what.more ? FI_MORE : 0) |
                              (what.copied && what.bytes <= inject_bytes_ ? FI_INJECT : 0);
  status_ = fi_writemsg(endpoint_.get(), &message, flags);
  if (status_ == 0) return Outcome::posted;
  return status_ == -FI_EAGAIN ? Outcome::later : Outcome::failed;
}

std::string Endpoint::error() const { return text_of(status_); }

}  // namespace tutti::ofi
