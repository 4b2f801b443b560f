/// \file options.hpp
/// Options by keyword, with the names of the C++ structs, to these structs.
#pragma once
#include <string>

#include "python.hpp"
#include "tutti/dds/options.hpp"
#include "tutti/options.hpp"
#include "words.hpp"

namespace tutti::python {

/// These raise TypeError for an option that does not exist or has the wrong type, and
/// tutti.InvalidArgument for a word or number that is none of the possible ones. What is left out
/// has the default of C++. The library itself checks the rest.
[[nodiscard]] NodeOptions node_options(const nb::dict& from);
[[nodiscard]] GroupOptions group_options(const nb::dict& from);
[[nodiscard]] dds::ParticipantOptions participant_options(const nb::dict& from);

/// The index of a word in a list; raises tutti.InvalidArgument, which lists them.
[[nodiscard]] std::size_t index_of_word(nb::handle value, const std::string& what,
                                        std::span<const char* const> words);

template <class Enumeration>
Enumeration from_word(nb::handle value, const std::string& what) {
  return static_cast<Enumeration>(index_of_word(value, what, Words<Enumeration>::all));
}

}  // namespace tutti::python
