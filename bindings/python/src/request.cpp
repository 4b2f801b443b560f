// Requests to one other member, and what becomes of them. The library leaves an outcome here on its
// thread for handlers, which does not take the GIL; Python fetches it.
#include "request.hpp"

#include <nanobind/stl/string.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "flag.hpp"
#include "function.hpp"
#include "node.hpp"

namespace tutti::python {
namespace {

using Clock = std::chrono::steady_clock;

// How often a call that waits looks for space in the lane to a member.
constexpr nanoseconds kSpaceSlice = std::chrono::milliseconds(1);

/// Threads: answer() one of the library, the rest one of Python's.
class Outcome {
 public:
  [[nodiscard]] Result<void> open() { return answered_.open(); }
  [[nodiscard]] int descriptor() const { return answered_.descriptor(); }

  void answer(Result<Reply> reply) {
    const std::lock_guard lock(mutex_);
    reply_.emplace(std::move(reply));
    if (answered_.descriptor() >= 0) answered_.raise();
    changed_.notify_one();
  }
  /// Once. Empty: there is none yet. Waits for it so long, without the GIL.
  [[nodiscard]] std::optional<Result<Reply>> fetch(nanoseconds timeout) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [&] { return reply_.has_value(); });
    return std::exchange(reply_, std::nullopt);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Result<Reply>> reply_;
  Flag answered_;
};

std::vector<std::byte> copy_of(nb::handle data) {
  const Bytes bytes(data);
  return {bytes.get().begin(), bytes.get().end()};
}

nb::bytes bytes_from(const Reply& reply) {
  return nb::bytes(reply.bytes().data(), reply.bytes().size());
}

Result<void> send(Node& node, const std::string& member, const std::vector<std::byte>& data,
                  nanoseconds timeout, const std::shared_ptr<Outcome>& outcome) {
  return node.send_to(member, data, timeout,
                      [outcome](Result<Reply> reply) { outcome->answer(std::move(reply)); });
}

nb::bytes send_to(const PyNode& of, const std::string& member, nb::handle data,
                  nb::handle timeout) {
  const nanoseconds at_most = std::max(duration_from(timeout, "timeout"), nanoseconds(0));
  const std::vector<std::byte> copy = copy_of(data);
  const std::shared_ptr<Running> with = of.running();
  or_raise(with->node.may_wait("Node.send_to"));
  const auto outcome = std::make_shared<Outcome>();
  const Clock::time_point start = Clock::now();
  bool sent = false;
  for (;;) {
    std::optional<Result<Reply>> got;
    const nanoseconds left = at_most == kForever ? kForever : at_most - (Clock::now() - start);
    {
      const Released released;
      if (!sent) {
        Result<void> asked = send(with->node, member, copy, left, outcome);
        sent = asked.has_value();
        const bool waits =
            !sent && asked.error().code == ErrorCode::no_space && left > nanoseconds(0);
        if (!sent && !waits) got = std::unexpected(std::move(asked.error()));
      }
      const nanoseconds rest = sent ? kSlice : std::min(left, kSpaceSlice);
      if (!got && with->driven_by_caller) {
        static_cast<void>(with->node.poll());
        got = outcome->fetch(nanoseconds(0));
        if (!got) with->node.wait(std::min(rest, kSpaceSlice));
      } else if (!got) {
        got = outcome->fetch(rest);
      }
    }
    if (got && !*got && got->error().code == ErrorCode::no_space) {
      raise({ErrorCode::timed_out, "before the time-out there was " + got->error().message});
    }
    if (got) return bytes_from(or_raise(std::move(*got)));
    check_signals();
  }
}

/// A request that an event loop waits for.
class PyAsking {
 public:
  PyAsking(const PyNode& of, const std::string& member, nb::handle data, nb::handle timeout) {
    or_raise(outcome_->open());
    const nanoseconds at_most = duration_from(timeout, "timeout");
    const std::vector<std::byte> copy = copy_of(data);
    or_raise(send(of.running()->node, member, copy, at_most, outcome_));
  }
  [[nodiscard]] int descriptor() const { return outcome_->descriptor(); }
  nb::object fetch() {
    std::optional<Result<Reply>> got = outcome_->fetch(nanoseconds(0));
    if (!got) return nb::none();
    return bytes_from(or_raise(std::move(*got)));
  }

 private:
  std::shared_ptr<Outcome> outcome_ = std::make_shared<Outcome>();
};

}  // namespace

RequestHandler answered_by(const nb::object& answer) {
  auto function = std::make_shared<Function>(answer);
  return [function](const Request& request) -> Result<std::vector<std::byte>> {
    std::vector<std::byte> reply;
    Result<void> called = function->call("on_request", [&](const nb::object& call) -> Result<void> {
      reply = copy_of(
          call(text_from(request.from), nb::bytes(request.bytes.data(), request.bytes.size())));
      return {};
    });
    if (!called) return std::unexpected(std::move(called.error()));
    return reply;
  };
}

void bind_request(nb::module_& module) {
  module.def(
      "send_to", &send_to, nb::arg("node"), nb::arg("member"), nb::arg("data"),
      nb::arg("timeout").none(),
      nb::sig("def send_to(node: Node, member: str, data: _typeshed.ReadableBuffer, timeout: "
              "float | datetime.timedelta | None) -> bytes"));
  nb::class_<PyAsking>(module, "Asking", "A request whose outcome is waited for.")
      .def(nb::init<const PyNode&, const std::string&, nb::handle, nb::handle>(), nb::arg("node"),
           nb::arg("member"), nb::arg("data"), nb::arg("timeout").none(),
           nb::sig("def __init__(self, node: Node, member: str, data: _typeshed.ReadableBuffer, "
                   "timeout: float | datetime.timedelta | None) -> None"))
      .def("fileno", &PyAsking::descriptor, "Readable once there is an outcome. Do not close it.")
      .def("fetch", &PyAsking::fetch, nb::sig("def fetch(self) -> bytes | None"),
           "The reply; None: not yet. Raises why there will be none.");
}

}  // namespace tutti::python
