/// \file request.hpp
/// Requests to one other member: what a function in Python answers.
#pragma once
#include "python.hpp"
#include "tutti/request.hpp"

namespace tutti::python {

/// Called with the name of the member that asks and its bytes; returns a bytes-like object. What it
/// raises is the error that the member gets.
[[nodiscard]] RequestHandler answered_by(const nb::object& answer);

void bind_request(nb::module_& module);

}  // namespace tutti::python
