/// \file cli11_fwd.hpp
/// Names of CLI11 for headers. <CLI/CLI.hpp> costs a compiler several seconds, so it is included in
/// the .cpp files that add options, and nowhere else.
#pragma once

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI
