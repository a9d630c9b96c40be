// SPDX-License-Identifier: MIT
//
// One spelling for Catch2 2.13 and 3. Not used in tests, because the two differ there: Approx,
// Contains.
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_message.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#else
// An assertion that throws does not name itself; in turn tests compile in a tenth less.
#define CATCH_CONFIG_FAST_COMPILE
#include <catch2/catch.hpp>
#endif
