#include "options.hpp"

#include <nanobind/stl/string.h>

#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "request.hpp"
#include "state.hpp"

namespace tutti::python {
namespace {

[[noreturn]] void wrong_type(const std::string& what, const std::string& wanted, nb::handle value) {
  throw nb::type_error((what + " must be " + wanted + ", not " + repr_of(value)).c_str());
}

/// Takes options out of a dictionary, and at the end says which of them nobody knows.
class Keywords {
 public:
  Keywords(const nb::dict& from, std::string where) : where_(std::move(where)) {
    for (const auto& [key, value] : from) left_[key] = value;
  }

  template <class Field>
  void to(const char* key, Field& field) {
    if (const nb::object value = take(key); value.is_valid()) set(field, value, where_ + key);
  }

  nb::object take(const char* key) {
    if (!left_.contains(key)) return {};
    nb::object value = left_[key];
    PyDict_DelItemString(left_.ptr(), key);
    return value;
  }

  void end() const {
    for (const auto& [key, value] : left_) {
      throw nb::type_error(("there is no option " + where_ + str_of(key)).c_str());
    }
  }

 private:
  static void set(std::string& field, nb::handle value, const std::string& what) {
    if (!nb::try_cast(value, field)) wrong_type(what, "a str", value);
  }
  static void set(bool& field, nb::handle value, const std::string& what) {
    if (!nb::try_cast(value, field)) wrong_type(what, "a bool", value);
  }
  static void set(nanoseconds& field, nb::handle value, const std::string& what) {
    field = duration_from(value, what);
  }
  static void set(std::vector<std::string>& field, nb::handle value, const std::string& what) {
    if (nb::isinstance<nb::str>(value)) wrong_type(what, "a list of names", value);
    field.clear();
    for (const nb::handle name : nb::iter(value)) set(field.emplace_back(), name, what);
  }
  template <class Number>
    requires std::is_unsigned_v<Number>
  static void set(Number& field, nb::handle value, const std::string& what) {
    if (nb::try_cast(value, field)) return;
    if (!nb::isinstance<nb::int_>(value)) wrong_type(what, "a whole number", value);
    raise({ErrorCode::invalid_argument, what + " = " + repr_of(value) + ": must be from 0 to " +
                                            std::to_string(std::numeric_limits<Number>::max())});
  }
  template <class Enumeration>
    requires std::is_enum_v<Enumeration>
  static void set(Enumeration& field, nb::handle value, const std::string& what) {
    field = from_word<Enumeration>(value, what);
  }
  static void set(dds::Service& field, nb::handle value, const std::string& what) {
    std::string word;
    set(word, value, what);
    field = or_raise(dds::service_from(word));
  }
  static void set(std::vector<dds::BundleOptions>& field, nb::handle value,
                  const std::string& what) {
    field.clear();
    for (const nb::handle bundle : nb::iter(value)) {
      if (!nb::isinstance<nb::dict>(bundle)) wrong_type(what, "a list of dicts of options", value);
      field.push_back(bundle_options(nb::cast<nb::dict>(bundle)));
    }
  }
  static dds::BundleOptions bundle_options(const nb::dict& from);
  // A dictionary of names and addresses, or pairs of these.
  static void set(std::vector<MemberAddress>& field, nb::handle value, const std::string& what) {
    const bool mapping = nb::hasattr(value, "items");
    const nb::object pairs = mapping ? value.attr("items")() : nb::borrow(value);
    field.clear();
    for (const nb::handle pair : nb::iter(pairs)) {
      if (nb::isinstance<nb::str>(pair) || nb::len(pair) != 2) {
        wrong_type(what, "a dict of names and addresses, or pairs of these", value);
      }
      MemberAddress& member = field.emplace_back();
      set(member.name, nb::object(pair[0]), what);
      set(member.address, nb::object(pair[1]), what);
    }
  }

  std::string where_;
  nb::dict left_;
};

dds::BundleOptions Keywords::bundle_options(const nb::dict& from) {
  dds::BundleOptions options;
  Keywords keywords(from, "BundleOptions.");
  keywords.to("name", options.name);
  keywords.to("service", options.service);
  keywords.to("members", options.members);
  keywords.to("senders", options.senders);
  keywords.to("order", options.order);
  keywords.to("message_max_bytes", options.message_max_bytes);
  keywords.to("window_bytes", options.window_bytes);
  keywords.to("window_messages", options.window_messages);
  keywords.to("alignment", options.alignment);
  keywords.to("delivery", options.delivery);
  keywords.end();
  return options;
}

}  // namespace

std::size_t index_of_word(nb::handle value, const std::string& what,
                          std::span<const char* const> words) {
  std::string word;
  if (!nb::try_cast(value, word)) {
    const InPython inside;  // value.__repr__
    wrong_type(what, "a str", value);
  }
  std::string known;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (word == words[i]) return i;
    known += std::string(i == 0 ? "" : ", ") + words[i];
  }
  raise({ErrorCode::invalid_argument, what + " = '" + word + "': must be one of " + known});
}

NodeOptions node_options(const nb::dict& from) {
  const InPython inside;  // collections and numbers of any class
  NodeOptions options;
  Keywords keywords(from, "NodeOptions.");
  keywords.to("name", options.name);
  keywords.to("members", options.members);
  keywords.to("fabric", options.fabric);
  keywords.to("provider", options.provider);
  keywords.to("rdma_device", options.rdma_device);
  keywords.to("drive", options.drive);
  keywords.to("idle_spin", options.idle.spin);
  keywords.to("idle_yield", options.idle.yield);
  keywords.to("idle_sleep", options.idle.sleep);
  keywords.to("start_timeout", options.start_timeout);
  keywords.to("founders", options.founders);
  keywords.to("join_only", options.join_only);
  keywords.to("suspect_after", options.suspect_after);
  keywords.to("slow_after", options.slow_after);
  keywords.to("remove_after", options.remove_after);
  keywords.to("litmus_rounds", options.litmus_rounds);
  keywords.to("request_max_bytes", options.request_max_bytes);
  keywords.to("state_dir", options.state_dir);
  keywords.to("bootstrap", options.bootstrap);
  if (const nb::object answer = keywords.take("on_request"); answer.is_valid()) {
    options.on_request = answered_by(answer);
  }
  keywords.end();
  return options;
}

GroupOptions group_options(const nb::dict& from) {
  const InPython inside;
  GroupOptions options;
  options.delivery = DeliveryThread::application;
  Keywords keywords(from, "GroupOptions.");
  keywords.to("name", options.name);
  keywords.to("members", options.members);
  keywords.to("senders", options.senders);
  keywords.to("order", options.order);
  keywords.to("level", options.level);
  keywords.to("message_max_bytes", options.message_max_bytes);
  keywords.to("window_bytes", options.window_bytes);
  keywords.to("window_messages", options.window_messages);
  keywords.to("alignment", options.alignment);
  keywords.to("tick_every", options.tick_every);
  keywords.to("logged", options.logged);
  keywords.to("durable_quorum", options.durable_quorum);
  keywords.to("deliver_from", options.deliver_from);
  keywords.to("snapshot_every_bytes", options.snapshot_every_bytes);
  keywords.to("snapshot_every", options.snapshot_every);
  keywords.to("keep_log_bytes", options.keep_log_bytes);
  keywords.to("log_segment_bytes", options.log_segment_bytes);
  keywords.to("personal_window", options.personal_window);
  keywords.to("accelerated_window", options.accelerated_window);
  keywords.to("global_window", options.global_window);
  keywords.to("maximum_gap", options.maximum_gap);
  keywords.to("stateful", options.stateful);
  if (const nb::object save = keywords.take("save_state"); save.is_valid()) {
    options.save_state = saved_by(save);
  }
  if (const nb::object load = keywords.take("load_state"); load.is_valid()) {
    options.load_state = loaded_by(load);
  }
  keywords.end();
  return options;
}

dds::ParticipantOptions participant_options(const nb::dict& from) {
  const InPython inside;
  dds::ParticipantOptions options;
  Keywords keywords(from, "ParticipantOptions.");
  keywords.to("bundles", options.bundles);
  keywords.to("topics_max", options.topics_max);
  keywords.to("timeout", options.timeout);
  keywords.end();
  return options;
}

}  // namespace tutti::python
