/// \file pair.hpp
/// Two members that ask each other over a fabric whose words land one by one between any two loads,
/// or in rows that they share; and what their owners are told.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "requests/requests.hpp"
#include "support/aligned_row.hpp"
#include "support/landing_memory.hpp"
#include "support/landing_net.hpp"

namespace tutti::testing {

/// Writes down what it is told.
struct Told final : RequestEvents {
  struct Message {
    std::uint64_t session = 0;
    std::uint64_t id = 0;
    std::string text;
    bool failed = false;
    std::uint32_t patience_ms = 0;
    friend bool operator==(const Message&, const Message&) = default;
  };

  void opened(Slot, std::uint64_t session) override { sessions.push_back(session); }
  void request(Slot, std::uint64_t session, std::uint64_t id, std::uint32_t patience_ms,
               std::span<const std::byte> bytes) override {
    requests.push_back({session, id, text_of(bytes), false, patience_ms});
  }
  void reply(Slot, std::uint64_t session, std::uint64_t id, bool failed,
             std::span<const std::byte> bytes) override {
    replies.push_back({session, id, text_of(bytes), failed, 0});
  }
  void gone(Slot, std::uint64_t session) override { over.push_back(session); }
  void space(Slot) override { ++spaces; }

  static std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  std::vector<std::uint64_t> sessions;
  std::vector<std::uint64_t> over;
  std::vector<Message> requests;
  std::vector<Message> replies;
  int spaces = 0;
};

inline constexpr std::size_t kAskMax = 1000;  // then a lane has 512 granules

inline RequestWords words_of_two(std::size_t bytes_max = kAskMax) {
  return {.offset = 64, .bytes_max = bytes_max, .nodes = 2};
}

/// The view in which both are.
inline View view_of(std::uint64_t id, std::uint64_t first, std::uint64_t second) {
  return {.id = id, .members = {{Slot{0}, first}, {Slot{1}, second}}, .survivors = 2};
}

using Ask = Requests<LandingMemory>;

/// A member in one of two slots.
struct Asker {
  Asker(std::uint32_t slot, std::uint64_t incarnation, AlignedRow& own, RowOf row_of,
        std::unique_ptr<Fabric> net, BetweenLoads* world)
      : row(own),
        fabric(std::move(net)),
        ask({Slot{slot}, incarnation}, words_of_two(), own.data(), std::move(row_of), told,
            LandingMemory{world, Slot{slot}}) {}

  void pass() {
    fabric->poll();
    Effects effects(*fabric);
    ask.step(effects);
    effects.carry_out();
    fabric->flush();
  }
  Ask::Written write(Slot to, FrameKind kind, std::uint64_t id, std::string_view text) {
    return ask.write(to, told.sessions.back(), kind, id, std::as_bytes(std::span(text)));
  }

  AlignedRow& row;
  std::unique_ptr<Fabric> fabric;
  Told told;
  Ask ask;
};

}  // namespace tutti::testing
