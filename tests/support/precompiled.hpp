// What most tests include, parsed once when JUDDER_PRECOMPILED_HEADERS is on; see cmake/precompiled.hpp.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "../../cmake/precompiled.hpp"
