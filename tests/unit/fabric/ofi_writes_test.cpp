// What libfabric is handed with each write: the context that an error comes back with (F-loss), and
// whether another write follows.
#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

#include "fabric/ofi/endpoint.hpp"
#include "unit/fabric/ofi_pair.hpp"

namespace tutti {
namespace {

using testing::kOfiEpoch;
using testing::OfiPair;

struct Written {
  const void* context = nullptr;
  std::uint64_t flags = 0;
};

/// Stands between libfabric's callers and the functions of an endpoint's provider, for all its
/// endpoints.
class WriteSpy {
 public:
  explicit WriteSpy(fi_ops_rma& functions) : functions_(functions), real_(functions) {
    functions_.writemsg = &WriteSpy::writemsg;
    functions_.inject = &WriteSpy::inject;
    spy_ = this;
  }
  ~WriteSpy() {
    functions_.writemsg = real_.writemsg;
    functions_.inject = real_.inject;
    spy_ = nullptr;
  }
  WriteSpy(const WriteSpy&) = delete;
  WriteSpy& operator=(const WriteSpy&) = delete;

  std::vector<Written> written;

 private:
  static ssize_t writemsg(fid_ep* endpoint, const fi_msg_rma* message, std::uint64_t flags) {
    const ssize_t status = spy_->real_.writemsg(endpoint, message, flags);
    if (status == 0) spy_->written.push_back({message->context, flags});
    return status;
  }
  static ssize_t inject(fid_ep* endpoint, const void* from, std::size_t bytes, fi_addr_t peer,
                        std::uint64_t to, std::uint64_t key) {
    const ssize_t status = spy_->real_.inject(endpoint, from, bytes, peer, to, key);
    if (status == 0) spy_->written.push_back({});
    return status;
  }

  static inline WriteSpy* spy_ = nullptr;
  fi_ops_rma& functions_;
  fi_ops_rma real_;
};

/// Over libfabric's tcp, whose endpoints share one table of functions.
class OfiWrites : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(pair.open()); }

  /// Posts so many words of the first one's row, and hands them over.
  void publish(std::uint64_t offset, std::size_t words) {
    const auto row = std::as_bytes(std::span(pair.rows[0]));
    pair.fabrics[0]->publish(Slot{1}, offset, row.subspan(offset, words * 8));
    pair.fabrics[0]->flush();
  }

  std::unique_ptr<ofi::Station> station = ofi::Station::open("tcp", "127.0.0.1").value();
  ofi::Endpoint some_endpoint =
      ofi::Endpoint::calling(*station, 1, station->listener_address().value(), kOfiEpoch).value();
  OfiPair pair{"tcp"};
  WriteSpy spy{*some_endpoint.get().rma};
};

TEST_F(OfiWrites, AnErrorOfAnyWriteComesBackWithItsAttachment) {
  spy.written.clear();
  for (int post = 0; post < 5; ++post) publish(64, 1);  // the first is signalled, the others not
  ASSERT_EQ(spy.written.size(), 5U);
  for (const Written& write : spy.written) EXPECT_NE(write.context, nullptr);
}

// Else the provider may hold it back.
TEST_F(OfiWrites, TheLastOneOfAFlushSaysThatNoneFollows) {
  constexpr std::size_t kWords = 500;
  std::size_t before = 0;
  do {  // the other one takes none of them, until there is no room
    before = spy.written.size();
    publish(64, kWords);
  } while (spy.written.size() > before);
  pair.fabrics[0]->write(Slot{1}, {8192, 512});
  publish(64, kWords);
  ASSERT_EQ(spy.written.size(), before + 1) << "the data alone goes out";
  EXPECT_EQ(spy.written.back().flags & FI_MORE, 0U);
}

TEST_F(OfiWrites, DataSaysThatItsWordsFollow) {
  pair.fabrics[0]->write(Slot{1}, {8192, 512});
  publish(64, 1);
  ASSERT_GE(spy.written.size(), 2U);
  EXPECT_NE(spy.written[spy.written.size() - 2].flags & FI_MORE, 0U);
  EXPECT_EQ(spy.written.back().flags & FI_MORE, 0U);
}

}  // namespace
}  // namespace tutti
