// Calls that send: one message, or many in one call.
#include <chrono>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "group.hpp"

namespace tutti::python {
namespace {

// Copied with the GIL held: letting go of it costs as much.
constexpr std::size_t kCopiedAtOnce = 16 * 1024;

std::uint64_t send(const PyGroup& of, nb::handle data, nb::handle timeout, nb::handle service) {
  Group group = of.group();
  const Bytes bytes(data);
  const Service wanted = service_from(group, service);
  Claim space = claim_space(group, bytes.get().size(), duration_from(timeout, "timeout"));
  if (space.size() <= kCopiedAtOnce) {
    std::memcpy(space.data(), bytes.get().data(), space.size());
  } else {
    const Released released;
    std::memcpy(space.data(), bytes.get().data(), space.size());
  }
  return group.commit(std::move(space), wanted).value;
}

/// The sizes of messages that lie one behind the other.
struct Sizes {
  std::vector<std::uint64_t> each;
  std::uint64_t one = 0;
  std::size_t count = 0;

  [[nodiscard]] std::uint64_t operator[](std::size_t i) const {
    return each.empty() ? one : each[i];
  }
};

template <class Number>
bool read_numbers(const Py_buffer& view, std::vector<std::uint64_t>& into) {
  const auto* numbers = static_cast<const Number*>(view.buf);
  const auto count = static_cast<std::size_t>(view.len) / sizeof(Number);
  for (std::size_t i = 0; i < count; ++i) {
    if (std::is_signed_v<Number> && numbers[i] < Number{0}) return false;
    into.push_back(static_cast<std::uint64_t>(numbers[i]));
  }
  return true;
}

// An array of whole numbers, of numpy or of the module array. False: it is none.
bool read_array(nb::handle sizes, std::vector<std::uint64_t>& into) {
  if (PyObject_CheckBuffer(sizes.ptr()) == 0) return false;
  Py_buffer view;
  if (PyObject_GetBuffer(sizes.ptr(), &view, PyBUF_ND | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return false;
  }
  struct Held {
    Py_buffer& view;
    ~Held() { PyBuffer_Release(&view); }
  };
  const Held held{view};
  const std::string_view format = view.format == nullptr ? "B" : view.format;
  if (format.size() != 1 || view.ndim != 1) return false;
  into.reserve(static_cast<std::size_t>(view.len / std::max<Py_ssize_t>(view.itemsize, 1)));
  const bool with_sign = std::string_view("bhilq").find(format[0]) != std::string_view::npos;
  if (!with_sign && std::string_view("BHILQ").find(format[0]) == std::string_view::npos) {
    return false;
  }
  switch (view.itemsize) {
    case 1:
      return with_sign ? read_numbers<std::int8_t>(view, into)
                       : read_numbers<std::uint8_t>(view, into);
    case 2:
      return with_sign ? read_numbers<std::int16_t>(view, into)
                       : read_numbers<std::uint16_t>(view, into);
    case 4:
      return with_sign ? read_numbers<std::int32_t>(view, into)
                       : read_numbers<std::uint32_t>(view, into);
    default:
      return with_sign ? read_numbers<std::int64_t>(view, into)
                       : read_numbers<std::uint64_t>(view, into);
  }
}

[[noreturn]] void bad_sizes(const std::string& why) { throw nb::value_error(why.c_str()); }

Sizes sizes_from(nb::handle from, std::size_t bytes) {
  const InPython inside;
  Sizes sizes;
  if (nb::isinstance<nb::int_>(from)) {
    if (!nb::try_cast(from, sizes.one) || sizes.one == 0) {
      bad_sizes("the one size of all messages must be at least 1, and a message's size");
    }
    if (bytes % sizes.one != 0) {
      bad_sizes("the data has " + std::to_string(bytes) +
                " bytes: no whole number of messages of " + std::to_string(sizes.one) + " bytes");
    }
    sizes.count = bytes / sizes.one;
    return sizes;
  }
  if (!read_array(from, sizes.each)) {
    sizes.each.clear();
    for (const nb::handle size : nb::iter(from)) {
      std::uint64_t value = 0;
      if (!nb::try_cast(size, value)) {
        bad_sizes(std::string("sizes must be whole numbers from 0 on, not ") + repr_of(size));
      }
      sizes.each.push_back(value);
    }
  }
  sizes.count = sizes.each.size();
  std::uint64_t left = bytes;
  for (const std::uint64_t size : sizes.each) {
    if (size > left) bad_sizes("the sizes add up to more than the data's bytes");
    left -= size;
  }
  if (left != 0) {
    bad_sizes("the sizes add up to " + std::to_string(left) + " bytes less than the data has");
  }
  return sizes;
}

/// Sends messages until all are sent, or there was no space within the slice. Without the GIL.
class Stream {
 public:
  Stream(Group group, std::span<const std::byte> bytes, const Sizes& sizes, Service service)
      : group_(std::move(group)), bytes_(bytes), sizes_(sizes), service_(service) {}

  Result<void> operator()(nanoseconds slice) {
    using Clock = std::chrono::steady_clock;
    constexpr std::size_t kLooksAtClock = 256;  // messages
    // Also where nobody waits: while others take, there may be space without end.
    const Clock::time_point end = Clock::now() + (slice > nanoseconds(0) ? slice : kSlice);
    while (sent_ < sizes_.count) {
      const std::uint32_t size = claim_size(sizes_[sent_]);
      Claim space = group_.try_claim(size);
      if (!space) {
        const nanoseconds left = slice > nanoseconds(0) ? end - Clock::now() : slice;
        Result<Claim> waited = group_.claim(size, std::max(left, nanoseconds(0)));
        if (!waited) return std::unexpected(std::move(waited.error()));
        space = std::move(*waited);
      }
      std::memcpy(space.data(), bytes_.data() + at_, size);
      last_ = group_.commit(std::move(space), service_);
      at_ += size;
      ++sent_;
      if (sent_ % kLooksAtClock == 0 && sent_ < sizes_.count && Clock::now() > end) {
        return fail(ErrorCode::timed_out,
                    "group '" + group_.name() + "': only " + std::to_string(sent_) + " of " +
                        std::to_string(sizes_.count) + " messages were sent before the deadline");
      }
    }
    return {};
  }

  [[nodiscard]] std::size_t sent() const { return sent_; }
  [[nodiscard]] std::uint64_t last() const { return last_.value; }

 private:
  Group group_;
  std::span<const std::byte> bytes_;
  const Sizes& sizes_;
  Service service_;
  std::size_t at_ = 0;
  std::size_t sent_ = 0;
  Ticket last_;
};

std::uint64_t send_many(const PyGroup& of, nb::handle data, nb::handle sizes, nb::handle timeout,
                        nb::handle service) {
  Group group = of.group();
  const nanoseconds at_most = duration_from(timeout, "timeout");
  const Service wanted = service_from(group, service);
  const Bytes bytes(data);
  const Sizes each = sizes_from(sizes, bytes.get().size());
  Stream stream(group, bytes.get(), each, wanted);
  const Result<void> done = in_slices(at_most, stream);
  if (!done) raise(done.error(), stream.sent());
  return stream.last();
}

}  // namespace

std::uint32_t claim_size(std::uint64_t size) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(size, kMost));
}

Claim claim_space(Group& group, std::uint64_t size, nanoseconds timeout) {
  Claim space = group.try_claim(claim_size(size));
  if (space) return space;
  return or_raise(
      in_slices(timeout, [&](nanoseconds slice) { return group.claim(claim_size(size), slice); }));
}

void bind_sending(nb::class_<PyGroup>& group) {
  group
      .def("send", &send, nb::arg("data"), nb::arg("timeout").none() = nb::none(),
           nb::arg("service").none() = nb::none(),
           nb::sig("def send(self, data: _typeshed.ReadableBuffer, timeout: float | "
                   "datetime.timedelta | None = None, service: str | None = None) -> int"),
           "Sends a bytes-like object: copies it into the ring buffer, and commits. Returns the\n"
           "ticket. Waits while there is no space, at most `timeout` seconds (None: for ever).")
      .def("send_many", &send_many, nb::arg("data"), nb::arg("sizes"),
           nb::arg("timeout").none() = nb::none(), nb::arg("service").none() = nb::none(),
           nb::sig("def send_many(self, data: _typeshed.ReadableBuffer, sizes: int | "
                   "collections.abc.Iterable[int] | _typeshed.ReadableBuffer, timeout: float | "
                   "datetime.timedelta | None = None, service: str | None = None) -> int"),
           "Sends the messages that lie in `data`, one behind the other: all of one size, if\n"
           "`sizes` is a number, or else each of its own. Returns the ticket of the last one. An\n"
           "error's attribute `sent` says how many were sent before it.");
}

}  // namespace tutti::python
