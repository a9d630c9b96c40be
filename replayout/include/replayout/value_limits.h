// SPDX-License-Identifier: MIT
//
// Checks a value against the limits of a prefab (RepLimits) before it is sent, so that its writer
// learns at once if it cannot be sent: text, and the elements of arrays. What a struct that
// serializes itself holds is known only when it is sent.
#pragma once

#include <replayout/reflection/property.h>
#include <replayout/rep_layout.h>

#include <cstddef>
#include <optional>
#include <string>

namespace replayout {

/// Whether values of the property may be beyond a limit.
[[nodiscard]] bool has_limits(const Property& property) noexcept;
/// Nothing: the value may be sent. Else why not, such as "a text of 2,000 bytes is beyond
/// string_bytes_max (1,024)".
[[nodiscard]] std::optional<std::string> why_over_limit(const Property& property,
                                                        const std::byte* value,
                                                        const RepLimits& limits);
/// Bytes that the value takes in a message, estimated a little too high.
[[nodiscard]] std::size_t bytes_in_message(const Property& property, const std::byte* value);

}  // namespace replayout
