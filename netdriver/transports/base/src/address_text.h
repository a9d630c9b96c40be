// SPDX-License-Identifier: MIT
//
// Addresses as the game writes them, and what is said of those that are none.
#pragma once

#include <replayout/reflection/error.h>

#include <cstdint>
#include <string_view>

namespace replayout {

struct AddressText {
    std::string_view host;  ///< without brackets
    std::uint16_t port = 0;
};

/// "UDP address "...": why".
[[nodiscard]] Error address_error(std::string_view kind, std::string_view address,
                                  std::string_view why);
/// A client was given an address that stands for all addresses of a host.
[[nodiscard]] Error all_addresses_error(std::string_view kind, std::string_view address);
/// "host:port" or "[host]:port"; the host is not looked at. `text` must outlive the answer.
[[nodiscard]] Result<AddressText> split_address(std::string_view kind, std::string_view text);

}  // namespace replayout
