/// \file main.cpp
/// The smallest program that uses an installed Tutti.
#include <iostream>
#include <tutti/tutti.hpp>

int main() { std::cout << tutti::version() << '\n'; }
