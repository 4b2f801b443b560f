/// \file direct.hpp
/// Dissemination straight from each sender to every other member.
///
/// Threads: the predicate thread. Source: [Spindle, 2.2, 2.4].
#pragma once
#include <vector>

#include "multicast/dissemination.hpp"

namespace tutti {

template <class Memory>
class Direct final : public Dissemination<Memory> {
 public:
  using Dissemination<Memory>::Dissemination;

  bool receive(const IndexedBy<SenderIndex, bool>& ignored) override;
  void sent(const SendRing::Batch& batch, Outbox& out) override {
    out.data = Outbox::Pieces::of(batch.begin, batch.end - batch.begin, state_.shape.ring_granules);
  }

 private:
  using Dissemination<Memory>::state_;
};

}  // namespace tutti
