// SPDX-License-Identifier: MIT
//
// Whether a text says something.
#pragma once

#include <string_view>

namespace replayout::test {

[[nodiscard]] inline bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace replayout::test
