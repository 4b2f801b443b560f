// Space in the ring buffer, lent to Python as writable bytes.
//
// A view that is left when the claim should end could write into a message that was sent, or into a
// later one: then the claim stays, and is abandoned when its last view goes.
#include <nanobind/stl/optional.h>

#include <optional>
#include <string>

#include "buffer.hpp"
#include "group.hpp"

namespace tutti::python {
namespace {

class PyClaim {
 public:
  PyClaim(std::shared_ptr<GroupState> of, Claim space, Service service)
      : of_(std::move(of)), claim_(std::move(space)), service_(service) {}
  PyClaim(const PyClaim&) = delete;
  PyClaim& operator=(const PyClaim&) = delete;
  ~PyClaim() {
    if (!of_->here.is_here()) static_cast<void>(new Claim(std::move(claim_)));
    claim_ = Claim();  // before its group
    drop(of_);
  }

  [[nodiscard]] std::span<std::byte> bytes() const {
    of_->here.must_be_here("claim");
    if (!claim_ || views_.ended()) throw nb::value_error("this claim was committed or abandoned");
    return claim_.bytes();
  }
  std::uint64_t commit(std::optional<std::uint64_t> used) {
    const std::size_t claimed = bytes().size();
    if (used.value_or(0) > claimed) {
      throw nb::value_error(("the claim has " + std::to_string(claimed) + " bytes, not " +
                             std::to_string(*used) + "; claim the most that a message may have")
                                .c_str());
    }
    must_have_no_views("committed");
    const auto size = static_cast<std::uint32_t>(used.value_or(claimed));
    ticket_ = of_->group.commit(std::move(claim_), size, service_).value;
    return ticket_;
  }
  void abandon() {
    of_->here.must_be_here("claim");
    if (!claim_) return;
    must_have_no_views("abandoned");
    claim_ = Claim();
  }
  [[nodiscard]] std::size_t size() const { return bytes().size(); }
  [[nodiscard]] std::uint64_t ticket() const { return ticket_; }
  void exit(nb::handle raised) {
    if (!claim_) return;  // committed inside
    if (raised.is_none()) {
      commit(std::nullopt);
    } else if (views_.any()) {
      views_.end();  // abandoned with the last of them: what the body raised says more
    } else {
      abandon();
    }
  }
  void view_added() { views_.add(); }
  void view_gone() {
    if (views_.remove() && of_->here.is_here()) claim_ = Claim();
  }

 private:
  void must_have_no_views(const char* what) {
    if (!views_.any()) return;
    views_.end();
    throw nb::buffer_error((std::string("views of this claim are still in use, so it was not ") +
                            what + "; it is abandoned when the last of them is gone")
                               .c_str());
  }

  std::shared_ptr<GroupState> of_;
  Claim claim_;
  Service service_;
  std::uint64_t ticket_ = 0;
  Views views_;
};

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  auto* const claim = initialised<PyClaim>(self);
  if (claim == nullptr) return -1;
  try {
    const std::span<std::byte> bytes = claim->bytes();
    show_bytes(*view, self, bytes.data(), static_cast<Py_ssize_t>(bytes.size()), false, flags);
  } catch (const nb::builtin_exception& refused) {
    PyErr_SetString(PyExc_ValueError, refused.what());
    return -1;
  } catch (nb::python_error& refused) {
    refused.restore();
    return -1;
  }
  claim->view_added();
  return 0;
}

void release_buffer(PyObject* self, Py_buffer*) { nb::inst_ptr<PyClaim>(self)->view_gone(); }

const PyType_Slot kSlots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_buffer)},
    {0, nullptr},
};

nb::object all_bytes(nb::handle claim) {
  const nb::object bytes = nb::steal(PyMemoryView_FromObject(claim.ptr()));
  if (!bytes.is_valid()) throw nb::python_error();
  return bytes;
}

}  // namespace

nb::object claim(const PyGroup& of, std::uint64_t size, nb::handle timeout, nb::handle service) {
  Group& group = of.group();
  const Service wanted = service_from(group, service);
  Claim space = claim_space(group, size, duration_from(timeout, "timeout"));
  return claim_object(of.state(), std::move(space), wanted);
}

nb::object claim_object(std::shared_ptr<GroupState> of, Claim space, Service service) {
  return nb::cast(new PyClaim(std::move(of), std::move(space), service),
                  nb::rv_policy::take_ownership);
}

void bind_claim(nb::module_& module) {
  nb::class_<PyClaim>(
      module, "Claim", nb::type_slots(kSlots),
      "Space for one message, writable bytes by the buffer protocol.\n\n"
      "Fill it, then commit it; or use it in a with statement, which commits at the\n"
      "end, and abandons it if its body raises. It holds old bytes at first.")
      .def("commit", &PyClaim::commit, nb::arg("used").none() = nb::none(),
           nb::sig("def commit(self, used: int | None = None) -> int"),
           "Every member delivers the message now: the first `used` bytes of the claim, or all.\n"
           "Returns its ticket. Raises BufferError if arrays or memoryviews still look at the "
           "claim.")
      .def("abandon", &PyClaim::abandon, "Nothing is delivered for it.")
      .def_prop_ro("ticket", &PyClaim::ticket, "The ticket once it is committed, 0 before.")
      .def("__len__", &PyClaim::size)
      .def("__getitem__",
           [](nb::handle self, nb::handle at) -> nb::object {
             const InPython inside;  // at.__index__
             return all_bytes(self)[at];
           })
      .def("__setitem__",
           [](nb::handle self, nb::handle at, nb::handle value) {
             const InPython inside;
             all_bytes(self)[at] = value;
           })
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __enter__(self) -> Claim"))
      .def(
          "__exit__",
          [](PyClaim& claim, nb::handle type, nb::handle, nb::handle) { claim.exit(type); },
          nb::arg("type").none(), nb::arg("value").none(), nb::arg("traceback").none());
}

}  // namespace tutti::python
