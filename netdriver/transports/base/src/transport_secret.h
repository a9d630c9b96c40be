// SPDX-License-Identifier: MIT
//
// The secret of a transport: the embedder's, or the system's randomness.
#pragma once

#include "address_cookie.h"

#include <replayout/reflection/error.h>

#include <string_view>

namespace replayout {

/// `given`, unless it is all zeros: then random. libsodium has begun with it, as it must before
/// anything else of it. Errors: Unsupported, where the system has no randomness.
[[nodiscard]] Result<AddressCookie::Secret> transport_secret(const AddressCookie::Secret& given,
                                                             std::string_view kind);
/// The same with `begin` in the place of sodium_init(), negative where it fails. For tests alone:
/// none can take a system's randomness from it, so theirs passes a function that fails.
[[nodiscard]] Result<AddressCookie::Secret> transport_secret(const AddressCookie::Secret& given,
                                                             std::string_view kind, int (*begin)());

}  // namespace replayout
