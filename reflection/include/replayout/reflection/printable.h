// SPDX-License-Identifier: MIT
//
// Text from a peer or a file, for the log: one line, and nothing in it that a terminal obeys.
#pragma once

#include <string>
#include <string_view>

namespace replayout {

/// ASCII that prints stays; every other byte becomes "\x0a", and so does a backslash, "\x5c": two
/// texts never look the same. Four times as long at most.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace replayout
