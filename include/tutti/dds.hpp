/// \file dds.hpp
/// Topics: typed samples under names, on top of groups, with the names of DDS (docs/topics.md).
#pragma once
#include "tutti/dds/listener.hpp"
#include "tutti/dds/options.hpp"
#include "tutti/dds/participant.hpp"
#include "tutti/dds/reader.hpp"
#include "tutti/dds/sample.hpp"
#include "tutti/dds/sample_batch.hpp"
#include "tutti/dds/topic.hpp"
#include "tutti/dds/type_support.hpp"
#include "tutti/dds/wait_set.hpp"
#include "tutti/dds/writer.hpp"
#include "tutti/tutti.hpp"
