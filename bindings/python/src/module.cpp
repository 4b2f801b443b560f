#include <nanobind/stl/string_view.h>

#include "python.hpp"
#include "request.hpp"
#include "topics.hpp"
#include "tutti/version.hpp"

NB_MODULE(_tutti, module) {
  module.doc() = "The library behind the package tutti; use that.";
  module.def("version", &tutti::version, "The version of the library.");
  module.def("end_interpreter", &tutti::python::end_interpreter, nanobind::arg("threads_stay"),
             "The last call: other threads that wait in this module stay there.");
  module.def(
      "lends_bytes",
      [](nanobind::handle object) { return PyObject_CheckBuffer(object.ptr()) != 0; },
      nanobind::arg("object"), "Whether it has the buffer protocol.");
  tutti::python::bind_log(module);
  tutti::python::bind_bootstrap(module);
  tutti::python::bind_node(module);
  tutti::python::bind_request(module);
  tutti::python::bind_group(module);
  tutti::python::bind_claim(module);
  tutti::python::bind_space(module);
  tutti::python::bind_batch(module);
  tutti::python::bind_participant(module);
  tutti::python::bind_endpoints(module);
}
