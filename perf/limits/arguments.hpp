/// \file arguments.hpp
/// Command lines of the limit programs: `--name value` pairs, each checked against its legal range.
/// A wrong option ends the program with status 2 and a sentence that says what would be legal.
/// Not a general parser: no flags without value, no positional arguments, no repeated options.
#pragma once
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace limits {

/// One option: its name without dashes, the value it has when absent ("" = none), one line of help.
struct Option {
  std::string name;
  std::string value;
  std::string help;
  bool given = false;
};

class Arguments {
 public:
  Arguments(int count, char** words, std::initializer_list<Option> options)
      : program_(words[0]), options_(options) {
    for (int i = 1; i < count; i += 2) {
      const std::string_view word = words[i];
      if (word == "--help") show_help();
      Option* option = word.starts_with("--") ? find(word.substr(2)) : nullptr;
      if (option == nullptr) fail(std::string(word) + ": unknown option");
      if (option->given) fail(std::string(word) + ": given twice");
      if (i + 1 == count) fail(std::string(word) + ": needs a value (" + option->help + ")");
      option->value = words[i + 1];
      option->given = true;
    }
  }

  [[nodiscard]] bool given(std::string_view name) { return known(name).given; }

  [[nodiscard]] std::string text(std::string_view name) { return known(name).value; }

  /// A whole number from `low` to `high`; K, M and G after it mean 2^10, 2^20 and 2^30.
  [[nodiscard]] int64_t integer(std::string_view name, int64_t low, int64_t high) {
    const std::string& value = known(name).value;
    int64_t number = 0;
    const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const std::string_view suffix(rest, value.data() + value.size());
    const size_t unit = std::string_view("KMG").find(suffix.empty() ? '\0' : suffix[0]);
    const int shift = unit == std::string_view::npos ? 0 : 10 * (static_cast<int>(unit) + 1);
    const bool readable = error == std::errc() && suffix.size() == (shift == 0 ? 0 : 1);
    if (!readable || number > high >> shift || number << shift < low) {
      refuse(name, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    }
    return number << shift;
  }

  /// A decimal number from `low` to `high`.
  [[nodiscard]] double real(std::string_view name, double low, double high) {
    const std::string& value = known(name).value;
    double number = 0;
    const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || rest != value.data() + value.size() ||
        !(number >= low && number <= high)) {
      refuse(name, "a number from " + std::to_string(low) + " to " + std::to_string(high));
    }
    return number;
  }

  /// One of the words of `legal`.
  [[nodiscard]] std::string choice(std::string_view name,
                                   std::initializer_list<std::string_view> legal) {
    std::string list;
    for (const std::string_view word : legal) {
      if (word == known(name).value) return known(name).value;
      list += (list.empty() ? "" : ", ") + std::string(word);
    }
    refuse(name, "one of " + list);
  }

  /// Ends the program with status 2: option `name` has a value that is not `legal`.
  [[noreturn]] void refuse(std::string_view name, const std::string& legal) {
    fail("--" + std::string(name) + " " + known(name).value + ": must be " + legal);
  }

  [[noreturn]] void fail(const std::string& reason) const {
    std::fprintf(stderr, "%s: %s; see --help\n", program_.c_str(), reason.c_str());
    std::exit(2);
  }

 private:
  Option* find(std::string_view name) {
    const auto found = std::find_if(options_.begin(), options_.end(),
                                    [name](const Option& option) { return option.name == name; });
    return found == options_.end() ? nullptr : &*found;
  }

  Option& known(std::string_view name) {
    Option* option = find(name);
    if (option == nullptr) fail("internal: no option " + std::string(name));
    return *option;
  }

  [[noreturn]] void show_help() const {
    std::printf("%s [--option value]...\n", program_.c_str());
    for (const Option& option : options_) {
      std::printf("  --%-14s %s%s%s\n", option.name.c_str(), option.help.c_str(),
                  option.value.empty() ? "" : "; default ", option.value.c_str());
    }
    std::exit(0);
  }

  std::string program_;
  std::vector<Option> options_;
};

}  // namespace limits
