/// \file asio.cpp
/// The one translation unit that holds Asio's own code (BOOST_ASIO_SEPARATE_COMPILATION).
#include <boost/asio/impl/src.hpp>
