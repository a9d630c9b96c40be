// SPDX-License-Identifier: MIT
#include <replayout/unet/unet_error.h>

#include <array>

namespace replayout {

std::string_view to_string(UNetError error) noexcept {
    static constexpr auto texts = std::to_array<std::string_view>(
        {"no error", "buffer full", "end of bytes", "packed integer in a longer form than it needs",
         "packed integer of more than 32 bits", "value out of range", "invalid bool",
         "invalid decimal", "text too long", "text not in UTF-8", "byte array too long",
         "count over limit", "unknown list operation", "bytes left over", "message too long",
         "message size beyond its packet", "unknown message type"});
    static_assert(texts.size() == unet_error_count);
    const auto index = static_cast<std::size_t>(error);
    return index < texts.size() ? texts[index] : "unknown error";
}

}  // namespace replayout
