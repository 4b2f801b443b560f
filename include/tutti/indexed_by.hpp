/// \file indexed_by.hpp
/// A list whose elements are found by one type of index, and by no other: a member's rank in a view
/// does not compile where its index in a group is meant.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

namespace tutti {

/// `Index` is Rank or MemberIndex. Ranges work on it as on a vector; all() is that vector.
template <class Index, class T>
class IndexedBy {
 public:
  using value_type = T;
  using iterator = typename std::vector<T>::iterator;
  using const_iterator = typename std::vector<T>::const_iterator;

  IndexedBy() = default;
  IndexedBy(std::initializer_list<T> elements) : all_(elements) {}
  explicit IndexedBy(std::vector<T> elements) : all_(std::move(elements)) {}

  /// Undefined for an index that is not below size().
  [[nodiscard]] T& operator[](Index at) { return all_[at.value]; }
  [[nodiscard]] const T& operator[](Index at) const { return all_[at.value]; }

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] iterator begin() { return all_.begin(); }
  [[nodiscard]] iterator end() { return all_.end(); }
  [[nodiscard]] const_iterator begin() const { return all_.begin(); }
  [[nodiscard]] const_iterator end() const { return all_.end(); }
  void push_back(T element) { all_.push_back(std::move(element)); }

  [[nodiscard]] const std::vector<T>& all() const { return all_; }

  friend bool operator==(const IndexedBy&, const IndexedBy&) = default;
  friend bool operator==(const IndexedBy& one, const std::vector<T>& other) {
    return one.all_ == other;
  }

 private:
  std::vector<T> all_;
};

}  // namespace tutti
