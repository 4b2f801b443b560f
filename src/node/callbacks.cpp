#include "node/callbacks.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <type_traits>
#include <utility>

#include "base/assert.hpp"

namespace tutti {

thread_local Callbacks::Mark* Callbacks::Mark::innermost = nullptr;

Callbacks::Mark::Mark(const Callbacks& of, const std::string& name)
    : of_(&of), name_(&name), outer_(std::exchange(innermost, this)) {}

Callbacks::Mark::~Mark() {
  // HoldsDeliveries are the application's: they may end in any order.
  Mark** link = &innermost;
  while (*link != nullptr && *link != this) link = &(*link)->outer_;
  TUTTI_ASSERT(*link == this);  // on the thread that made it
  *link = outer_;
}

const std::string* Callbacks::Mark::find(const Callbacks& of) {
  for (const Mark* mark = innermost; mark != nullptr; mark = mark->outer_) {
    if (mark->of_ == &of) return mark->name_;
  }
  return nullptr;
}

bool Callbacks::Mark::has(const Callbacks& of, std::string_view name) {
  for (const Mark* mark = innermost; mark != nullptr; mark = mark->outer_) {
    if (mark->of_ == &of && *mark->name_ == name) return true;
  }
  return false;
}

namespace {

// What is being handled, as text. Not inlined: callbacks are called often, and seldom throw.
[[gnu::noinline]] std::string thrown() {
  try {
    throw;
  } catch (const std::exception& problem) {
    return std::string("it threw: ") + problem.what();
  } catch (...) {
    return "it threw what is no std::exception";
  }
}

}  // namespace

Callbacks::Callbacks(std::string node, Failed failed)
    : node_(std::move(node)), failed_(std::move(failed)) {}

// What reads a snapshot, the application's: destroying it calls the application, too.
template <class Function>
struct Callbacks::Reader {
  Reader(std::shared_ptr<Entry<Function>> entry, ReadSnapshot read)
      : of(std::move(entry)), call(std::move(read)) {}
  ~Reader() {
    const Mark mark(of->of, of->name);
    call = {};
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  const std::shared_ptr<Entry<Function>> of;
  ReadSnapshot call;
};

// What a snapshot is read with is called like the callback that returned it.
template <class Function>
Result<ReadSnapshot> Callbacks::wrap_reader(const std::shared_ptr<Entry<Function>>& entry,
                                            Result<ReadSnapshot> taken) {
  if (!taken || !*taken) return taken;
  auto reader = std::make_shared<Reader<Function>>(entry, std::move(*taken));
  return [reader](std::uint64_t offset, std::span<std::byte> into) -> Result<std::size_t> {
    const Entry<Function>& of = *reader->of;
    if (of.of.muted_.load(std::memory_order_acquire)) {
      return fail(ErrorCode::stopped, "the node was destroyed");
    }
    const Mark mark(of.of, of.name);
    return reader->call(offset, into);
  };
}

template <Callbacks::Throwing throwing, class Function>
void Callbacks::wrap(Function& callback, std::string name) {
  if (!callback) return;
  auto entry =
      std::make_shared<Entry<Function>>(*this, std::move(name), std::exchange(callback, {}));
  const std::lock_guard lock(drops_mutex_);
  std::erase_if(drops_, [](const Drop& drop) { return drop.entry.expired(); });  // of groups left
  drops_.push_back({entry, [](void* of) { static_cast<Entry<Function>*>(of)->call = {}; }});
  callback = [entry](const auto&... arguments) {
    using Outcome = decltype(entry->call(arguments...));
    if constexpr (throwing == Throwing::is_handled_above) {
      if (entry->of.muted_.load(std::memory_order_acquire)) {
        return Outcome(fail(ErrorCode::stopped, "the node was destroyed"));
      }
      const Mark mark(entry->of, entry->name);
      if constexpr (std::is_same_v<Outcome, Result<ReadSnapshot>>) {
        return wrap_reader(entry, entry->call(arguments...));
      } else {
        return entry->call(arguments...);
      }
    } else {
      if (entry->of.muted_.load(std::memory_order_acquire)) return;
      try {
        const Mark mark(entry->of, entry->name);
        entry->call(arguments...);
      } catch (...) {
        entry->of.report(entry->name, thrown());
      }
    }
  };
}

// One that has thrown is not called again, least of all with its own failure.
LogCallback Callbacks::wrap_log(LogCallback log) {
  if (!log) return {};
  auto write = [this, name = std::string("the log callback"), log = std::move(log), threw = false](
                   LogLevel level, std::string_view text) mutable {
    if (threw) return;
    try {
      const Mark mark(*this, name);
      log(level, text);
    } catch (...) {
      threw = true;
      report(name, thrown());
    }
  };
  log_ = std::make_shared<LogThread>(std::move(write));
  return [log = log_](LogLevel level, std::string_view text) { log->say(level, text); };
}

void Callbacks::call(const std::string& name, const std::function<void()>& handler) const {
  try {
    const Mark mark(*this, name);
    handler();
  } catch (...) {
    report(name, thrown());
  }
}

void Callbacks::report(const std::string& name, const std::string& what) const {
  failed_({ErrorCode::stopped,
           name + " of node '" + node_ + "' failed: " + what +
               "; nothing more is delivered here, and the other members go on without this one. "
               "Callbacks must not throw: mend it and start this member again"});
}

NodeOptions Callbacks::wrap(NodeOptions options) {
  wrap<Throwing::fails_the_node>(options.on_view, "the view callback");
  wrap<Throwing::is_handled_above>(options.on_request, "the request callback");
  options.log = wrap_log(std::move(options.log));
  return options;
}

void Callbacks::wrap(ViewCallback& watcher) {
  wrap<Throwing::fails_the_node>(watcher, "a watcher of views");
}

GroupOptions Callbacks::wrap(GroupOptions options) {
  const std::string of_group = " of group '" + options.name + "'";
  wrap<Throwing::fails_the_node>(options.on_delivery, delivery_name(options.name));
  wrap<Throwing::is_handled_above>(options.snapshot, "snapshot" + of_group);
  wrap<Throwing::is_handled_above>(options.save_state, "save_state" + of_group);
  wrap<Throwing::is_handled_above>(options.load_state, "load_state" + of_group);
  return options;
}

std::string Callbacks::delivery_name(const std::string& group) {
  return "the delivery callback of group '" + group + "'";
}

const std::string* Callbacks::running_here() const { return Mark::find(*this); }

Result<void> Callbacks::start_log() {
  if (!log_) return {};
  return log_->start();
}

void Callbacks::drop() {
  if (log_) log_->end();
  for (const Drop& drop : drops_) {
    if (const std::shared_ptr<void> entry = drop.entry.lock()) drop.drop(entry.get());
  }
}

}  // namespace tutti
