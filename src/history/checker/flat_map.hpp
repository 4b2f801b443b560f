/// \file flat_map.hpp
/// A hash table of 64-bit keys without deletion, in one block of memory.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "base/prng.hpp"

namespace tutti::history {

template <class Value>
class FlatMap {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }

  [[nodiscard]] Value* find(std::uint64_t key) {
    if (slots_.empty()) return nullptr;
    Slot& slot = slots_[slot_of(key)];
    return slot.used ? &slot.value : nullptr;
  }
  [[nodiscard]] const Value* find(std::uint64_t key) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[slot_of(key)];
    return slot.used ? &slot.value : nullptr;
  }

  /// The value of the key, created if there is none. Other values may move.
  Value& operator[](std::uint64_t key) {
    if ((size_ + 1) * 4 > slots_.size() * 3) grow();
    Slot& slot = slots_[slot_of(key)];
    if (!slot.used) {
      slot.used = true;
      slot.key = key;
      ++size_;
    }
    return slot.value;
  }

  void clear() {
    if (size_ > 0) slots_.assign(slots_.size() > kKept ? 0 : slots_.size(), Slot{});
    size_ = 0;
  }

  template <class Do>
  void for_each(Do act) const {
    for (const Slot& slot : slots_) {
      if (slot.used) act(slot.key, slot.value);
    }
  }

 private:
  static constexpr std::size_t kKept = 4096;  // clear() frees larger tables
  struct Slot {
    std::uint64_t key = 0;
    Value value{};
    bool used = false;
  };

  std::size_t slot_of(std::uint64_t key) const {
    std::uint64_t state = key;
    std::size_t at = splitmix64(state) & (slots_.size() - 1);
    while (slots_[at].used && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    for (Slot& slot : old) {
      if (slot.used) slots_[slot_of(slot.key)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace tutti::history
