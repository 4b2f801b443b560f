/// \file handler_memory.hpp
/// Room for one Asio operation at a time, so that going to sleep does not allocate.
#pragma once
#include <array>
#include <cstddef>
#include <new>

namespace tutti::tcp {

class HandlerMemory {
 public:
  HandlerMemory() = default;
  HandlerMemory(const HandlerMemory&) = delete;
  HandlerMemory& operator=(const HandlerMemory&) = delete;

  [[nodiscard]] void* allocate(std::size_t bytes) {
    if (used_ || bytes > storage_.size()) return ::operator new(bytes);
    used_ = true;
    return storage_.data();
  }

  void deallocate(void* memory) noexcept {
    if (memory == storage_.data()) {
      used_ = false;
    } else {
      ::operator delete(memory);
    }
  }

 private:
  alignas(std::max_align_t) std::array<std::byte, 256> storage_{};
  bool used_ = false;
};

/// What Asio asks for: an allocator that hands the memory out.
template <class T>
class HandlerAllocator {
 public:
  using value_type = T;

  explicit HandlerAllocator(HandlerMemory& memory) : memory_(&memory) {}
  template <class U>
  explicit HandlerAllocator(const HandlerAllocator<U>& other) : memory_(other.memory_) {}

  [[nodiscard]] T* allocate(std::size_t count) {
    return static_cast<T*>(memory_->allocate(sizeof(T) * count));
  }
  void deallocate(T* memory, std::size_t) noexcept { memory_->deallocate(memory); }

  template <class U>
  bool operator==(const HandlerAllocator<U>& other) const {
    return memory_ == other.memory_;
  }

 private:
  template <class>
  friend class HandlerAllocator;
  HandlerMemory* memory_;
};

}  // namespace tutti::tcp
