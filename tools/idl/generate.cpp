/// \file generate.cpp
/// What idlc calls of this plug-in: `idlc -l PATH/libtutti_idl.so FILE.idl` writes FILE.hpp.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "idl/emitter.hpp"

namespace tutti::idl {
namespace {

std::string header_of(const idl_pstate_t& state, const std::string& body) {
  const std::filesystem::path path = state.sources->path->name;
  std::string text = "// Made by `tutti idl` of " + path.filename().string() +
                     ": change that, not this.\n// clang-format off\n#pragma once\n#include "
                     "<array>\n#include <cstdint>\n"
                     "#include <limits>\n#include <optional>\n#include <string>\n"
                     "#include <string_view>\n#include <variant>\n#include <vector>\n\n"
                     "#include \"tutti/dds/bounded.hpp\"\n#include \"tutti/dds/fields.hpp\"\n";
  for (const idl_source_t* file = state.sources->includes; file != nullptr; file = file->next) {
    const std::filesystem::path included = file->path->name;
    text += "#include \"" + included.stem().string() + ".hpp\"\n";
  }
  return text + "\n" + body;
}

int write(const idl_pstate_t& state, const idlc_generator_config_t& config) {
  Emitter emitter(state);
  if (!emitter.run()) return IDL_RETCODE_SEMANTIC_ERROR;
  const std::filesystem::path source = state.sources->path->name;
  const std::filesystem::path folder = config.output_dir == nullptr ? "" : config.output_dir;
  const std::filesystem::path path = folder / source.stem().concat(".hpp");
  std::string text = header_of(state, emitter.text());
  while (text.ends_with("\n\n")) text.pop_back();
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return IDL_RETCODE_OK;
  std::fprintf(stderr, "cannot write %s: is there such a folder, and space?\n", path.c_str());
  return IDL_RETCODE_NO_ACCESS;
}

}  // namespace
}  // namespace tutti::idl

/// Found by its name.
extern "C" __attribute__((visibility("default"))) int generate(
    const idl_pstate_t* state, const idlc_generator_config_t* config) {
  try {
    return tutti::idl::write(*state, *config);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return IDL_RETCODE_NO_MEMORY;
  }
}
