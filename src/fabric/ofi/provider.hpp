/// \file provider.hpp
/// One of libfabric's providers, opened: what it promises, and memory registered with it.
///
/// Memory registration is whatever the provider wants: keys and addresses of its own or of ours,
/// local buffers registered or not, regions bound to an endpoint.
/// Threads: the predicate thread only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "fabric/ofi/handles.hpp"
#include "fabric/ordering.hpp"
#include "tutti/error.hpp"

namespace tutti::ofi {

class Provider {
 public:
  /// As find_provider(), whose errors these are. `most`: it is taken to promise no more than that.
  [[nodiscard]] static Result<Provider> open(const std::string& name, const std::string& host,
                                             Ordering most = Ordering::writes);

  [[nodiscard]] fi_info& info() const { return *info_; }
  [[nodiscard]] fid_fabric& fabric() const { return *fabric_; }
  [[nodiscard]] fid_domain& domain() const { return *domain_; }
  [[nodiscard]] std::string name() const { return info_->fabric_attr->prov_name; }

  /// What guards may rely on. With Ordering::none all writes are signalled.
  [[nodiscard]] Ordering ordering() const { return ordering_; }
  /// Whether a word written twice ends up with the newer value while both sides live.
  [[nodiscard]] bool keeps_newer_words() const { return keeps_newer_words_; }
  [[nodiscard]] bool has_connections() const { return info_->ep_attr->type == FI_EP_MSG; }
  /// A layer makes broken connections again without a word: then a write may be missing among those
  /// that land, and only its own completion tells.
  [[nodiscard]] bool reconnects() const;
  /// Endpoints of one process reach into each other's memory without asking whether it is there:
  /// one that has been closed must not be written to, nor be heard any more.
  [[nodiscard]] bool is_fragile_within_a_process() const;
  /// A write wakes who sleeps on the target's descriptor: it is made of messages. Where adapters
  /// write, nothing does; a provider that we do not know is taken for one of those.
  [[nodiscard]] bool wakes_targets() const;
  /// Writes land, and are acknowledged, while the target polls only.
  [[nodiscard]] bool lands_by_polling() const {
    return info_->domain_attr->data_progress == FI_PROGRESS_MANUAL;
  }
  /// Whether a peer's endpoint may be at that address, for all that can be told from its form and
  /// from ours. libfabric itself reads as much of one as its first bytes say.
  [[nodiscard]] bool understands(const std::string& theirs, const std::string& ours) const;
  /// Larger writes must be cut.
  [[nodiscard]] std::size_t write_bytes_max() const;

  /// Registers memory that a peer may write, and nobody read, under a key never used before.
  /// `endpoint`: the one it writes to, if there is one already.
  [[nodiscard]] Result<Owned<fid_mr>> expose(std::span<std::byte> memory, fid_ep* endpoint);
  /// The address that a peer gives for the memory's begin.
  [[nodiscard]] std::uint64_t base_of(std::span<std::byte> memory) const;
  /// Registers memory that is written from; null if the provider does not want that.
  [[nodiscard]] Result<Owned<fid_mr>> use(std::span<const std::byte> memory, fid_ep* endpoint);

 private:
  Provider(Info info, Owned<fid_fabric> fabric, Owned<fid_domain> domain, std::uint64_t first_key,
           Ordering most);
  [[nodiscard]] bool wants(int mr_mode_bit) const {
    return (info_->domain_attr->mr_mode & mr_mode_bit) != 0;
  }
  [[nodiscard]] Result<Owned<fid_mr>> enable(Owned<fid_mr> region, fid_ep* endpoint) const;

  Info info_;
  Owned<fid_fabric> fabric_;
  Owned<fid_domain> domain_;
  std::uint64_t next_key_;
  Ordering ordering_;
  bool keeps_newer_words_;
};

}  // namespace tutti::ofi
