#include "tutti/bootstrap.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "options.hpp"
#include "python.hpp"

namespace tutti::python {
namespace {

// The disk may take its time, and nothing would interrupt it.
void found(const nb::dict& options, const std::vector<std::string>& groups) {
  const NodeOptions node = node_options(options);
  or_raise([&] {
    const Released released;
    return bootstrap(node, groups);
  }());
}

}  // namespace

void bind_bootstrap(nb::module_& module) {
  module.def("bootstrap", &found, nb::arg("options"), nb::arg("groups"),
             "tutti.bootstrap, with the options of a node.");
}

}  // namespace tutti::python
