#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>

#include "buffer.hpp"
#include "options.hpp"
#include "topics.hpp"
#include "tutti/dds/json.hpp"

namespace tutti::python {
namespace {

nb::dict record_of(const dds::TopicOptions& options) {
  nb::dict all;
  all["service"] = std::string(to_string(options.service));
  all["bundle"] = options.bundle;
  all["text"] = options.to_text();
  return all;
}

nb::dict record_of(const dds::TopicTypeInfo& info) {
  nb::dict all;
  all["name"] = text_from(info.name);
  all["hash"] = info.hash;
  all["in_place_bytes"] = info.in_place_bytes;
  all["alignment"] = info.alignment;
  all["keyed"] = info.keyed;
  return all;
}

nb::dict record_of(const dds::TopicDescription& topic) {
  nb::list endpoints;
  for (const dds::TopicEndpoints& of : topic.endpoints) {
    nb::dict one;
    one["participant"] = of.participant;
    one["readers"] = of.readers;
    one["writers"] = of.writers;
    endpoints.append(one);
  }
  nb::dict all;
  all["name"] = text_from(topic.name);
  all["type"] = record_of(topic.type);
  all["options"] = record_of(topic.options);
  all["endpoints"] = endpoints;
  return all;
}

struct PyParticipant {
  Kept<Domain> domain;

  PyParticipant(PyNode& node, const nb::dict& options)
      : domain(made(node, options), "participant") {}

  static std::shared_ptr<Domain> made(PyNode& node, const nb::dict& options) {
    const std::shared_ptr<Running> with = node.running();
    return std::make_shared<Domain>(
        with, or_raise(dds::DomainParticipant::create(with->node, participant_options(options))));
  }

  [[nodiscard]] PyTopic create_topic(const std::string& name, const nb::dict& type,
                                     const std::string& options) const {
    const std::shared_ptr<Domain>& with = domain.get();
    dds::TopicTypeInfo info = type_info_from(type);
    dds::TopicOptions of = or_raise(dds::TopicOptions::from_text(options));
    with->must_may_wait("DomainParticipant.create_topic");
    return {domain, made_by<dds::UntypedTopic>([=] {
              return dds::UntypedTopic::create(with->participant, name, info, of);
            })};
  }

  [[nodiscard]] PyTopic find_topic(const std::string& name) const {
    const std::shared_ptr<Domain>& with = domain.get();
    with->must_may_wait("DomainParticipant.find_topic");
    return {domain, made_by<dds::UntypedTopic>(
                        [=] { return dds::UntypedTopic::find(with->participant, name); })};
  }

  void delete_topic(const std::string& name) const {
    const std::shared_ptr<Domain>& with = domain.get();
    with->must_may_wait("DomainParticipant.delete_topic");
    or_raise(interruptible_alone([=] { return with->participant.delete_topic(name); }));
  }

  [[nodiscard]] nb::list topics() const {
    nb::list all;
    for (const dds::TopicDescription& topic : domain->participant.topics()) {
      all.append(record_of(topic));
    }
    return all;
  }

  [[nodiscard]] nb::dict counters() const {
    const dds::ParticipantStatistics from = domain->participant.statistics();
    nb::dict all;
    all["samples"] = from.samples;
    all["unknown"] = from.unknown;
    all["malformed"] = from.malformed;
    all["reader_waits"] = from.reader_waits;
    return all;
  }
};

std::string to_json(const PyTopic& of, nb::handle data) {
  const Bytes bytes(data);
  return or_raise(dds::print_json(of.known_type(), bytes.get()));
}

nb::bytes from_json(const PyTopic& of, std::string_view json) {
  const std::vector<std::byte> sample = or_raise(dds::parse_json(of.known_type(), json));
  return nb::bytes(sample.data(), sample.size());
}

}  // namespace

void Domain::must_may_wait(const char* call) const {
  if (const std::shared_ptr<Running> with = node.lock()) or_raise(with->node.may_wait(call));
}

PyTopic::PyTopic(Kept<Domain> of, std::shared_ptr<dds::UntypedTopic> made)
    : domain(std::move(of)), topic(std::move(made), "topic") {
  if (auto described = dds::decode_type(topic->type().description)) {
    type = std::make_shared<const dds::Type>(std::move(*described));
  }
}

const dds::Type& PyTopic::known_type() const {
  if (type != nullptr) return *type;
  raise({ErrorCode::invalid_argument,
         "topic '" + topic->name() + "': its creator did not say what its type " +
             topic->type().name + " is made of; read and write its samples as bytes"});
}

void bind_participant(nb::module_& module) {
  nb::class_<PyParticipant>(module, "DomainParticipant", "A node's part in topics.")
      .def(nb::init<PyNode&, nb::dict>(), nb::arg("node"), nb::arg("options"),
           nb::sig("def __init__(self, node: Node, options: dict[str, object]) -> None"))
      .def("create_topic", &PyParticipant::create_topic, nb::arg("name"), nb::arg("type"),
           nb::arg("options"),
           nb::sig("def create_topic(self, name: str, type: dict[str, typing.Any], options: str) "
                   "-> Topic"))
      .def("find_topic", &PyParticipant::find_topic, nb::arg("name"))
      .def("delete_topic", &PyParticipant::delete_topic, nb::arg("name"),
           "Removes the topic at all participants. An error while somebody reads or writes it.")
      .def("topic_records", &PyParticipant::topics,
           nb::sig("def topic_records(self) -> list[dict[str, typing.Any]]"))
      .def("counters", &PyParticipant::counters, nb::sig("def counters(self) -> dict[str, int]"))
      .def_prop_ro("name", [](const PyParticipant& of) { return of.domain->participant.name(); });
  nb::class_<PyTopic>(module, "Topic", "A name for samples of one type, the same at all.")
      .def("to_json", &to_json, nb::arg("data"),
           nb::sig("def to_json(self, data: _typeshed.ReadableBuffer) -> str"),
           "A sample's bytes as one line of JSON.")
      .def("from_json", &from_json, nb::arg("json"),
           "The bytes of the sample that a line of JSON describes.")
      .def(
          "name_of",
          [](const PyTopic& of, std::uint32_t sender) {
            return std::string(of.topic->name_of(MemberIndex{sender}));
          },
          nb::arg("sender"), "The name of a participant, such as Sample.sender.")
      .def(
          "type_record",
          [](const PyTopic& of) -> nb::object {
            if (of.type == nullptr) return nb::none();
            return record_of(*of.type);
          },
          nb::sig("def type_record(self) -> dict[str, typing.Any] | None"))
      .def(
          "info_record", [](const PyTopic& of) { return record_of(of.topic->type()); },
          nb::sig("def info_record(self) -> dict[str, typing.Any]"))
      .def(
          "options_record", [](const PyTopic& of) { return record_of(of.topic->options()); },
          nb::sig("def options_record(self) -> dict[str, str]"))
      .def_prop_ro("name", [](const PyTopic& of) { return of.topic->name(); });
}

}  // namespace tutti::python
