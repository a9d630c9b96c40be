// SPDX-License-Identifier: MIT
//
// Text from a file on its way to a terminal, where people read it: letters of all languages stay.
// The library's log has none but ASCII (replayout/reflection/printable.h), so that no two texts
// look the same there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace replayout::match {

/// One line of it: control characters become question marks, and what exceeds `bytes_max` is cut
/// off between characters of UTF-8.
[[nodiscard]] std::string printable(std::string_view text,
                                    std::size_t bytes_max = std::string_view::npos);

}  // namespace replayout::match
