/// \file topics.hpp
/// A participant's topics, with their readers and writers, as objects of Python. Samples are bytes
/// here, and JSON by the description of their type; tutti/dds makes objects of that.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "node.hpp"
#include "python.hpp"
#include "tutti/dds/participant.hpp"
#include "tutti/dds/topic.hpp"
#include "tutti/dds/type.hpp"

namespace tutti::python {

/// Keeps something of the library. It is let go of without the GIL; in the child of a fork it
/// stays.
template <class Object>
class Kept {
 public:
  Kept(std::shared_ptr<Object> object, const char* what)
      : object_(std::move(object)), what_(what) {}
  Kept(const Kept&) = default;
  Kept(Kept&&) noexcept = default;
  Kept& operator=(const Kept&) = delete;
  Kept& operator=(Kept&&) = delete;
  ~Kept() {
    if (object_ == nullptr) return;
    if (!here_.is_here()) {
      static_cast<void>(new std::shared_ptr<Object>(std::move(object_)));
      return;
    }
    const Released released;
    object_.reset();
  }

  /// Raises tutti.Stopped in the child of a fork.
  [[nodiscard]] const std::shared_ptr<Object>& get() const {
    here_.must_be_here(what_);
    return object_;
  }
  Object* operator->() const { return get().get(); }

 private:
  OfThisProcess here_;
  std::shared_ptr<Object> object_;
  const char* what_;
};

struct Domain {
  std::weak_ptr<Running> node;
  dds::DomainParticipant participant;

  /// Raises tutti.InCallback where the node refuses calls that wait.
  void must_may_wait(const char* call) const;
};

struct PyTopic {
  Kept<Domain> domain;
  Kept<dds::UntypedTopic> topic;
  std::shared_ptr<const dds::Type> type{};  // null: its description is not known

  PyTopic(Kept<Domain> of, std::shared_ptr<dds::UntypedTopic> made);
  /// Raises if it is not known.
  [[nodiscard]] const dds::Type& known_type() const;
};

/// Runs a call that waits for other participants. A signal ends the wait, and the call goes on
/// without it, so it keeps all that it uses.
template <class Made, class Call>
std::shared_ptr<Made> made_by(Call call) {
  const auto made = std::make_shared<std::optional<Made>>();
  or_raise(interruptible_alone([made, call = std::move(call)]() mutable -> Result<void> {
    Result<Made> result = call();
    if (!result) return std::unexpected(std::move(result.error()));
    made->emplace(std::move(*result));
    return {};
  }));
  return {made, &**made};
}

/// Of a type that tutti.dds describes, and back (topic_type.cpp).
[[nodiscard]] dds::TopicTypeInfo type_info_from(const nb::dict& from);
[[nodiscard]] nb::dict record_of(const dds::Type& type);

void bind_participant(nb::module_& module);
void bind_endpoints(nb::module_& module);

}  // namespace tutti::python
