// SPDX-License-Identifier: MIT
#include "address_text.h"

#include <charconv>
#include <string>

namespace replayout {

Error address_error(std::string_view kind, std::string_view address, std::string_view why) {
    return {ErrorCode::InvalidArgument,
            std::string(kind) + " address \"" + std::string(address) + "\": " + std::string(why)};
}

Error all_addresses_error(std::string_view kind, std::string_view address) {
    return address_error(kind, address,
                         "stands for all addresses of a host, so no server answers from it: "
                         "connect to one of the server's own");
}

Result<AddressText> split_address(std::string_view kind, std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return address_error(kind, text, "has no port");
    }
    AddressText parts;
    parts.host = text.substr(0, colon);
    if (parts.host.size() >= 2 && parts.host.front() == '[' && parts.host.back() == ']') {
        parts.host = parts.host.substr(1, parts.host.size() - 2);
    }
    const char* end = text.data() + text.size();
    const auto [stopped, status] = std::from_chars(text.data() + colon + 1, end, parts.port);
    if (status != std::errc() || stopped != end) {
        return address_error(kind, text, "its port is no number of 0 to 65535");
    }
    return parts;
}

}  // namespace replayout
