// SPDX-License-Identifier: MIT
//
// Text from a peer or a file, for the log: one line, and nothing in it that a terminal obeys.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace replayout {

/// ASCII that prints stays; every other byte becomes "\x0a", and so does a backslash, "\x5c": two
/// texts never look the same. Four times as long at most.
[[nodiscard]] std::string printable(std::string_view text);
/// The same of as much as goes into `bytes_max` bytes before it is escaped, in whole characters of
/// UTF-8; where something is left out it ends with "...".
[[nodiscard]] std::string printable_front(std::string_view text, std::size_t bytes_max);

}  // namespace replayout
