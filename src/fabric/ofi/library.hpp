/// \file library.hpp
/// libfabric itself: loaded when it is first asked for. Its start takes a fifth of a second, for
/// the libraries of its providers look for devices; nobody pays for that, or needs it to be
/// installed, who does not use it.
///
/// Once loaded it stays, for the whole process.
/// Threads: any.
#pragma once
#include <rdma/fabric.h>

#include "tutti/error.hpp"

namespace tutti::ofi {

/// What of libfabric's interface is a function of the library's; all else in its headers calls
/// through the objects that these return.
struct Library {
  decltype(&::fi_version) version = nullptr;
  decltype(&::fi_getinfo) getinfo = nullptr;
  decltype(&::fi_dupinfo) dupinfo = nullptr;
  decltype(&::fi_freeinfo) freeinfo = nullptr;
  decltype(&::fi_fabric) fabric = nullptr;
  decltype(&::fi_strerror) strerror = nullptr;
};

/// The one that all here use. The error says what to install.
[[nodiscard]] const Result<Library>& library();

/// The same for whoever has an object of libfabric's, so that it is there.
[[nodiscard]] const Library& loaded();

/// Loads one by its file name.
[[nodiscard]] Result<Library> load_library(const char* file);

}  // namespace tutti::ofi
