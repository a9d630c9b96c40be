// SPDX-License-Identifier: MIT
//
// Proof that a client receives at the address that it sends from, before anything is kept of it: a
// keyed hash of address, the client's number and the time, which only the server can make and
// check. As Unreal's stateless handshake and DTLS's cookies (RFC 6347, 4.2.1) have it.
#pragma once

#include <replayout/netdriver/time.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

/// Bytes of an address and port, in whatever form, always the same for the same.
using AddressBytes = std::span<const std::byte>;

class AddressCookie {
  public:
    /// A cookie is good for one slot of time and the next one: between 10 and 20 seconds.
    static constexpr std::int64_t slot_us = 10'000'000;

    using Secret = std::array<std::byte, 16>;

    explicit AddressCookie(const Secret& secret) noexcept : secret_(secret) {}

    /// Never 0, which stands for none.
    [[nodiscard]] std::uint64_t make(AddressBytes address, std::uint64_t client,
                                     NetTime now) const noexcept;
    [[nodiscard]] bool is_good(std::uint64_t cookie, AddressBytes address, std::uint64_t client,
                               NetTime now) const noexcept;

    /// What a client that proved itself is told, for good: by that it is known.
    [[nodiscard]] std::uint64_t token(AddressBytes address, std::uint64_t client) const noexcept;

    /// Of a client: its number the `nth` time that it asks. Nobody can tell one from another, nor
    /// the secret from any.
    [[nodiscard]] std::uint64_t client_number(std::uint64_t nth) const noexcept;

  private:
    [[nodiscard]] std::uint64_t hash(AddressBytes address, std::uint64_t client,
                                     std::int64_t slot) const noexcept;

    Secret secret_;
};

}  // namespace replayout
