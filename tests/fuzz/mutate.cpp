/// \file mutate.cpp
/// fuzz_<name> [--seed N] [--inputs N] [FILE...]: takes the files, or inputs made of the target's
/// samples: cut, joined, bytes and words changed. Prints the seed of an input before it takes it
/// with --print, to find one that did harm.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "base/prng.hpp"
#include "fuzz/fuzz.hpp"

namespace {

using Bytes = std::vector<std::byte>;

void change(Bytes& bytes, const std::vector<Bytes>& samples, tutti::Prng& random) {
  constexpr std::uint32_t kWords[] = {0, 1, 2, 0x7f, 0x80, 0xff, 0xffff, 0x7fffffff, 0xffffffff};
  const auto below = [&](std::size_t count) { return count == 0 ? 0 : random.next() % count; };
  const std::size_t at = below(bytes.size());
  switch (below(5)) {
    case 0:
      bytes.resize(at);
      break;
    case 1:
      if (!bytes.empty()) bytes[at] ^= static_cast<std::byte>(1U << below(8));
      break;
    case 2:
      if (!bytes.empty()) bytes[at] = static_cast<std::byte>(random.next());
      break;
    case 3: {
      const std::uint32_t word = kWords[below(std::size(kWords))];
      if (at + sizeof(word) <= bytes.size()) std::memcpy(bytes.data() + at, &word, sizeof(word));
      break;
    }
    default: {
      const Bytes& other = samples[below(samples.size())];
      const std::size_t from = below(other.size());
      bytes.resize(at);
      bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(from), other.end());
    }
  }
}

void take_input(std::uint64_t seed, const std::vector<Bytes>& samples) {
  tutti::Prng random(seed);
  Bytes bytes = samples[random.next() % samples.size()];
  for (std::uint64_t left = random.next() % 8; left > 0; --left) change(bytes, samples, random);
  // In memory of exactly that size, so that a sanitizer sees what reads behind its end.
  tutti::fuzz::take(Bytes(bytes.begin(), bytes.end()));
}

void take_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  tutti::fuzz::take(std::as_bytes(std::span(text)));
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t seed = 1, inputs = 20'000;
  bool print = false, files = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--print") {
      print = true;
    } else if ((argument == "--seed" || argument == "--inputs") && i + 1 < argc) {
      (argument == "--seed" ? seed : inputs) = std::strtoull(argv[++i], nullptr, 10);
    } else {
      files = true;
      take_file(argv[i]);
    }
  }
  if (files) return 0;
  const std::vector<Bytes> samples = tutti::fuzz::samples();
  for (const std::uint64_t end = seed + inputs; seed < end; ++seed) {
    if (print)
      std::printf("seed %llu\n", static_cast<unsigned long long>(seed)), std::fflush(stdout);
    take_input(seed, samples);
  }
  std::printf("%llu inputs taken\n", static_cast<unsigned long long>(inputs));
  return 0;
}
