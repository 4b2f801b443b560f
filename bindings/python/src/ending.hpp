/// \file ending.hpp
/// Guards for threads that let go of the interpreter's lock (GIL), take it, or call Python code,
/// and what such threads do once the interpreter ends.
///
/// When the interpreter ends, CPython unwinds each thread that asks for the GIL. A frame of C++ on
/// that thread's stack would terminate the process. So, on all threads but the one that ends the
/// interpreter:
///  IE1  A thread that asks for the GIL while frames of this module are on its stack counts itself
///       first, until it has the GIL, or until the Python code that it calls has returned.
///  IE2  end_interpreter waits until no thread counts. A thread that asks later does not count: it
///       waits where it is until the process is gone. So Python code that the module calls must not
///       block for ever: the end of the interpreter waits for it.
///  IE3  Before that it waits for nodes that threads of this module end: these give back what they
///       hold of Python.
#pragma once
#include <nanobind/nanobind.h>

namespace tutti::python {

/// Lets go of the GIL while it exists.
class Released {
 public:
  Released() : state_(PyEval_SaveThread()) { here_ = true; }
  ~Released();
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

  /// This thread, one of Python's, has let go of the GIL, or it never has it.
  [[nodiscard]] static bool is_here() { return here_; }
  /// This thread is none of Python's, and what it destroys may be what needs the GIL away.
  static void never_has_it() { here_ = true; }

 private:
  static thread_local bool here_;
  PyThreadState* state_;
};

/// Around calls of Python code from within a call of this module, which has the GIL: such code may
/// let go of the GIL at any time.
class InPython {
 public:
  InPython();
  ~InPython();
  InPython(const InPython&) = delete;
  InPython& operator=(const InPython&) = delete;
};

/// Around calls of Python code from a thread of the library: has the GIL while it exists. False if
/// the interpreter ends or has ended: then nothing of Python may be used.
class Acquired {
 public:
  Acquired();
  ~Acquired();
  Acquired(const Acquired&) = delete;
  Acquired& operator=(const Acquired&) = delete;
  [[nodiscard]] explicit operator bool() const { return here_; }

 private:
  const bool here_;
  PyGILState_STATE state_{};
};

/// A thread of this module ends a node (IE3), until this is destroyed.
class EndsNode {
 public:
  EndsNode();
  ~EndsNode();
  EndsNode(const EndsNode&) = delete;
  EndsNode& operator=(const EndsNode&) = delete;
};

/// The last call, on the thread that ends the interpreter (IE2).
///
/// `threads_stay`: what such threads hold is not given back, and nanobind shall not report it.
void end_interpreter(bool threads_stay);

/// In the child of a fork, which has no other threads.
void forget_other_threads();

}  // namespace tutti::python
