// SPDX-License-Identifier: MIT
//
// The text rule of the wire: well-formed UTF-8 as Unicode 15, table 3-7, has it. No overlong forms,
// no surrogates, nothing above U+10FFFF.
#pragma once

#include <string_view>

namespace replayout {

[[nodiscard]] bool is_valid_utf8(std::string_view text) noexcept;

}  // namespace replayout
