// SPDX-License-Identifier: MIT
#include "address_cookie.h"

#include <replayout/reflection/diagnostics.h>

#include "little_endian.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <sodium/crypto_shorthash.h>

namespace replayout {

namespace {

constexpr std::size_t address_bytes_max = 32;
/// None that there is: a token is no cookie.
constexpr std::int64_t token_slot = std::numeric_limits<std::int64_t>::min();
/// Nor is a client's number.
constexpr std::int64_t number_slot = token_slot + 1;

}  // namespace

std::uint64_t AddressCookie::hash(AddressBytes address, std::uint64_t client,
                                  std::int64_t slot) const noexcept {
    REPLAYOUT_ASSERT(address.size() <= address_bytes_max);
    // SipHash-2-4, which is what short inputs under a secret key want (Aumasson, Bernstein 2012).
    static_assert(crypto_shorthash_KEYBYTES == sizeof(Secret));
    std::array<std::byte, 16 + address_bytes_max> text{};
    write_number(text, client);
    write_number(std::span(text).subspan(number_bytes), static_cast<std::uint64_t>(slot));
    std::copy(address.begin(), address.end(), text.begin() + 16);
    std::array<unsigned char, crypto_shorthash_BYTES> digest{};
    crypto_shorthash(digest.data(), reinterpret_cast<const unsigned char*>(text.data()),
                     16 + address.size(), reinterpret_cast<const unsigned char*>(secret_.data()));
    std::uint64_t cookie = 0;
    std::memcpy(&cookie, digest.data(), sizeof(cookie));
    return std::max<std::uint64_t>(cookie, 1);
}

std::uint64_t AddressCookie::make(AddressBytes address, std::uint64_t client,
                                  NetTime now) const noexcept {
    return hash(address, client, now.microseconds / slot_us);
}

bool AddressCookie::is_good(std::uint64_t cookie, AddressBytes address, std::uint64_t client,
                            NetTime now) const noexcept {
    const std::int64_t slot = now.microseconds / slot_us;
    return cookie == hash(address, client, slot) || cookie == hash(address, client, slot - 1);
}

std::uint64_t AddressCookie::token(AddressBytes address, std::uint64_t client) const noexcept {
    return hash(address, client, token_slot);
}

std::uint64_t AddressCookie::client_number(std::uint64_t nth) const noexcept {
    return hash({}, nth, number_slot);
}

}  // namespace replayout
