// SPDX-License-Identifier: MIT
#include "stable_name.h"

#include <replayout/utf8.h>

#include <span>

namespace replayout {

void write_stable_name(BitWriter& writer, std::string_view name) noexcept {
    REPLAYOUT_ASSERT(!name.empty() && name.size() <= stable_name_bytes_max && is_valid_utf8(name));
    writer.write_packed_uint(name.size());
    writer.write_bytes(std::as_bytes(std::span(name)));
}

std::string_view read_stable_name(BitReader& reader) noexcept {
    const std::uint64_t size = reader.read_packed_uint();
    if (size == 0 || size > stable_name_bytes_max) {
        reader.fail();
        return {};
    }
    const std::span<const std::byte> bytes = reader.take_bytes(static_cast<std::size_t>(size));
    const std::string_view name(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!is_valid_utf8(name)) {
        reader.fail();
    }
    return name;
}

}  // namespace replayout
