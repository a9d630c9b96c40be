// SPDX-License-Identifier: MIT
//
// Hashes that stand on the wire or identify a layout: XXH3 with seed 0 over a canonical
// little-endian byte string, so that every compiler and machine gets the same value; and one with a
// secret, for tables. xxHash itself stays private to one source file.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace replayout {

/// XXH3 64 bits, seed 0.
[[nodiscard]] std::uint64_t hash64(std::span<const std::byte> bytes) noexcept;
[[nodiscard]] std::uint64_t hash64(std::string_view text) noexcept;

/// XXH3 64 bits of the number's eight bytes, with `seed`. Not for the wire: it differs by
/// endianness.
[[nodiscard]] std::uint64_t hash64(std::uint64_t number, std::uint64_t seed) noexcept;

/// Of tables whose keys a peer chooses. Who does not know the secret is not known to find keys that
/// lie in one chain; XXH3 is no cryptographic hash, though. The order of such a table hangs on the
/// secret, so it is looked up and never walked.
class SecretHash {
  public:
    explicit SecretHash(std::uint64_t secret) noexcept : secret_(secret) {}

    [[nodiscard]] std::size_t operator()(std::uint64_t key) const noexcept {
        return static_cast<std::size_t>(hash64(key, secret_));
    }

  private:
    std::uint64_t secret_;
};

/// A 128-bit digest.
struct Digest128 {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    friend constexpr auto operator<=>(const Digest128&, const Digest128&) noexcept = default;
};

/// Lower-case hexadecimal, high word first, 32 characters.
[[nodiscard]] std::string to_string(const Digest128& digest);

/// Collects a canonical description and hashes it (XXH3, 128 bits, seed 0). Sensitive to order;
/// every item says what it is and how long, so two descriptions have the same bytes only when they
/// are equal:
///
///     integer   'u'  value, 8 bytes
///     text      's'  count of bytes, 8 bytes   the bytes
///     digest    'd'  low, 8 bytes              high, 8 bytes
///
/// all little-endian. The order of calls is the order of bytes.
class Fingerprint {
  public:
    void add(std::uint64_t value);
    void add(std::string_view text);
    void add(const Digest128& digest);

    [[nodiscard]] Digest128 digest() const noexcept;

  private:
    std::string bytes_;
};

}  // namespace replayout
