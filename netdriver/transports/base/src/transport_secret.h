// SPDX-License-Identifier: MIT
//
// The secret of a transport: the embedder's, or the system's randomness.
#pragma once

#include "address_cookie.h"

#include <replayout/reflection/error.h>

#include <string_view>

namespace replayout {

/// `given`, unless it is all zeros: then random. `begin` is sodium_init(), which must have run
/// before anything else of libsodium. Errors: Unsupported, where the system has no randomness.
[[nodiscard]] Result<AddressCookie::Secret> transport_secret(const AddressCookie::Secret& given,
                                                             std::string_view kind, int (*begin)());
[[nodiscard]] Result<AddressCookie::Secret> transport_secret(const AddressCookie::Secret& given,
                                                             std::string_view kind);

}  // namespace replayout
