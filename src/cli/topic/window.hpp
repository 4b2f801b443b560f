/// \file window.hpp
/// The newest samples of a topic, for rates: when they came, how large and how old they were.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace tutti::cli {

/// Of a number that each sample has.
struct Spread {
  std::size_t count = 0;
  double mean = 0;
  double least = 0;
  double most = 0;
  double deviation = 0;
};

class SampleWindow {
 public:
  struct Arrival {
    std::int64_t at_ns = 0;  ///< never before the one that came before
    std::uint64_t bytes = 0;
    double age_ns = 0;
  };

  /// Keeps the newest `size`, 2 or more.
  explicit SampleWindow(std::size_t size) : size_(size) {}

  void add(const Arrival& arrival) {
    arrivals_.push_back(arrival);
    if (arrivals_.size() > size_) arrivals_.pop_front();
  }

  [[nodiscard]] std::size_t count() const { return arrivals_.size(); }

  /// Samples in a second, from the first to the last one; nothing of fewer than two.
  [[nodiscard]] std::optional<double> rate() const {
    const double seconds = length_s();
    if (seconds <= 0) return {};
    return static_cast<double>(arrivals_.size() - 1) / seconds;
  }
  /// Bytes in a second; the first one's came before.
  [[nodiscard]] std::optional<double> bytes_rate() const {
    const double seconds = length_s();
    if (seconds <= 0) return {};
    double bytes = 0;
    for (std::size_t i = 1; i < arrivals_.size(); ++i) {
      bytes += static_cast<double>(arrivals_[i].bytes);
    }
    return bytes / seconds;
  }

  /// Between a sample and the next.
  [[nodiscard]] Spread gaps_ns() const {
    return spread(1, [this](std::size_t i) {
      return static_cast<double>(arrivals_[i].at_ns - arrivals_[i - 1].at_ns);
    });
  }
  [[nodiscard]] Spread bytes() const {
    return spread(0, [this](std::size_t i) { return static_cast<double>(arrivals_[i].bytes); });
  }
  [[nodiscard]] Spread ages_ns() const {
    return spread(0, [this](std::size_t i) { return arrivals_[i].age_ns; });
  }

 private:
  [[nodiscard]] double length_s() const {
    if (arrivals_.size() < 2) return 0;
    return static_cast<double>(arrivals_.back().at_ns - arrivals_.front().at_ns) / 1e9;
  }

  template <class Number>
  [[nodiscard]] Spread spread(std::size_t first, Number number) const {
    Spread out;
    double sum = 0;
    for (std::size_t i = first; i < arrivals_.size(); ++i) {
      const double value = number(i);
      out.least = out.count == 0 ? value : std::min(out.least, value);
      out.most = out.count == 0 ? value : std::max(out.most, value);
      sum += value;
      ++out.count;
    }
    if (out.count == 0) return out;
    out.mean = sum / static_cast<double>(out.count);
    double squares = 0;
    for (std::size_t i = first; i < arrivals_.size(); ++i) {
      squares += (number(i) - out.mean) * (number(i) - out.mean);
    }
    out.deviation = std::sqrt(squares / static_cast<double>(out.count));
    return out;
  }

  const std::size_t size_;
  std::deque<Arrival> arrivals_;
};

}  // namespace tutti::cli
