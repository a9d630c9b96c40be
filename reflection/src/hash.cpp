// SPDX-License-Identifier: MIT
#include <replayout/reflection/hash.h>

// Inlined here and nowhere else: no other file, and no user of the library, sees xxHash.
#define XXH_INLINE_ALL
#include <xxhash.h>

// XXH3 gives the same values on every machine and in every version since 0.8.0; before, it was a
// draft.
static_assert(XXH_VERSION_NUMBER >= 800);

namespace replayout {
namespace {

// What each item of a fingerprint starts with; see Fingerprint.
constexpr char integer_tag = 'u';
constexpr char text_tag = 's';
constexpr char digest_tag = 'd';

void append_little_endian(std::string& bytes, std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) {
        bytes.push_back(static_cast<char>(static_cast<unsigned char>((value >> shift) & 0xFFu)));
    }
}

void append_hexadecimal(std::string& text, std::uint64_t value) {
    for (int shift = 60; shift >= 0; shift -= 4) {
        text.push_back("0123456789abcdef"[(value >> shift) & 0xFu]);
    }
}

}  // namespace

std::uint64_t hash64(std::span<const std::byte> bytes) noexcept {
    return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t hash64(std::string_view text) noexcept {
    return XXH3_64bits(text.data(), text.size());
}

std::uint64_t hash64(std::uint64_t number, std::uint64_t seed) noexcept {
    return XXH3_64bits_withSeed(&number, sizeof(number), seed);
}

std::string to_string(const Digest128& digest) {
    std::string text;
    text.reserve(32);
    append_hexadecimal(text, digest.high);
    append_hexadecimal(text, digest.low);
    return text;
}

void Fingerprint::add(std::uint64_t value) {
    bytes_.push_back(integer_tag);
    append_little_endian(bytes_, value);
}

void Fingerprint::add(std::string_view text) {
    bytes_.push_back(text_tag);
    append_little_endian(bytes_, text.size());
    bytes_.append(text);
}

void Fingerprint::add(const Digest128& digest) {
    bytes_.push_back(digest_tag);
    append_little_endian(bytes_, digest.low);
    append_little_endian(bytes_, digest.high);
}

Digest128 Fingerprint::digest() const noexcept {
    const XXH128_hash_t hash = XXH3_128bits(bytes_.data(), bytes_.size());
    return {hash.low64, hash.high64};
}

}  // namespace replayout
