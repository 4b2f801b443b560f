/// \file endpoint.hpp
/// The endpoint of one attachment: nobody else's, so that closing it cuts this peer off and nobody
/// else, and a broken connection leaves nothing behind for the next one.
///
/// Three ways to one: a datagram endpoint is there at once and is pointed at the peer later; of two
/// that connect, one calls and one answers.
/// Threads: the predicate thread only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "fabric/ofi/station.hpp"

namespace tutti::ofi {

enum class Outcome : std::uint8_t {
  posted,
  later,   ///< no room in the provider now
  failed,  ///< the connection is of no use any more
};

struct Write {
  const std::byte* from = nullptr;
  std::size_t bytes = 0;
  void* descriptor = nullptr;  ///< of the memory it lies in, if that is registered
  std::uint64_t to = 0;        ///< address at the peer
  std::uint64_t key = 0;
  bool signalled = false;  ///< a Completion tells when it has landed
  bool more = false;       ///< another write follows at once, or the provider may hold this back
  bool copied = false;     ///< taken at once, if the provider can: `from` may change afterwards
};

class Endpoint {
 public:
  [[nodiscard]] static Result<Endpoint> datagram(Station& station, std::uint64_t attachment);
  [[nodiscard]] static Result<Endpoint> calling(Station& station, std::uint64_t attachment,
                                                const std::string& address, std::uint64_t token);
  [[nodiscard]] static Result<Endpoint> answering(Station& station, std::uint64_t attachment,
                                                  fi_info& request);

  /// A datagram endpoint's peer.
  [[nodiscard]] Result<void> point_at(const std::string& address);
  [[nodiscard]] Result<std::string> address() const { return name_of(endpoint_->fid); }
  [[nodiscard]] fid_ep& get() const { return *endpoint_; }
  /// A datagram endpoint's; null for one with a connection.
  [[nodiscard]] CompletionQueue* completions() { return completions_ ? &*completions_ : nullptr; }
  [[nodiscard]] const CompletionQueue* completions() const {
    return completions_ ? &*completions_ : nullptr;
  }

  [[nodiscard]] Outcome write(const Write& what);

  /// Why the last one failed.
  [[nodiscard]] std::string error() const;

 private:
  Endpoint(std::uint64_t attachment, std::size_t inject_bytes)
      : attachment_(attachment), inject_bytes_(inject_bytes) {}
  [[nodiscard]] static Result<Endpoint> make(Station& station, std::uint64_t attachment,
                                             fi_info& info);

  std::uint64_t attachment_;
  std::size_t inject_bytes_;
  fi_addr_t peer_ = FI_ADDR_UNSPEC;
  ssize_t status_ = 0;
  // Of datagrams; they outlive the endpoint.
  std::optional<CompletionQueue> completions_;
  Owned<fid_av> addresses_;
  Owned<fid_ep> endpoint_;
};

}  // namespace tutti::ofi
