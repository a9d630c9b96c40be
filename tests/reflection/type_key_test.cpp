// SPDX-License-Identifier: MIT
#include "support/checks/catch.h"

#include <replayout/reflection/type_key.h>

#include <vector>

using namespace replayout;

TEST_CASE("TypeKey: one to a type, whatever its const", "[reflection][type_key]") {
    CHECK(type_key_of<int>() == type_key_of<int>());
    CHECK(type_key_of<int>() == type_key_of<const int>());
    CHECK(type_key_of<int>() == type_key_of<const volatile int>());
    CHECK(type_key_of<int>() != type_key_of<unsigned>());
    CHECK(type_key_of<std::vector<int>>() != type_key_of<std::vector<unsigned>>());
    CHECK_FALSE(type_key_of<int>().is_null());
    CHECK(TypeKey().is_null());
}
