/// \file batch.hpp
/// Messages lent to Python in place: a batch, its messages, and runs of them.
///
/// All views, of whatever object, are counted by the batch. A view that is left when the batch
/// should end keeps the loan, until it goes: no view ever shows freed memory.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "buffer.hpp"
#include "group.hpp"
#include "tutti/batch.hpp"

namespace tutti::python {

class PyBatch {
 public:
  PyBatch(std::shared_ptr<GroupState> of, Batch taken)
      : of_(std::move(of)), batch_(std::move(taken)), view_(batch_.view()) {}
  PyBatch(const PyBatch&) = delete;
  PyBatch& operator=(const PyBatch&) = delete;
  ~PyBatch();

  /// Raises ValueError once the batch was released, and tutti.Stopped in the child of a fork.
  [[nodiscard]] std::span<const Message> messages() const;
  [[nodiscard]] std::size_t size() const { return views_.ended() ? 0 : batch_.size(); }
  [[nodiscard]] std::uint64_t view() const { return view_; }
  /// Of the data of each message, in bytes.
  [[nodiscard]] std::uint32_t alignment() const { return of_->alignment; }
  [[nodiscard]] bool intact() const;
  /// Raises BufferError while there are views.
  /// Of a with statement, whose body has ended well or raised.
  void exit(bool well);
  void release();
  void view_added() { views_.add(); }
  void view_gone();

 private:
  void give_back();

  std::shared_ptr<GroupState> of_;
  Batch batch_;
  std::uint64_t view_;
  bool released_ = false;
  Views views_;
};

/// One message of a batch.
struct PyMessage {
  nb::object owner;  // the batch
  PyBatch* batch;
  std::uint32_t index;

  [[nodiscard]] const Message& get() const { return batch->messages()[index]; }
};

/// Messages of one sender and one size that lie at equal distances in its ring buffer.
struct PyRun {
  nb::object owner;  // the batch
  PyBatch* batch;
  std::uint32_t sender;
  std::byte* data;
  Py_ssize_t shape[2];    // messages, bytes of each
  Py_ssize_t strides[2];  // to the next message, to the next byte
  std::vector<std::uint32_t> positions;
};

/// All runs of a batch; each message is in one of them.
[[nodiscard]] nb::list runs_of(nb::handle batch);
void bind_runs(nb::module_& module);

/// Fills `view` with what `show` finds, or sets the error of Python; for slots, which must not
/// throw.
template <class Show>
int lend(Py_buffer* view, PyBatch& batch, Show&& show) noexcept {
  view->obj = nullptr;
  try {
    show();
  } catch (const nb::builtin_exception& refused) {
    PyErr_SetString(
        refused.type() == nb::exception_type::buffer_error ? PyExc_BufferError : PyExc_ValueError,
        refused.what());
    return -1;
  } catch (nb::python_error& refused) {
    refused.restore();
    return -1;
  }
  batch.view_added();
  return 0;
}

}  // namespace tutti::python
