/// \file library.hpp
/// libibverbs and librdmacm: loaded when RDMA is first asked for, so that a host without them needs
/// neither, nor does a program that is linked with this library.
///
/// Their headers call functions that this folder defines (library.cpp): each of them calls the one
/// of the loaded library. Nobody may call any before library() has said that they are there.
/// Threads: any.
#pragma once
#include "tutti/error.hpp"

namespace tutti::verbs {

/// Loads both at the first call, for the whole process. The error says what to install.
[[nodiscard]] const Result<void>& library();

/// For tests: from files of these names, which nobody uses then.
[[nodiscard]] Result<void> try_load(const char* verbs_file, const char* cm_file);

}  // namespace tutti::verbs
