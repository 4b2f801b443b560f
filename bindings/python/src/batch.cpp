#include "batch.hpp"

#include <cstring>
#include <string>

namespace tutti::python {
namespace {

nb::object taken_object(const PyGroup& of, Batch batch) {
  return nb::cast(new PyBatch(of.state(), std::move(batch)), nb::rv_policy::take_ownership);
}

PyMessage message_at(nb::handle self, Py_ssize_t at) {
  auto* const batch = initialised<PyBatch>(self);
  if (batch == nullptr) throw nb::python_error();
  const auto size = static_cast<Py_ssize_t>(batch->messages().size());
  if (at < 0) at += size;
  if (at < 0 || at >= size) throw nb::index_error("the batch has no message of that index");
  return {nb::borrow(self), batch, static_cast<std::uint32_t>(at)};
}

template <class Number, class Get>
nb::object column_of(const PyBatch& batch, const char* format, Get&& get) {
  std::vector<Number> numbers;
  numbers.reserve(batch.size());
  for (const Message& message : batch.messages()) numbers.push_back(get(message));
  return column<Number>(format, numbers);
}

nb::bytes all_bytes(const PyBatch& batch) {
  std::size_t total = 0;
  for (const Message& message : batch.messages()) total += message.size;
  nb::object all = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(total)));
  if (!all.is_valid()) throw nb::python_error();
  char* to = PyBytes_AsString(all.ptr());
  for (const Message& message : batch.messages()) {
    std::memcpy(to, message.data, message.size);
    to += message.size;
  }
  return nb::steal<nb::bytes>(all.release());
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  const auto* const message = initialised<PyMessage>(self);
  if (message == nullptr) return -1;
  return lend(view, *message->batch, [&] {
    const Message& shown = message->get();
    if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
      throw nb::buffer_error("messages are read-only: they lie in the ring buffer of their sender");
    }
    show_bytes(*view, self, const_cast<std::byte*>(shown.data), static_cast<Py_ssize_t>(shown.size),
               true, flags);
  });
}

void release_buffer(PyObject* self, Py_buffer*) {
  nb::inst_ptr<PyMessage>(self)->batch->view_gone();
}

const PyType_Slot kMessageSlots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_buffer)},
    {0, nullptr},
};

void bind_messages(nb::module_& module) {
  nb::class_<PyMessage>(module, "Message", nb::type_slots(kMessageSlots),
                        "A message of a batch: read-only bytes by the buffer protocol, in place.")
      .def_prop_ro(
          "seq", [](const PyMessage& m) { return m.get().seq.value; },
          "Its number in the group's sequence.")
      .def_prop_ro(
          "sender", [](const PyMessage& m) { return m.get().sender.value; },
          "Index of its sender in Group.members.")
      .def_prop_ro(
          "ticket", [](const PyMessage& m) { return m.get().tick() ? 0 : m.get().ticket.value; },
          "What send or commit returned, of this member's own messages; 0 of others'.")
      .def_prop_ro(
          "tick",
          [](const PyMessage& m) -> nb::object {
            const auto tick = m.get().tick();
            return tick ? nb::cast(tick->time_ns) : nb::none();
          },
          nb::sig("def tick(self) -> int | None"),
          "Of a tick of the group's clock (the option tick_every): nanoseconds since the Unix\n"
          "epoch. None of a message.")
      .def_prop_ro(
          "view", [](const PyMessage& m) { return m.get().view; },
          "The view in which it is delivered.")
      .def_prop_ro(
          "data", [](nb::handle self) { return nb::steal(PyMemoryView_FromObject(self.ptr())); },
          nb::sig("def data(self) -> memoryview"), "A read-only memoryview of its bytes.")
      .def("__len__", [](const PyMessage& m) { return m.get().size; })
      .def("__bytes__", [](const PyMessage& m) {
        const Message& shown = m.get();
        return nb::bytes(shown.data, shown.size);
      });
}

}  // namespace

PyBatch::~PyBatch() {
  if (!of_->here.is_here()) {
    static_cast<void>(new Batch(std::move(batch_)));
    static_cast<void>(new std::shared_ptr<GroupState>(std::move(of_)));
    return;
  }
  give_back();
}

std::span<const Message> PyBatch::messages() const {
  of_->here.must_be_here("batch");
  if (released_ || views_.ended()) {
    throw nb::value_error("this batch was released: its messages are no longer here");
  }
  return batch_.messages();
}

bool PyBatch::intact() const {
  static_cast<void>(messages());
  return batch_.intact();
}

void PyBatch::release() {
  of_->here.must_be_here("batch");
  if (!views_.any()) {
    give_back();
    return;
  }
  views_.end();
  throw nb::buffer_error(
      "views of this batch are still in use: it is released when the last of them is gone. Copy "
      "what is needed for longer");
}

// The exception of a body says more than that its arrays are still there.
void PyBatch::exit(bool well) {
  if (well || !views_.any()) return release();
  of_->here.must_be_here("batch");
  views_.end();
}

void PyBatch::view_gone() {
  if (views_.remove() && of_->here.is_here()) give_back();
}

void PyBatch::give_back() {
  if (std::exchange(released_, true)) return;
  const bool lent = !batch_.empty();
  batch_.release();
  if (!lent || of_->on_release.is_none()) return;
  // It runs inside of a destructor, or of a slot: what it raises is reported.
  const InPython inside;
  const nb::object call = of_->on_release;
  const nb::error_scope around;
  if (PyObject* const done = PyObject_CallNoArgs(call.ptr())) {
    Py_DECREF(done);
  } else {
    PyErr_WriteUnraisable(call.ptr());
  }
}

nb::object take(const PyGroup& of, std::size_t max, nb::handle timeout) {
  Group& group = of.group();
  const nanoseconds at_most = duration_from(timeout, "timeout");
  Batch batch = or_raise(group.take(max));
  if (batch.empty() && at_most > nanoseconds(0)) {
    batch = or_raise(in_slices(at_most, [&](nanoseconds slice) { return group.take(max, slice); }));
  }
  return taken_object(of, std::move(batch));
}

void bind_batch(nb::module_& module) {
  nb::class_<PyBatch>(
      module, "Batch",
      "Messages that were taken, in the group's order and in place: a loan.\n\n"
      "Use it in a with statement, or call release(): its messages count as delivered then, and\n"
      "their space may be used again. It is a sequence of Message.")
      .def("__len__", &PyBatch::size)
      .def("__getitem__", &message_at, nb::arg("index"))
      .def(
          "__iter__", [](nb::handle self) { return nb::steal(PySeqIter_New(self.ptr())); },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[Message]"))
      .def_prop_ro(
          "sizes",
          [](const PyBatch& batch) {
            return column_of<std::uint32_t>(batch, "I", [](const Message& m) { return m.size; });
          },
          nb::sig("def sizes(self) -> memoryview"),
          "The sizes of all messages, in bytes: a memoryview of numbers, a copy.")
      .def_prop_ro(
          "senders",
          [](const PyBatch& batch) {
            return column_of<std::uint32_t>(batch, "I",
                                            [](const Message& m) { return m.sender.value; });
          },
          nb::sig("def senders(self) -> memoryview"),
          "The senders of all messages, as indexes in Group.members: likewise a copy.")
      .def_prop_ro(
          "seqs",
          [](const PyBatch& batch) {
            return column_of<std::uint64_t>(batch, "Q",
                                            [](const Message& m) { return m.seq.value; });
          },
          nb::sig("def seqs(self) -> memoryview"),
          "The numbers of all messages in the group's sequence: likewise a copy.")
      .def_prop_ro("view", &PyBatch::view, "The view in which its messages are delivered.")
      .def(
          "runs", &runs_of, nb::sig("def runs(self) -> list[Run]"),
          "The messages as arrays in place: a list of Run, each of messages of one sender and one\n"
          "size. Each message is in one run.")
      .def("tobytes", &all_bytes, "The bytes of all messages one behind the other: a copy.")
      .def("intact", &PyBatch::intact,
           "Whether the bytes that were read so far are those that were sent.")
      .def("release", &PyBatch::release,
           "Ends the loan. Raises BufferError if arrays or memoryviews still look at messages;\n"
           "then the loan ends with the last of them.")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __enter__(self) -> Batch"))
      .def(
          "__exit__",
          [](PyBatch& batch, nb::handle type, nb::handle, nb::handle) {
            batch.exit(type.is_none());
          },
          nb::arg("type").none(), nb::arg("value").none(), nb::arg("traceback").none());
  bind_messages(module);
  bind_runs(module);
}

}  // namespace tutti::python
