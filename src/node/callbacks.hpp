/// \file callbacks.hpp
/// The application's callbacks of one node, as the rest of the node calls them.
///
/// Invariants: A1 while a callback runs, its thread is marked with the callback's name, so that a
/// call that would wait for this very thread can be refused. A2 what a callback throws goes no
/// further: it becomes the node's failure, which names callback, group and node (snapshot,
/// save_state, load_state and on_request are but marked: their caller takes what they throw). A3
/// after mute() no callback begins but the log's and handlers (call()); after drop() none is left.
/// The log callback has a thread of its own (log_thread.hpp): no other thread waits for it but in
/// drop(), which has it told what waits. Threads: marks, the wrapped callbacks, running_here() and
/// mute() any, wrap() of a group any; the rest before start, and drop() after the last thread of
/// the node has ended, never inside a callback.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "node/log_thread.hpp"
#include "tutti/options.hpp"

namespace tutti {

class Callbacks {
 public:
  using Failed = std::function<void(const Error&)>;

  /// That the callback `name` of a node runs on this thread, which also ends the mark, the newest
  /// first. There may be marks of all nodes of the process: a callback may call another node, which
  /// calls its own callbacks.
  class Mark {
   public:
    Mark(const Callbacks& of, const std::string& name);
    ~Mark();
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;

    /// The innermost one; or the innermost of that name.
    [[nodiscard]] static const std::string* find(const Callbacks& of);
    [[nodiscard]] static bool has(const Callbacks& of, std::string_view name);

   private:
    static thread_local Mark* innermost;

    const Callbacks* of_;
    const std::string* name_;
    Mark* outer_;
  };

  /// `failed` takes what a callback threw, on the callback's thread.
  Callbacks(std::string node, Failed failed);

  /// The same options, with callbacks that keep A1 to A3; an empty one stays empty.
  [[nodiscard]] NodeOptions wrap(NodeOptions options);
  [[nodiscard]] GroupOptions wrap(GroupOptions options);
  void wrap(ViewCallback& watcher);

  /// Name of the callback of this node that runs on the calling thread, the innermost; null if
  /// none does.
  [[nodiscard]] const std::string* running_here() const;

  /// What the delivery callback of that group is called.
  [[nodiscard]] static std::string delivery_name(const std::string& group);
  /// The callback of that name runs on the calling thread.
  [[nodiscard]] bool is_running_here(std::string_view name) const { return Mark::has(*this, name); }

  /// Calls a handler that the application gave with one call of its own: as A1 and A2 say, also
  /// after mute(), for whoever gave it counts on it.
  void call(const std::string& name, const std::function<void()>& handler) const;

  /// For a start: before it, nothing comes of what the wrapped log callback is called with.
  [[nodiscard]] Result<void> start_log();

  void mute() { muted_.store(true); }
  void drop();

 private:
  // One callback of the application's.
  template <class Function>
  struct Entry {
    Callbacks& of;
    const std::string name;
    Function call;
  };
  template <class Function>
  struct Reader;
  enum class Throwing : std::uint8_t { fails_the_node, is_handled_above };

  template <Throwing throwing, class Function>
  void wrap(Function& callback, std::string name);
  template <class Function>
  [[nodiscard]] static Result<ReadSnapshot> wrap_reader(
      const std::shared_ptr<Entry<Function>>& entry, Result<ReadSnapshot> taken);
  [[nodiscard]] LogCallback wrap_log(LogCallback log);
  void report(const std::string& name, const std::string& what) const;

  const std::string node_;
  const Failed failed_;
  std::atomic<bool> muted_{false};
  struct Drop {
    std::weak_ptr<void> entry;
    std::function<void(void*)> drop;
  };
  std::mutex drops_mutex_;
  std::vector<Drop> drops_;
  std::shared_ptr<LogThread> log_;  // null: the application wants no log
};

}  // namespace tutti
