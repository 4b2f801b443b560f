/// \file forged_delivery.hpp
/// A follower of forged rings, with bounds that the test sets; keeps what was delivered.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "multicast/follower.hpp"
#include "multicast/multicast.hpp"
#include "support/forged_table.hpp"

namespace tutti::testing {

class ForgedDelivery {
 public:
  explicit ForgedDelivery(const ForgedOptions& options = {}, std::uint32_t self = 0)
      : table(options), shape(table.shape(self)), bounds(shape.senders()) {
    for (std::uint32_t s = 0; s < shape.senders(); ++s) rings.emplace_back(table.ring(s));
    delivery = make_follower(
        shape, NativeMemory{}, bounds, [this](std::span<const Message> batch) { take(batch); },
        totals);
  }

  bool run(std::size_t most = 4) { return delivery->run(most); }

  /// All that the sender's writer has put is there; it has settled so many rounds.
  void known(std::uint32_t sender, std::uint64_t rounds, std::uint64_t stable) {
    bounds.set(SenderIndex{sender},
               {.records = rings[sender].records(), .known = rounds, .stable = stable});
  }
  void known(std::uint32_t sender, std::uint64_t rounds) { known(sender, rounds, rounds); }

  /// Senders (ranks) of what was delivered, as "012".
  [[nodiscard]] std::string senders() const {
    std::string text;
    for (const Message& message : messages) text += std::to_string(message.sender.value);
    return text;
  }

  ForgedTable table;
  GroupShape shape;
  Bounds bounds;
  std::vector<RingWriter> rings;
  DeliveryTotals totals;
  std::unique_ptr<Follower<NativeMemory>> delivery;
  std::vector<Message> messages;
  std::vector<std::size_t> batches;  // their sizes
  std::function<void()> on_batch = [] {};

 private:
  void take(std::span<const Message> batch) {
    messages.insert(messages.end(), batch.begin(), batch.end());
    batches.push_back(batch.size());
    on_batch();
  }
};

}  // namespace tutti::testing
