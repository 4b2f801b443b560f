#include "cli/perf/hello.hpp"

#include <unistd.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "tutti/version.hpp"

namespace tutti::cli {
namespace {

using nlohmann::json;

constexpr const char* kGreeting = "tutti perf member";

std::string text_in(const json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

Hello hello_here() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) name[0] = '?';
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  Hello hello;
  hello.version = version();
  hello.host = name.data();
  hello.clock = boot;
  return hello;
}

json to_json(const Hello& hello) {
  json object = {{"hello", kGreeting},   {"version", hello.version}, {"host", hello.host},
                 {"clock", hello.clock}, {"address", hello.address}, {"rank", nullptr}};
  if (hello.rank) object["rank"] = *hello.rank;
  return object;
}

Result<Hello> hello_from(const json& object) {
  if (text_in(object, "hello") != kGreeting) {
    return fail(ErrorCode::mismatch, "it is no member of a measurement");
  }
  Hello hello{.version = text_in(object, "version"),
              .host = text_in(object, "host"),
              .clock = text_in(object, "clock"),
              .address = text_in(object, "address")};
  if (hello.version != version()) {
    return fail(ErrorCode::mismatch, "it is version " + hello.version + ", and this is " +
                                         std::string(version()) +
                                         ": run the same version on all hosts");
  }
  if (const auto rank = object.find("rank"); rank != object.end() && rank->is_number_unsigned()) {
    hello.rank = rank->get<std::uint32_t>();
  }
  return hello;
}

}  // namespace tutti::cli
