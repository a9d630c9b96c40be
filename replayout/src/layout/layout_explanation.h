// SPDX-License-Identifier: MIT
//
// An explanation as it was read: a description, and what it leaves out.
#pragma once

#include <replayout/layout_difference.h>

#include "layout_description_reader.h"

#include <vector>

namespace replayout {

struct ExplainedFunction {
    std::string_view name;
    std::uint8_t flags = 0;        ///< as the fingerprint has them
    std::uint32_t parameters = 0;  ///< of the fingerprint of its parameters; 0: it has none
};

/// Texts lie in the explanation.
struct LayoutExplanation {
    LayoutDescription description;
    std::vector<std::uint8_t> kinds;  ///< by command; empty: of a description alone
    std::vector<ExplainedFunction> functions;
};

/// Refused: what is not such an explanation.
[[nodiscard]] Result<LayoutExplanation> read_layout_explanation(
    std::span<const std::byte> explanation);

}  // namespace replayout
