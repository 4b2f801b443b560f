/// \file bounded.hpp
/// A string and a sequence of at most so many elements, which lie inside the object. Both are
/// trivially copyable, so a type made of them can be sent without marshalling (kInPlace).
///
/// An object that came from another process may have any count in it: size() never says more than
/// there is space for. Nothing allocates or throws.
#pragma once
#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace tutti::dds {

/// At most kMax bytes of text (IDL: string<N>).
template <std::uint32_t kMax>
class bounded_string {
 public:
  constexpr bounded_string() = default;
  /// Keeps the first kMax bytes of `text`; assign() tells whether that is all.
  constexpr bounded_string(std::string_view text) { assign(text); }
  constexpr bounded_string(const char* text) { assign(text); }

  /// Replaces the text; false, and the first kMax bytes of it, if it is longer.
  constexpr bool assign(std::string_view text) {
    size_ = static_cast<std::uint32_t>(std::min<std::size_t>(text.size(), kMax));
    std::copy_n(text.data(), size_, data_);
    data_[size_] = '\0';
    return size_ == text.size();
  }

  [[nodiscard]] constexpr std::size_t size() const { return std::min(size_, kMax); }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] constexpr const char* data() const { return data_; }
  [[nodiscard]] constexpr std::string_view view() const { return {data_, size()}; }
  constexpr operator std::string_view() const { return view(); }
  [[nodiscard]] static constexpr std::size_t capacity() { return kMax; }
  /// Where the characters begin in the object; before them is the count.
  [[nodiscard]] static constexpr std::uint32_t data_offset() { return sizeof(std::uint32_t); }

  friend constexpr bool operator==(const bounded_string& a, const bounded_string& b) {
    return a.view() == b.view();
  }
  friend constexpr auto operator<=>(const bounded_string& a, const bounded_string& b) {
    return a.view() <=> b.view();
  }

 private:
  std::uint32_t size_ = 0;
  char data_[std::size_t{kMax} + 1] = {};
};

/// At most kMax elements (IDL: sequence<T, N>). For elements that own memory, such as strings, use
/// a std::vector and TypeOptions::bounds.
template <class T, std::uint32_t kMax>
class bounded_vector {
  static_assert(std::is_trivially_copyable_v<T>,
                "bounded_vector: the elements are not trivially copyable; use a std::vector and "
                "TUTTI_OPTIONS(Type, .bounds = ...)");
  static_assert(kMax > 0, "bounded_vector: the bound is 0");

 public:
  using value_type = T;

  constexpr bounded_vector() = default;

  /// Appends; false, and nothing is changed, if it is full.
  constexpr bool push_back(const T& value) {
    if (size() == kMax) return false;
    data_[size_++] = value;
    return true;
  }
  /// New elements are value-initialised; false, and nothing is changed, if `count` is above kMax.
  constexpr bool resize(std::size_t count) {
    if (count > kMax) return false;
    for (std::size_t i = size(); i < count; ++i) data_[i] = T{};
    size_ = static_cast<std::uint32_t>(count);
    return true;
  }
  constexpr void clear() { size_ = 0; }

  [[nodiscard]] constexpr std::size_t size() const { return std::min(size_, kMax); }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] static constexpr std::size_t capacity() { return kMax; }
  [[nodiscard]] constexpr T* data() { return data_; }
  [[nodiscard]] constexpr const T* data() const { return data_; }
  /// Where the elements begin in the object; at its start is the count.
  [[nodiscard]] static constexpr std::uint32_t data_offset() {
    return static_cast<std::uint32_t>(std::max(sizeof(std::uint32_t), alignof(T)));
  }
  constexpr T& operator[](std::size_t index) { return data_[index]; }
  constexpr const T& operator[](std::size_t index) const { return data_[index]; }
  constexpr T* begin() { return data_; }
  constexpr T* end() { return data_ + size(); }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size(); }

  friend constexpr bool operator==(const bounded_vector& a, const bounded_vector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::uint32_t size_ = 0;
  T data_[kMax] = {};
};

}  // namespace tutti::dds
