/// \file bytes.hpp
/// Numbers, texts and lists as bytes, little-endian, for files and messages. What is read was
/// written by others: each length is checked before it is used, and after the first thing that is
/// wrong the rest is zeros and empty, and done() is false.
/// Threads: one for each object.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

static_assert(std::endian::native == std::endian::little);

class Encoder {
 public:
  Encoder() = default;
  /// Goes on behind what is there.
  explicit Encoder(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}

  template <class Number>
  void number(Number value) {
    raw(std::as_bytes(std::span(&value, 1)));
  }
  void text(std::string_view value) { blob(std::as_bytes(std::span(value))); }
  void blob(std::span<const std::byte> value) {
    number(static_cast<std::uint32_t>(value.size()));
    raw(value);
  }
  void raw(std::span<const std::byte> value) {
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  /// The number of elements, then each of them.
  template <class List, class Each>
  void list(const List& all, const Each& each) {
    number(static_cast<std::uint32_t>(all.size()));
    for (const auto& one : all) each(*this, one);
  }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::span<const std::byte> written() const { return bytes_; }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class Number>
  [[nodiscard]] Number number() {
    Number value{};
    const auto from = raw(sizeof value);
    if (!from.empty()) std::memcpy(&value, from.data(), sizeof value);
    return value;
  }
  /// A byte that is 0 or 1.
  [[nodiscard]] bool flag() {
    const auto value = number<std::uint8_t>();
    check(value <= 1);
    return value == 1;
  }
  /// More than `most` bytes are wrong.
  [[nodiscard]] std::span<const std::byte> blob(std::size_t most = ~std::size_t{0}) {
    const std::size_t size = number<std::uint32_t>();
    check(size <= most);
    return raw(size);
  }
  [[nodiscard]] std::string text(std::size_t most = ~std::size_t{0}) {
    const auto from = blob(most);
    return {reinterpret_cast<const char*>(from.data()), from.size()};
  }
  /// An element takes at least one byte, so that a wrong count cannot ask for much memory.
  template <class Each>
  [[nodiscard]] auto list(const Each& each) {
    std::vector<decltype(each(*this))> all;
    const auto count = number<std::uint32_t>();
    check(count <= rest_.size());
    for (std::uint32_t i = 0; i < count && good_; ++i) all.push_back(each(*this));
    return all;
  }
  void check(bool holds) {
    if (!holds) good_ = false;
    if (!good_) rest_ = {};
  }
  [[nodiscard]] bool good() const { return good_; }
  /// All was as it should be, and nothing is left.
  [[nodiscard]] bool done() const { return good_ && rest_.empty(); }

 private:
  std::span<const std::byte> raw(std::size_t size) {
    check(size <= rest_.size());
    if (!good_) return {};
    const auto from = rest_.first(size);
    rest_ = rest_.subspan(size);
    return from;
  }

  std::span<const std::byte> rest_;
  bool good_ = true;
};

}  // namespace tutti
