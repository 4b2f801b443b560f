/// \file records.hpp
/// Plain structs of the library as dictionaries, with the same names: the package makes its records
/// of them.
#pragma once
#include "python.hpp"
#include "tutti/statistics.hpp"
#include "tutti/view.hpp"

namespace tutti::python {

[[nodiscard]] nb::dict record_of(const ViewChange& view);
[[nodiscard]] nb::dict record_of(const NodeStatistics& statistics);
[[nodiscard]] nb::dict record_of(const GroupStatistics& statistics);
[[nodiscard]] nb::dict record_of(const MemberLag& lag);

}  // namespace tutti::python
