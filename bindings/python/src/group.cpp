#include "group.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "options.hpp"
#include "records.hpp"

namespace tutti::python {
namespace {

constexpr std::size_t kTakeMax = kDeliveryBatchMax;

std::shared_ptr<GroupState> joined(PyNode& node, const nb::dict& options, nb::handle timeout,
                                   std::unique_ptr<Handover>& handover) {
  const nanoseconds at_most = duration_from(timeout, "timeout");
  GroupOptions of = group_options(options);
  const std::uint32_t alignment = of.alignment;
  const std::shared_ptr<Running> with = node.running();
  const bool at_run_time = !timeout.is_none() || with->node.started().has_value();
  Group group = at_run_time ? join_while_running(with, std::move(of), at_most)
                            : or_raise(with->node.join(std::move(of)));
  if (at_run_time) handover = std::make_unique<Handover>(with, group);
  return std::make_shared<GroupState>(std::move(group), alignment);
}

void leave(const PyGroup& of, nb::handle timeout) {
  Group group = of.group();
  or_raise(in_slices(duration_from(timeout, "timeout"),
                     [&](nanoseconds slice) { return group.leave(slice); }));
}

void wait_for(const PyGroup& of, std::uint64_t ticket, nb::handle timeout) {
  Group group = of.group();
  or_raise(in_slices(duration_from(timeout, "timeout"),
                     [&](nanoseconds slice) { return group.wait(Ticket{ticket}, slice); }));
}

void wait_complete(const PyGroup& of, nb::handle timeout) {
  Group group = of.group();
  or_raise(in_slices(duration_from(timeout, "timeout"),
                     [&](nanoseconds slice) { return group.wait_complete(slice); }));
}

void barrier(const PyGroup& of, nb::handle timeout) {
  const nanoseconds at_most = duration_from(timeout, "timeout");
  Group group = of.group();
  or_raise(group.may_wait("Group.barrier"));  // asked on this thread
  or_raise(interruptible_alone([group, at_most]() mutable { return group.barrier(at_most); }));
}

nb::list lags(const PyGroup& of) {
  nb::list all;
  for (const MemberLag& lag : of.group().lags()) all.append(record_of(lag));
  return all;
}

}  // namespace

PyGroup::PyGroup(PyNode& node, const nb::dict& options, nb::handle timeout)
    : state_(joined(node, options, timeout, handover_)) {}

PyGroup::~PyGroup() {
  if (handover_ != nullptr && !state_->here.is_here()) static_cast<void>(handover_.release());
  drop(state_);
}

Group& PyGroup::group() const {
  state_->here.must_be_here("group");
  return state_->group;
}

void drop(std::shared_ptr<GroupState>& state) {
  if (state != nullptr && !state->here.is_here()) {
    static_cast<void>(new std::shared_ptr<GroupState>(std::move(state)));
  }
  state.reset();
}

Service service_from(const Group& group, nb::handle word) {
  if (word.is_none()) return Service::of_level;
  const Service service = from_word<Service>(word, "service");
  or_raise(group.may_ask_for(service));
  return service;
}

void bind_group(nb::module_& module) {
  nb::class_<PyGroup> group(module, "Group", "One group of a node.");
  group
      .def(nb::init<PyNode&, nb::dict, nb::handle>(), nb::arg("node"), nb::arg("options"),
           nb::arg("timeout").none(),
           nb::sig("def __init__(self, node: Node, options: dict[str, object], timeout: float | "
                   "datetime.timedelta | None) -> None"))
      .def("take", &take, nb::arg("max") = kTakeMax, nb::arg("timeout").none() = nb::none(),
           nb::sig("def take(self, max: int = 256, timeout: float | datetime.timedelta | None = "
                   "None) -> Batch"),
           "Takes the next messages in the group's order, at most `max`; none more once they have "
           "64 KiB.\n\n"
           "Waits until there are some, at most `timeout` seconds (None: for ever); with 0 it "
           "never\n"
           "waits, and the batch may be empty. Release a batch before the next take. Raises "
           "TimedOut,\n"
           "Complete once all senders have finished and everything was taken, or why the node "
           "ended.")
      .def("claim", &claim, nb::arg("size"), nb::arg("timeout").none() = nb::none(),
           nb::arg("service").none() = nb::none(),
           nb::sig("def claim(self, size: int, timeout: float | datetime.timedelta | None = None, "
                   "service: str | None = None) -> Claim"),
           "Space for a message of `size` bytes, to be filled in place; waits while there is none.")
      .def("wait", &wait_for, nb::arg("ticket"), nb::arg("timeout").none() = nb::none(),
           nb::sig("def wait(self, ticket: int, timeout: float | datetime.timedelta | None = None) "
                   "-> None"),
           "Waits until this member has delivered its message with that ticket: taken it, and\n"
           "released the batch.")
      .def("barrier", &barrier, nb::arg("timeout").none() = nb::none(),
           nb::sig("def barrier(self, timeout: float | datetime.timedelta | None = None) -> None"),
           "Waits until this member has delivered all that any member of the view had delivered "
           "when\n"
           "this was called: what is read here then is not stale. For senders of a group at "
           "Level.atomic;\n"
           "another thread must take meanwhile.")
      .def(
          "is_delivered",
          [](const PyGroup& of, std::uint64_t ticket) {
            return of.group().delivered(Ticket{ticket});
          },
          nb::arg("ticket"), "Whether that is so now. Never waits.")
      .def(
          "view_of",
          [](const PyGroup& of, std::uint64_t ticket) {
            return of.group().view_of(Ticket{ticket});
          },
          nb::arg("ticket"), "The view in which this member delivered the message, or None.")
      .def(
          "finish", [](const PyGroup& of) { of.group().finish(); },
          "This member sends no more; the others go on without waiting for it.")
      .def("_keep", &PyGroup::keep, nb::sig("def _keep(self) -> None"))
      .def("leave", &leave, nb::arg("timeout").none() = nb::none(),
           nb::sig("def leave(self, timeout: float | datetime.timedelta | None = None) -> None"),
           "Leaves a group that was joined while the node runs; the others go on.\n\n"
           "This member sends no more. Waits until every member has delivered all that this one "
           "sent,\n"
           "then until a view is without it: another thread must take meanwhile, and claims must "
           "end.\n"
           "After TimedOut, or a Ctrl-C, the group is left as soon as that may be; call again to "
           "wait.\n"
           "From then on calls that send, take or wait raise Stopped.")
      .def(
          "complete", [](const PyGroup& of) { return of.group().complete(); },
          "Whether all senders have finished and every member has delivered everything.")
      .def(
          "wait_complete", &wait_complete, nb::arg("timeout").none() = nb::none(),
          nb::sig(
              "def wait_complete(self, timeout: float | datetime.timedelta | None = None) -> None"),
          "Waits for that. Another thread must take what comes meanwhile.")
      .def(
          "fileno", [](const PyGroup& of) { return or_raise(of.group().event_fd()); },
          "A descriptor that is readable while there may be something to take. Do not close it.")
      .def(
          "name_of",
          [](const PyGroup& of, std::uint32_t member) {
            return std::string(of.group().name_of(MemberIndex{member}));
          },
          nb::arg("member"), "The name of the member with that index, such as Message.sender.")
      .def("lag_records", &lags, nb::sig("def lag_records(self) -> list[dict[str, typing.Any]]"))
      .def(
          "counters", [](const PyGroup& of) { return record_of(of.group().statistics()); },
          nb::sig("def counters(self) -> dict[str, typing.Any]"))
      .def_prop_ro(
          "name", [](const PyGroup& of) { return of.group().name(); }, "The name of the group.")
      .def_prop_ro(
          "members", [](const PyGroup& of) { return of.group().members().all(); },
          nb::sig("def members(self) -> list[str]"), "The names of its members, by their index.")
      .def_prop_ro(
          "own_index", [](const PyGroup& of) { return of.group().own_index().value; },
          "The index of this member; the number of members if it is none.")
      .def_prop_rw(
          "on_release", [](const PyGroup& of) { return of.state()->on_release; },
          [](PyGroup& of, nb::object call) { of.state()->on_release = std::move(call); },
          nb::for_setter(nb::arg("call").none()));
  bind_sending(group);
}

}  // namespace tutti::python
