#include "ending.hpp"

#include <unistd.h>

#include <atomic>
#include <thread>
#include <utility>

namespace tutti::python {
namespace {

std::atomic<int> counted{0};     // IE1
std::atomic<int> ends_nodes{0};  // IE3
std::atomic<bool> ending{false};
std::atomic<std::thread::id> ends_it{};
// How often this thread has asked and has not come, and whether it is counted for that.
thread_local int depth = 0;
thread_local bool counted_here = false;

void count(int difference) {
  counted.fetch_add(difference, std::memory_order_seq_cst);
  if (difference < 0) counted.notify_all();
}

/// False if the interpreter ends: then this thread must not ask for the GIL.
bool may_come() {
  if (depth == 0 && ends_it.load() != std::this_thread::get_id()) {
    count(1);  // before `ending` is read: IE2
    if (ending.load(std::memory_order_seq_cst)) {
      count(-1);
      return false;
    }
    counted_here = true;
  }
  ++depth;
  return true;
}

void has_come() {
  if (--depth == 0 && std::exchange(counted_here, false)) count(-1);
}

[[noreturn]] void stay() {
  for (;;) ::pause();
}

}  // namespace

thread_local bool Released::here_ = false;

Released::~Released() {
  if (!may_come()) stay();
  PyEval_RestoreThread(state_);
  here_ = false;
  has_come();
}

InPython::InPython() {
  if (may_come()) return;
  PyEval_SaveThread();
  stay();
}

InPython::~InPython() { has_come(); }

Acquired::Acquired() : here_(nanobind::is_alive() && may_come()) {
  if (here_) state_ = PyGILState_Ensure();
}

Acquired::~Acquired() {
  if (!here_) return;
  PyGILState_Release(state_);
  has_come();
}

EndsNode::EndsNode() { ends_nodes.fetch_add(1); }

EndsNode::~EndsNode() {
  ends_nodes.fetch_sub(1);
  ends_nodes.notify_all();
}

void end_interpreter(bool threads_stay) {
  if (threads_stay) nanobind::set_leak_warnings(false);
  {
    const Released released;
    for (int some = ends_nodes.load(); some > 0; some = ends_nodes.load()) ends_nodes.wait(some);
  }
  ends_it.store(std::this_thread::get_id());
  ending.store(true, std::memory_order_seq_cst);
  const Released released;
  const int own = counted_here ? 1 : 0;
  for (int others = counted.load(); others > own; others = counted.load()) counted.wait(others);
}

void forget_other_threads() {
  counted.store(counted_here ? 1 : 0, std::memory_order_relaxed);
  ends_nodes.store(0, std::memory_order_relaxed);
}

}  // namespace tutti::python
