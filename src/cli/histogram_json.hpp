/// \file histogram_json.hpp
/// A histogram as JSON and back.
#pragma once
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/histogram.hpp"

namespace tutti::cli {

inline nlohmann::json Histogram::to_json() const {
  nlohmann::json filled = nlohmann::json::array();
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (buckets_[i] > 0) filled.push_back({i, buckets_[i]});
  }
  return {{"max", max_}, {"buckets", std::move(filled)}};
}

inline std::optional<Histogram> Histogram::from_json(const nlohmann::json& json) {
  if (!json.is_object() || !json.contains("max") || !json["max"].is_number_unsigned() ||
      !json.contains("buckets") || !json["buckets"].is_array()) {
    return std::nullopt;
  }
  Histogram histogram;
  histogram.max_ = json["max"].get<std::uint64_t>();
  for (const nlohmann::json& filled : json["buckets"]) {
    if (!filled.is_array() || filled.size() != 2 || !filled[0].is_number_unsigned() ||
        !filled[1].is_number_unsigned() || filled[0].get<std::uint64_t>() >= kBuckets) {
      return std::nullopt;
    }
    histogram.buckets_[filled[0].get<std::size_t>()] = filled[1].get<std::uint64_t>();
    histogram.count_ += filled[1].get<std::uint64_t>();
  }
  return histogram;
}

inline nlohmann::json Histogram::summary() const {
  return {{"p50", percentile(0.5)},
          {"p90", percentile(0.9)},
          {"p99", percentile(0.99)},
          {"p99.9", percentile(0.999)},
          {"max", max_},
          {"samples", count_}};
}

}  // namespace tutti::cli
