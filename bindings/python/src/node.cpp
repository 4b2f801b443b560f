#include "node.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "log.hpp"
#include "options.hpp"
#include "records.hpp"

namespace tutti::python {
namespace {

constexpr const char* kNode = "node";

// Where nobody may call anything of the library, what is left of a node stays in memory.
void forget(std::shared_ptr<Running> running) {
  static_cast<void>(new std::shared_ptr<Running>(std::move(running)));
}

}  // namespace

PyNode::PyNode(const nb::dict& options) {
  if (forks_with_nodes() > 0) {
    raise({ErrorCode::stopped,
           "this process is the child of a fork, and its parent had nodes then: it may use nothing "
           "of Tutti. Fork before the first node, or start the child with 'spawn'"});
  }
  NodeOptions from = node_options(options);
  or_raise(told_->open());
  from.on_view = [told = told_](const ViewChange& view) { told->put(view); };
  from.log = [told = told_, name = from.name](LogLevel level, std::string_view text) {
    put_line(name, level, text);
    if (level == LogLevel::error) told->end();  // the node has failed
  };
  name_ = from.name;
  const bool driven = from.drive == Drive::caller;
  running_ = Running::of(or_raise(Node::create(std::move(from))), driven);
}

PyNode::~PyNode() {
  if (running_ == nullptr) return;
  if (!here.is_here()) {
    forget(std::move(running_));
    return;
  }
  close();
}

std::shared_ptr<Running> PyNode::running() const {
  here.must_be_here(kNode);
  if (running_ == nullptr) {
    raise({ErrorCode::stopped, "node '" + name_ + "' was closed before"});
  }
  return running_;
}

void PyNode::reserve(std::size_t count, const nb::dict& options) {
  const std::shared_ptr<Running> with = running();
  or_raise(with->node.reserve(group_options(options), count));
}

void PyNode::start() {
  std::shared_ptr<Running> with = running();
  if (starts_) {
    raise({ErrorCode::invalid_argument,
           "another thread is in Node.start() of node '" + name_ + "': start it once"});
  }
  starts_ = begun_ = true;
  struct Starts {
    bool& starts;
    ~Starts() { starts = false; }
  };
  const Starts starts{starts_};
  or_raise(interruptible([with] { return with->node.start(); },
                         [with] { static_cast<void>(with->node.stop(nanoseconds(0))); },
                         with->closing));
}

void PyNode::stop(nb::handle timeout) { end("Node.stop", timeout, &Node::stop); }
void PyNode::leave(nb::handle timeout) { end("Node.leave", timeout, &Node::leave); }

void PyNode::end(std::string_view name, nb::handle timeout,
                 Result<void> (Node::*call)(nanoseconds)) {
  const nanoseconds at_most = duration_from(timeout, "timeout");
  std::shared_ptr<Running> with = running();
  // Asked here: the call is made on another thread, which is in no callback.
  or_raise(with->node.may_wait(name));
  struct Ends {  // also when a signal ends it; but a node that has not begun may start yet
    Told& told;
    const bool& begun;  // perhaps by another thread, meanwhile
    ~Ends() {
      if (begun) told.end();
    }
  };
  const Ends ends{*told_, begun_};
  or_raise(interruptible([with, call, at_most] { return (with->node.*call)(at_most); },
                         [with] { static_cast<void>(with->node.stop(nanoseconds(0))); },
                         with->closing));
}

void PyNode::close() {
  here.must_be_here(kNode);
  std::shared_ptr<Running> last = std::move(running_);
  running_ = nullptr;
  if (last == nullptr) return;
  told_->end();
  last->closing.store(true, std::memory_order_relaxed);
  const Released released;
  if (last.use_count() > 1) static_cast<void>(last->node.stop(nanoseconds(0)));
  last.reset();
}

std::size_t PyNode::poll() {
  const std::shared_ptr<Running> with = running();
  const Released released;
  return with->node.poll();
}

void PyNode::wait(nb::handle timeout) {
  const nanoseconds at_most = duration_from(timeout, "timeout");
  const std::shared_ptr<Running> with = running();
  {
    const Released released;
    with->node.wait(std::min(at_most, kSlice));
  }
  check_signals();
}

std::optional<ViewChange> PyNode::next_view(nb::handle timeout) {
  here.must_be_here(kNode);
  return or_raise(in_slices(duration_from(timeout, "timeout"),
                            [&](nanoseconds slice) { return told_->next(slice); }));
}

void bind_node(nb::module_& module) {
  nb::class_<PyNode>(module, "Node", "One member of a cluster.")
      .def(nb::init<nb::dict>(), nb::arg("options"),
           nb::sig("def __init__(self, options: dict[str, object]) -> None"))
      .def("reserve_places", &PyNode::reserve, nb::arg("count"), nb::arg("options"),
           nb::sig("def reserve_places(self, count: int, options: dict[str, object]) -> None"))
      .def("start", &PyNode::start)
      .def("stop", &PyNode::stop, nb::arg("timeout").none(),
           nb::sig("def stop(self, timeout: float | datetime.timedelta | None) -> None"))
      .def("leave", &PyNode::leave, nb::arg("timeout").none(),
           nb::sig("def leave(self, timeout: float | datetime.timedelta | None) -> None"))
      .def("close", &PyNode::close)
      .def("poll", &PyNode::poll)
      .def("wait", &PyNode::wait, nb::arg("timeout").none(),
           nb::sig("def wait(self, timeout: float | datetime.timedelta | None) -> None"))
      .def(
          "next_view_record",
          [](PyNode& node, nb::handle timeout) -> nb::object {
            const std::optional<ViewChange> view = node.next_view(timeout);
            return view ? nb::object(record_of(*view)) : nb::none();
          },
          nb::arg("timeout").none(),
          nb::sig("def next_view_record(self, timeout: float | datetime.timedelta | None) -> "
                  "dict[str, typing.Any] | None"))
      .def(
          "current_view", [](const PyNode& node) { return record_of(node.running()->node.view()); },
          nb::sig("def current_view(self) -> dict[str, typing.Any]"))
      .def(
          "failure_of",
          [](const PyNode& node) -> nb::object {
            const std::optional<Error> failure = node.running()->node.failure();
            if (!failure) return nb::none();
            return nb::make_tuple(static_cast<int>(failure->code), text_from(failure->message));
          },
          nb::sig("def failure_of(self) -> tuple[int, str] | None"))
      .def(
          "counters",
          [](const PyNode& node) { return record_of(node.running()->node.statistics()); },
          nb::sig("def counters(self) -> dict[str, typing.Any]"))
      .def_prop_ro("views_descriptor",
                   [](const PyNode& node) { return node.told().views_descriptor(); })
      .def_prop_ro("ended_descriptor",
                   [](const PyNode& node) { return node.told().ended_descriptor(); })
      .def_prop_ro("closed", &PyNode::is_closed)
      .def_prop_ro("name", &PyNode::name);
}

}  // namespace tutti::python
