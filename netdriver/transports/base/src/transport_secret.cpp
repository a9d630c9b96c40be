// SPDX-License-Identifier: MIT
#include "transport_secret.h"

#include <string>

#include <sodium/core.h>
#include <sodium/randombytes.h>

namespace replayout {

Result<AddressCookie::Secret> transport_secret(const AddressCookie::Secret& given,
                                               std::string_view kind, int (*begin)()) {
    if (begin() < 0) {
        return Error{
            ErrorCode::Unsupported,
            std::string(kind) + ": libsodium does not begin, the system has no randomness"};
    }
    AddressCookie::Secret secret = given;
    if (secret == AddressCookie::Secret{}) {
        randombytes_buf(secret.data(), secret.size());
    }
    return secret;
}

Result<AddressCookie::Secret> transport_secret(const AddressCookie::Secret& given,
                                               std::string_view kind) {
    return transport_secret(given, kind, sodium_init);
}

}  // namespace replayout
