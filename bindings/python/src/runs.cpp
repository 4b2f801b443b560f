// Runs: what of a batch can be one array without a copy.
//
// A ring buffer has each message behind a header of 8 bytes, in units of the group's alignment. So
// messages of one size that follow each other in it lie at equal distances: two-dimensional for
// numpy, with a stride. Where the size changes, the ring begins anew, or a tick or an abandoned
// claim lies between, a run ends. Ticks are in no run.
#include <algorithm>
#include <iterator>

#include "batch.hpp"

namespace tutti::python {
namespace {

struct Open {
  const std::byte* next = nullptr;  // where a message must lie that goes on with the run
  std::size_t run = 0;
};

struct Found {
  std::uint32_t sender;
  std::uint32_t size;
  const std::byte* data;
  Py_ssize_t stride;
  std::vector<std::uint32_t> positions;
};

std::vector<Found> find(std::span<const Message> messages, std::uint64_t alignment) {
  constexpr std::uint64_t kHeader = 8;
  std::vector<Found> runs;
  std::vector<Open> open;  // by sender
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    if (message.tick()) continue;
    if (message.sender.value >= open.size()) open.resize(message.sender.value + 1);
    Open& last = open[message.sender.value];
    const std::uint64_t stride = (kHeader + message.size + alignment - 1) / alignment * alignment;
    if (last.next != message.data || runs[last.run].size != message.size) {
      last.run = runs.size();
      runs.push_back(
          {message.sender.value, message.size, message.data, static_cast<Py_ssize_t>(stride), {}});
    }
    runs[last.run].positions.push_back(static_cast<std::uint32_t>(i));
    last.next = message.data + stride;
  }
  return runs;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  auto* const made = initialised<PyRun>(self);
  if (made == nullptr) return -1;
  PyRun& run = *made;
  return lend(view, *run.batch, [&] {
    static_cast<void>(run.batch->messages());
    if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
      throw nb::buffer_error("messages are read-only: they lie in the ring buffer of their sender");
    }
    const bool strided = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
    const bool contiguous = run.shape[0] == 1 || run.strides[0] == run.shape[1];
    if ((!strided || (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS ||
         (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS ||
         (flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS) &&
        !contiguous) {
      throw nb::buffer_error("the messages of a run lie at a distance: use numpy.asarray(run)");
    }
    *view = {};
    view->obj = Py_NewRef(self);
    view->buf = run.data;
    view->len = run.shape[0] * run.shape[1];
    view->itemsize = 1;
    view->readonly = 1;
    view->ndim = 2;
    if ((flags & PyBUF_FORMAT) != 0) view->format = const_cast<char*>("B");
    view->shape = run.shape;
    view->strides = strided ? run.strides : nullptr;
  });
}

void release_buffer(PyObject* self, Py_buffer*) { nb::inst_ptr<PyRun>(self)->batch->view_gone(); }

const PyType_Slot kSlots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_buffer)},
    {0, nullptr},
};

}  // namespace

nb::list runs_of(nb::handle self) {
  auto* const batch = initialised<PyBatch>(self);
  if (batch == nullptr) throw nb::python_error();
  nb::list all;
  for (Found& found : find(batch->messages(), batch->alignment())) {
    const auto count = static_cast<Py_ssize_t>(found.positions.size());
    all.append(nb::cast(new PyRun{nb::borrow(self),
                                  batch,
                                  found.sender,
                                  const_cast<std::byte*>(found.data),
                                  {count, static_cast<Py_ssize_t>(found.size)},
                                  {found.stride, 1},
                                  std::move(found.positions)},
                        nb::rv_policy::take_ownership));
  }
  return all;
}

void bind_runs(nb::module_& module) {
  nb::class_<PyRun>(module, "Run", nb::type_slots(kSlots),
                    "Messages of one sender and one size, as a read-only array in place: \n"
                    "numpy.asarray(run) has a row for each message.")
      .def("__len__", [](const PyRun& run) { return run.shape[0]; })
      .def_prop_ro(
          "sender", [](const PyRun& run) { return run.sender; },
          "Index of the sender in Group.members.")
      .def_prop_ro(
          "size", [](const PyRun& run) { return run.shape[1]; }, "Bytes of each message.")
      .def_prop_ro(
          "positions", [](const PyRun& run) { return column<std::uint32_t>("I", run.positions); },
          nb::sig("def positions(self) -> memoryview"),
          "Where its messages are in the batch: a memoryview of numbers, a copy.");
}

}  // namespace tutti::python
