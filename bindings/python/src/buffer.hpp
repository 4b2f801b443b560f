/// \file buffer.hpp
/// The buffer protocol: what Python hands in as bytes, and what it is lent.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "python.hpp"

namespace tutti::python {

/// A bytes-like object, as contiguous bytes while this exists. Raises TypeError if it is none.
class Bytes {
 public:
  explicit Bytes(nb::handle object) {
    const InPython inside;  // from Python 3.12 on a class of Python may lend bytes
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  ~Bytes() {
    const InPython inside;
    PyBuffer_Release(&view_);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  [[nodiscard]] std::span<const std::byte> get() const {
    return {static_cast<const std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

/// Counts the views of something lent. Once all are gone after end(), it is given back.
class Views {
 public:
  void add() { ++views_; }
  /// True if the loan ends with this view.
  [[nodiscard]] bool remove() { return --views_ == 0 && ending_; }
  [[nodiscard]] bool any() const { return views_ > 0; }
  /// From now on no view may be made.
  void end() { ending_ = true; }
  [[nodiscard]] bool ended() const { return ending_; }

 private:
  std::uint32_t views_ = 0;
  bool ending_ = false;
};

/// Fills in what all one-dimensional views of bytes have in common. `view.obj` is a new reference.
inline void show_bytes(Py_buffer& view, PyObject* owner, std::byte* data, Py_ssize_t size,
                       bool readonly, int flags) {
  view = {};
  view.obj = Py_NewRef(owner);
  view.buf = data;
  view.len = size;
  view.itemsize = 1;
  view.readonly = readonly ? 1 : 0;
  view.ndim = 1;
  if ((flags & PyBUF_FORMAT) != 0) view.format = const_cast<char*>("B");
  if ((flags & PyBUF_ND) != 0) view.shape = &view.len;
  if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES) view.strides = &view.itemsize;
}

/// Numbers that outlive what they describe: a memoryview of a copy.
template <class Number>
nb::object column(const char* format, std::span<const Number> numbers) {
  const nb::bytes copy(numbers.data(), numbers.size_bytes());
  return nb::steal(PyMemoryView_FromObject(copy.ptr())).attr("cast")(format);
}

}  // namespace tutti::python
