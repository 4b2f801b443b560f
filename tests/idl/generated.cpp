/// \file generated.cpp
/// Uses types that tutti_generate made while this was built: exits 0 if a sample survives.
#include <cstdio>

#include "tutti/dds/cdr.hpp"
#include "weather.hpp"

int main() {
  weather::Reading reading;
  reading.station = 7;
  reading.source = "a sensor";
  std::vector<std::byte> bytes;
  const tutti::Result<void> done = tutti::dds::encode(reading, bytes);
  if (!done) return std::fprintf(stderr, "%s\n", done.error().message.c_str()), 1;
  const tutti::Result<weather::Reading> read = tutti::dds::decode<weather::Reading>(bytes);
  if (!read) return std::fprintf(stderr, "%s\n", read.error().message.c_str()), 1;
  return *read == reading ? 0 : 1;
}
