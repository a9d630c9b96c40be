// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace replayout::test {

[[nodiscard]] inline bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace replayout::test
