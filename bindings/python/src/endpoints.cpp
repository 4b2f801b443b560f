// Readers and writers of topics. Receiving is by taking, as with groups. A sample that was taken is
// lent in place: what keeps it lives as long as it is looked at, and holds up nobody.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <string>
#include <string_view>
#include <vector>

#include "buffer.hpp"
#include "topics.hpp"
#include "tutti/dds/json.hpp"
#include "tutti/dds/reader.hpp"
#include "tutti/dds/writer.hpp"

namespace tutti::python {
namespace {

struct PySample {
  std::shared_ptr<const dds::LoanedBytes> loan;
  std::size_t index;
  [[nodiscard]] const dds::LoanedBytes::Sample& get() const { return (*loan)[index]; }
};

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
    PyErr_SetString(PyExc_BufferError, "samples are read-only: all readers of a topic share them");
    return -1;
  }
  const PySample* const of = initialised<PySample>(self);
  if (of == nullptr) return -1;
  const dds::LoanedBytes::Sample& sample = of->get();
  show_bytes(*view, self, const_cast<std::byte*>(sample.data), static_cast<Py_ssize_t>(sample.size),
             true, flags);
  return 0;
}

const PyType_Slot kSampleSlots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
    {0, nullptr},
};

class PyReader {
 public:
  PyReader(const PyTopic& topic, dds::From from)
      : domain_(topic.domain), reader_(made(topic, from), "reader") {}

  [[nodiscard]] nb::list take(std::size_t max, nb::handle timeout) {
    const nanoseconds at_most = std::max(duration_from(timeout, "timeout"), nanoseconds(0));
    const std::shared_ptr<dds::UntypedReader>& reader = reader_.get();
    if (max == 0) return {};
    const auto attempt = [&](nanoseconds slice) -> Result<dds::LoanedBytes> {
      Result<dds::LoanedBytes> taken = reader->take(max);
      if (!taken || !taken->empty() || slice <= nanoseconds(0)) return taken;
      if (Result<void> waited = reader->wait(slice); !waited) {
        return std::unexpected(std::move(waited.error()));
      }
      return reader->take(max);
    };
    const nanoseconds begun = std::chrono::steady_clock::now().time_since_epoch();
    for (;;) {
      // What wakes a wait may have been taken by then.
      const nanoseconds gone = std::chrono::steady_clock::now().time_since_epoch() - begun;
      const nanoseconds left = at_most == kForever ? kForever : at_most - gone;
      dds::LoanedBytes taken = or_raise(in_slices(left, attempt));
      if (!taken.empty() || left <= nanoseconds(0)) return samples(std::move(taken));
      check_signals();
    }
  }
  [[nodiscard]] int descriptor() { return or_raise(reader_->event_fd()); }
  [[nodiscard]] std::uint64_t lost() const { return reader_->lost(); }

 private:
  static std::shared_ptr<dds::UntypedReader> made(const PyTopic& of, dds::From from) {
    of.domain->must_may_wait("DataReader");
    return made_by<dds::UntypedReader>([domain = of.domain.get(), topic = of.topic.get(), from] {
      return dds::UntypedReader::create(*topic, {.from = from});
    });
  }
  static nb::list samples(dds::LoanedBytes taken) {
    const auto loan = std::make_shared<const dds::LoanedBytes>(std::move(taken));
    nb::list all;
    for (std::size_t i = 0; i < loan->size(); ++i) all.append(PySample{loan, i});
    return all;
  }

  Kept<Domain> domain_;
  Kept<dds::UntypedReader> reader_;
};

class PyWriter {
 public:
  PyWriter(const PyTopic& topic, bool source_timestamps)
      : topic_(topic), writer_(made(topic, source_timestamps), "writer") {}

  std::uint64_t write(nb::handle data, nb::handle timeout) {
    const Bytes bytes(data);
    std::uint64_t key = 0;
    if (topic_.topic->type().keyed) {
      const std::string json = or_raise(dds::print_json(topic_.known_type(), bytes.get()));
      key = key_in(json);
    }
    return write(bytes.get(), key, timeout);
  }

  std::uint64_t write_json(std::string_view json, nb::handle timeout) {
    const std::vector<std::byte> sample = or_raise(dds::parse_json(topic_.known_type(), json));
    return write(sample, topic_.topic->type().keyed ? key_in(json) : 0, timeout);
  }

  void wait(std::uint64_t ticket, nb::handle timeout) {
    const std::shared_ptr<dds::UntypedWriter>& writer = writer_.get();
    or_raise(in_slices(duration_from(timeout, "timeout"),
                       [&](nanoseconds slice) { return writer->wait(Ticket{ticket}, slice); }));
  }
  void wait_for_acknowledgments(nb::handle timeout) {
    const std::shared_ptr<dds::UntypedWriter>& writer = writer_.get();
    or_raise(in_slices(duration_from(timeout, "timeout"),
                       [&](nanoseconds slice) { return writer->wait_for_acknowledgments(slice); }));
  }
  [[nodiscard]] bool is_delivered(std::uint64_t ticket) const {
    return writer_->delivered(Ticket{ticket});
  }

 private:
  static std::shared_ptr<dds::UntypedWriter> made(const PyTopic& of, bool source_timestamps) {
    of.domain->must_may_wait("DataWriter");
    const dds::WriterOptions options{.max_blocking_time = kSlice,
                                     .source_timestamps = source_timestamps};
    return made_by<dds::UntypedWriter>([domain = of.domain.get(), topic = of.topic.get(), options] {
      return dds::UntypedWriter::create(*topic, options);
    });
  }
  [[nodiscard]] std::uint64_t key_in(std::string_view json) const {
    return dds::hash_of_key(or_raise(dds::parse_json_key(topic_.known_type(), json)));
  }
  std::uint64_t write(std::span<const std::byte> sample, std::uint64_t key, nb::handle timeout) {
    const nanoseconds at_most = duration_from(timeout, "timeout");
    const std::shared_ptr<dds::UntypedWriter>& writer = writer_.get();
    const Result<Ticket> ticket = writer->try_write(sample, key);
    if (ticket) return ticket->value;
    if (ticket.error().code != ErrorCode::no_space || at_most <= nanoseconds(0)) {
      raise(ticket.error());
    }
    return or_raise(in_slices(at_most,
                              [&](nanoseconds /*slice*/) { return writer->write(sample, key); }))
        .value;
  }

  PyTopic topic_;
  Kept<dds::UntypedWriter> writer_;
};

template <class Get>
void field(nb::class_<PySample>& sample, const char* name, Get get, const char* text) {
  sample.def_prop_ro(name, [get](const PySample& of) { return get(of.get()); }, text);
}

void bind_samples(nb::module_& module) {
  using Of = dds::LoanedBytes::Sample;
  nb::class_<PySample> sample(module, "RawSample", nb::type_slots(kSampleSlots),
                              "A sample's bytes, read-only by the buffer protocol, in place.");
  field(
      sample, "position", [](const Of& of) { return of.info.position.value; },
      "Grows from sample to sample of a topic; the same at all participants.");
  field(
      sample, "sender", [](const Of& of) { return of.info.sender.value; },
      "Of its writer: Topic.name_of gives the participant's name.");
  field(sample, "view", [](const Of& of) { return of.info.view; }, "In which it was delivered.");
  field(
      sample, "timestamp_ns", [](const Of& of) { return of.info.source_timestamp; },
      "Nanoseconds since the Unix epoch, by its writer's clock; 0: not told.");
  field(
      sample, "lost_before", [](const Of& of) { return of.info.lost_before; },
      "Samples that this reader missed before it.");
  sample.def("__len__", [](const PySample& of) { return of.get().size; })
      .def("__bytes__", [](const PySample& of) { return nb::bytes(of.get().data, of.get().size); });
}

dds::From from_of(nb::handle word) {
  const InPython inside;  // word.__str__
  std::uint64_t position = 0;
  if (!nb::isinstance<nb::bool_>(word) && nb::try_cast(word, position)) {
    return dds::from_position({position});
  }
  const std::string text = str_of(word);
  if (text == "now") return dds::kFromNow;
  if (text == "stored") return dds::kFromStored;
  raise({ErrorCode::invalid_argument,
         "start = " + repr_of(word) + ": must be 'now', 'stored' or a position"});
}

}  // namespace

void bind_endpoints(nb::module_& module) {
  bind_samples(module);
  nb::class_<PyReader>(module, "Reader", "Takes the samples of a topic.")
      .def(
          "__init__",
          [](PyReader* at, const PyTopic& topic, nb::handle start) {
            new (at) PyReader(topic, from_of(start));
          },
          nb::arg("topic"), nb::arg("start"),
          nb::sig("def __init__(self, topic: Topic, start: str | int) -> None"))
      .def("take_raw", &PyReader::take, nb::arg("max"), nb::arg("timeout").none() = nb::none(),
           nb::sig("def take_raw(self, max: int, timeout: float | datetime.timedelta | None = "
                   "None) -> list[RawSample]"),
           "The next samples as bytes, at most `max`. Waits until there are some, at most "
           "`timeout`\nseconds (None: for ever); with 0 it never waits, and the list may be empty.")
      .def("fileno", &PyReader::descriptor,
           "A descriptor that is readable while there may be something to take. Do not close it.")
      .def_prop_ro("lost", &PyReader::lost,
                   "How many samples this reader has missed, being slower than its topic keeps "
                   "them.");
  nb::class_<PyWriter>(module, "Writer", "Writes samples to a topic.")
      .def(nb::init<const PyTopic&, bool>(), nb::arg("topic"), nb::arg("source_timestamps"))
      .def("write_raw", nb::overload_cast<nb::handle, nb::handle>(&PyWriter::write),
           nb::arg("data"), nb::arg("timeout").none() = nb::none(),
           nb::sig("def write_raw(self, data: _typeshed.ReadableBuffer, timeout: float | "
                   "datetime.timedelta | None = None) -> int"),
           "Writes a sample as its bytes are sent; returns the ticket. Waits while there is no\n"
           "space, at most `timeout` seconds (None: for ever).")
      .def("write_json", &PyWriter::write_json, nb::arg("json"),
           nb::arg("timeout").none() = nb::none(),
           nb::sig("def write_json(self, json: str, timeout: float | datetime.timedelta | None = "
                   "None) -> int"),
           "The same for a line of JSON.")
      .def("wait", &PyWriter::wait, nb::arg("ticket"), nb::arg("timeout").none() = nb::none(),
           nb::sig("def wait(self, ticket: int, timeout: float | datetime.timedelta | None = None) "
                   "-> None"),
           "Waits until the sample is delivered here; of an atomic or stored topic all have it "
           "then,\nand of a logged one it is on all disks.")
      .def("wait_for_acknowledgments", &PyWriter::wait_for_acknowledgments,
           nb::arg("timeout").none() = nb::none(),
           nb::sig("def wait_for_acknowledgments(self, timeout: float | datetime.timedelta | None "
                   "= None) -> None"),
           "The same for all that was written.")
      .def("is_delivered", &PyWriter::is_delivered, nb::arg("ticket"),
           "Whether that is so now. Never waits.");
}

}  // namespace tutti::python
