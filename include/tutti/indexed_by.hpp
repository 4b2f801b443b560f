/// \file indexed_by.hpp
/// A list whose elements are found by one type of index, and by no other: a member's rank in a view
/// does not compile where its index in a group is meant.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <utility>
#include <vector>

namespace tutti {

/// `Index` is Rank, MemberIndex, or another position that has its number in `value`. Ranges work on
/// it as on a vector; all() is that vector.
template <class Index, class T>
class IndexedBy {
 public:
  using value_type = T;
  using reference = typename std::vector<T>::reference;
  using const_reference = typename std::vector<T>::const_reference;
  using iterator = typename std::vector<T>::iterator;
  using const_iterator = typename std::vector<T>::const_iterator;

  IndexedBy() = default;
  IndexedBy(std::initializer_list<T> elements) : all_(elements) {}
  explicit IndexedBy(std::vector<T> elements) : all_(std::move(elements)) {}
  /// So many elements, as T{} makes them.
  explicit IndexedBy(std::size_t size) : all_(size) {}

  /// Undefined for an index that is not below size().
  [[nodiscard]] reference operator[](Index at) { return all_[at.value]; }
  [[nodiscard]] const_reference operator[](Index at) const { return all_[at.value]; }

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] iterator begin() { return all_.begin(); }
  [[nodiscard]] iterator end() { return all_.end(); }
  [[nodiscard]] const_iterator begin() const { return all_.begin(); }
  [[nodiscard]] const_iterator end() const { return all_.end(); }
  void push_back(T element) { all_.push_back(std::move(element)); }
  /// Instead of what was there.
  void assign(std::size_t size, const T& element) { all_.assign(size, element); }

  /// The positions of all that are there now, from 0 on.
  [[nodiscard]] auto indices() const {
    return std::views::iota(std::uint32_t{0}, static_cast<std::uint32_t>(all_.size())) |
           std::views::transform([](std::uint32_t at) { return Index{at}; });
  }

  [[nodiscard]] const std::vector<T>& all() const { return all_; }

  friend bool operator==(const IndexedBy&, const IndexedBy&) = default;
  friend bool operator==(const IndexedBy& one, const std::vector<T>& other) {
    return one.all_ == other;
  }

 private:
  std::vector<T> all_;
};

}  // namespace tutti
