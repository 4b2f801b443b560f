/// \file libfuzzer.cpp
/// fuzz_<name> [libFuzzer's options] FOLDER: finds inputs by the branches that they take. With
/// TUTTI_FUZZ_SAMPLES=FOLDER it first writes the target's samples there.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  const char* folder = std::getenv("TUTTI_FUZZ_SAMPLES");
  if (folder == nullptr) return 0;
  std::size_t number = 0;
  for (const std::vector<std::byte>& sample : tutti::fuzz::samples()) {
    std::ofstream file(std::string(folder) + "/sample" + std::to_string(number++));
    file.write(reinterpret_cast<const char*>(sample.data()),
               static_cast<std::streamsize>(sample.size()));
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  tutti::fuzz::take(std::as_bytes(std::span(bytes, size)));
  return 0;
}
