/// \file delivery.hpp
/// The thread of its own on which a group delivers, at one member: it can stop in the middle of a
/// batch, in a callback of the application, or where the library waits for a condition.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/fiber.hpp"
#include "tutti/message.hpp"

namespace tutti::domain {

struct Delivery {
  enum class State : std::uint8_t { idle, runs, in_callback, waits };

  State state = State::idle;
  std::vector<Message> batch{};
  std::vector<std::vector<std::byte>> bytes{};         // of the batch
  std::uint64_t tickets = 0;                           // delivered, with this batch
  const std::condition_variable* waits_for = nullptr;  // null: it was notified
  std::optional<sim::Fiber> fiber{};
};

}  // namespace tutti::domain
