#include "sim/fiber.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <utility>

#include "base/assert.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define TUTTI_FIBER_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TUTTI_FIBER_ASAN
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define TUTTI_FIBER_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TUTTI_FIBER_TSAN
#endif
#endif
#ifdef TUTTI_FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef TUTTI_FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace tutti::sim {
namespace {

// Most of it is never touched. Below it is a page that nothing may touch.
constexpr std::size_t kStackBytes = 1 << 20;
constexpr std::size_t kGuardBytes = 64 * 1024;

}  // namespace

Fiber::Fiber() {
  memory_ = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  TUTTI_ASSERT(memory_ != MAP_FAILED, kStackBytes);
  const int guarded = mprotect(memory_, kGuardBytes, PROT_NONE);
  TUTTI_ASSERT(guarded == 0, kGuardBytes);
  here_.stack = static_cast<std::byte*>(memory_) + kGuardBytes;
  here_.bytes = kStackBytes;
}

Fiber::~Fiber() {
  if (under_way_) unwind();
  munmap(memory_, kGuardBytes + kStackBytes);
}

void Fiber::start(std::function<void()> function) {
  TUTTI_ASSERT(!under_way_);
  function_ = std::move(function);
  under_way_ = true;
  const int got = getcontext(&here_.context);
  TUTTI_ASSERT(got == 0, got);
  here_.context.uc_stack.ss_sp = const_cast<void*>(here_.stack);
  here_.context.uc_stack.ss_size = here_.bytes;
  here_.context.uc_link = nullptr;
  // makecontext() hands over nothing but ints.
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&here_.context, reinterpret_cast<void (*)()>(&Fiber::enter), 2,
              static_cast<unsigned>(self), static_cast<unsigned>(self >> 32));
#ifdef TUTTI_FIBER_ASAN
  // AddressSanitizer clears what it knows of a context's stack whenever it changes to it, a call
  // of mmap() each time. change() tells it of stacks as well, so the context need not name one.
  here_.context.uc_stack = {};
#endif
#ifdef TUTTI_FIBER_TSAN
  here_.fiber = __tsan_create_fiber(0);
#endif
  resume();
}

void Fiber::resume() {
  TUTTI_ASSERT(under_way_);
#ifdef TUTTI_FIBER_TSAN
  caller_.fiber = __tsan_get_current_fiber();
#endif
  change(caller_, here_);
  arrived(caller_, here_);
  if (under_way_) return;
  function_ = nullptr;
#ifdef TUTTI_FIBER_TSAN
  __tsan_destroy_fiber(std::exchange(here_.fiber, nullptr));
#endif
}

void Fiber::stop() {
  TUTTI_ASSERT(under_way_ && !unwinds_);
  change(here_, caller_);
  arrived(here_, caller_);
  if (unwinds_) throw Unwound{};
}

void Fiber::unwind() {
  unwinds_ = true;
  resume();
  unwinds_ = false;
  TUTTI_ASSERT(!under_way_);
}

void Fiber::enter(unsigned low, unsigned high) {
  const std::uintptr_t self = std::uintptr_t{high} << 32 | low;
  reinterpret_cast<Fiber*>(self)->run();  // NOLINT(performance-no-int-to-ptr)
}

void Fiber::run() {
  arrived(here_, caller_);
  try {
    function_();
  } catch (const Unwound&) {  // as if the function had returned
  }
  under_way_ = false;
  change(here_, caller_, true);
}

void Fiber::change(Side& from, Side& to, [[maybe_unused]] bool for_good) {
#ifdef TUTTI_FIBER_ASAN
  __sanitizer_start_switch_fiber(for_good ? nullptr : &from.fake_stack, to.stack, to.bytes);
#endif
#ifdef TUTTI_FIBER_TSAN
  __tsan_switch_to_fiber(to.fiber, 0);
#endif
  const int changed = swapcontext(&from.context, &to.context);
  TUTTI_ASSERT(changed == 0, changed);
}

void Fiber::arrived([[maybe_unused]] Side& here, [[maybe_unused]] Side& from) {
#ifdef TUTTI_FIBER_ASAN
  __sanitizer_finish_switch_fiber(std::exchange(here.fake_stack, nullptr), &from.stack,
                                  &from.bytes);
#endif
}

}  // namespace tutti::sim
