// Space for a message that an event loop waits for.
//
// The library claims it on its thread for handlers, which does not take the GIL: it leaves the
// claim here and makes a descriptor readable. Python fetches the claim, or gives it up.
#include <mutex>
#include <optional>

#include "flag.hpp"
#include "group.hpp"

namespace tutti::python {
namespace {

/// What the library was asked for. Threads: answer() one of the library, the rest with the GIL.
class Asked {
 public:
  [[nodiscard]] Result<void> open() { return answered_.open(); }
  [[nodiscard]] int descriptor() const { return answered_.descriptor(); }

  void answer(Result<Claim> space) {
    const std::lock_guard lock(mutex_);
    if (given_up_) return;  // the claim is abandoned
    answer_.emplace(std::move(space));
    answered_.raise();
  }
  /// Once. Empty: there is no answer yet.
  [[nodiscard]] std::optional<Result<Claim>> fetch() {
    const std::lock_guard lock(mutex_);
    return std::exchange(answer_, std::nullopt);
  }
  void give_up() {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
    answer_.reset();
  }

 private:
  std::mutex mutex_;
  std::optional<Result<Claim>> answer_;
  bool given_up_ = false;
  Flag answered_;
};

class PySpace {
 public:
  PySpace(const PyGroup& of, std::uint64_t size, nb::handle service)
      : of_(of.state()), service_(service_from(of.group(), service)) {
    or_raise(asked_->open());
    or_raise(of_->group.on_space(claim_size(size), [asked = asked_](Result<Claim> space) {
      asked->answer(std::move(space));
    }));
  }
  PySpace(const PySpace&) = delete;
  PySpace& operator=(const PySpace&) = delete;
  ~PySpace() {
    if (of_->here.is_here()) {
      asked_->give_up();  // before its group
    } else {
      static_cast<void>(new std::shared_ptr<Asked>(std::move(asked_)));
    }
    drop(of_);
  }

  [[nodiscard]] int descriptor() const { return asked_->descriptor(); }
  nb::object fetch() {
    of_->here.must_be_here("space");
    std::optional<Result<Claim>> answer = asked_->fetch();
    if (!answer) return nb::none();
    return claim_object(of_, or_raise(std::move(*answer)), service_);
  }
  void give_up() {
    of_->here.must_be_here("space");
    asked_->give_up();
  }

 private:
  std::shared_ptr<GroupState> of_;
  Service service_;
  std::shared_ptr<Asked> asked_ = std::make_shared<Asked>();
};

}  // namespace

void bind_space(nb::module_& module) {
  nb::class_<PySpace>(module, "Space", "Space for one message that was asked for.")
      .def(nb::init<const PyGroup&, std::uint64_t, nb::handle>(), nb::arg("group"), nb::arg("size"),
           nb::arg("service").none() = nb::none(),
           nb::sig("def __init__(self, group: Group, size: int, service: str | None = None) -> "
                   "None"))
      .def("fileno", &PySpace::descriptor, "Readable once there is an answer. Do not close it.")
      .def("fetch", &PySpace::fetch, nb::sig("def fetch(self) -> Claim | None"),
           "The claim; None: not yet. Raises why there will be no space.")
      .def("give_up", &PySpace::give_up, "A claim that was not fetched is abandoned.");
}

}  // namespace tutti::python
