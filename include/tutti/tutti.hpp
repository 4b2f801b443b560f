/// \file tutti.hpp
/// The whole public interface.
#pragma once
#include "tutti/bootstrap.hpp"
#include "tutti/error.hpp"
#include "tutti/group.hpp"
#include "tutti/indexed_by.hpp"
#include "tutti/look.hpp"
#include "tutti/message.hpp"
#include "tutti/node.hpp"
#include "tutti/options.hpp"
#include "tutti/request.hpp"
#include "tutti/state.hpp"
#include "tutti/statistics.hpp"
#include "tutti/types.hpp"
#include "tutti/version.hpp"
#include "tutti/view.hpp"
