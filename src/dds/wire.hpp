/// \file wire.hpp
/// Numbers and texts as bytes, little-endian, and back: for what participants tell each other and
/// for states. What is read is input: a reader that lacks bytes gives zeros from then on and says
/// so in ok(), and nothing is allocated beyond the bytes that are there.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tutti::dds {

class WireWriter {
 public:
  template <class T>
    requires std::is_integral_v<T>
  void number(T value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  void bytes(std::span<const std::byte> value) {
    number(static_cast<std::uint32_t>(value.size()));
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  void text(std::string_view value) { bytes(std::as_bytes(std::span(value))); }

  [[nodiscard]] std::span<const std::byte> written() const { return bytes_; }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
    requires std::is_integral_v<T>
  [[nodiscard]] T number() {
    T value{};
    if (rest_.size() < sizeof value) {
      give_up();
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }
  /// At most `max`; more is an error.
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t max) {
    const std::size_t size = number<std::uint32_t>();
    if (size > max || size > rest_.size()) {
      give_up();
      return {};
    }
    const std::span<const std::byte> value = rest_.first(size);
    rest_ = rest_.subspan(size);
    return value;
  }
  [[nodiscard]] std::string text(std::size_t max) {
    const std::span<const std::byte> value = bytes(max);
    return {reinterpret_cast<const char*>(value.data()), value.size()};
  }

  /// Nothing was missing or too long so far.
  [[nodiscard]] bool ok() const { return ok_; }
  /// The same, and nothing is left.
  [[nodiscard]] bool ends() const { return ok_ && rest_.empty(); }

 private:
  void give_up() {
    ok_ = false;
    rest_ = {};
  }

  std::span<const std::byte> rest_;
  bool ok_ = true;
};

}  // namespace tutti::dds
