/// \file state.hpp
/// save_state and load_state as functions of Python.
///
/// They are called on the node's thread for states, which takes the GIL for them. The protocol
/// never waits for that thread (PY1): this member delivers nothing until the state is taken,
/// whoever takes it, and goes on answering the others.
#pragma once
#include "python.hpp"
#include "tutti/state.hpp"

namespace tutti::python {

/// `save()` returns the whole state as a bytes-like object.
[[nodiscard]] SaveState saved_by(const nb::object& save);
/// `load(bytes)` takes the whole state: pieces are collected before.
[[nodiscard]] LoadState loaded_by(const nb::object& load);

}  // namespace tutti::python
