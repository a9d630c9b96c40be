// SPDX-License-Identifier: MIT
//
// How the tests of this floor look at a refusal: code and whole sentence.
#pragma once

#include "support/checks/catch.h"

#include <replayout/reflection/error.h>
#include <replayout/reflection/type.h>

#include <string_view>

namespace replayout {

inline void check_refused(const Result<const Type*>& result, ErrorCode code,
                          std::string_view sentence) {
    REQUIRE_FALSE(result);
    CHECK(result.error().message == sentence);
    CHECK(to_string(result.error().code) == to_string(code));
}

}  // namespace replayout
