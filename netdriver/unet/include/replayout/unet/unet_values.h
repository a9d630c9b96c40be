// SPDX-License-Identifier: MIT
//
// Unity's value types, as far as UNet's writer knows them: what counts is which numbers there are
// and in which order they travel. An engine converts from and to its own.
#pragma once

#include <replayout/reflection/math.h>

#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace replayout {

struct Vector2 {
    float x = 0.0f;
    float y = 0.0f;

    friend constexpr bool operator==(const Vector2&, const Vector2&) noexcept = default;
};

struct Vector4 {
    float x = 0.0f;
    float y = 0.0f;
    float z = 0.0f;
    float w = 0.0f;

    friend constexpr bool operator==(const Vector4&, const Vector4&) noexcept = default;
};

struct Color {
    float r = 0.0f;
    float g = 0.0f;
    float b = 0.0f;
    float a = 0.0f;

    friend constexpr bool operator==(const Color&, const Color&) noexcept = default;
};

struct Color32 {
    std::uint8_t r = 0;
    std::uint8_t g = 0;
    std::uint8_t b = 0;
    std::uint8_t a = 0;

    friend constexpr bool operator==(const Color32&, const Color32&) noexcept = default;
};

struct Rect {
    float x_min = 0.0f;
    float y_min = 0.0f;
    float width = 0.0f;
    float height = 0.0f;

    friend constexpr bool operator==(const Rect&, const Rect&) noexcept = default;
};

struct Plane {
    Vector3 normal{};
    float distance = 0.0f;

    friend constexpr bool operator==(const Plane&, const Plane&) noexcept = default;
};

/// On the wire the direction comes first.
struct Ray {
    Vector3 origin{};
    Vector3 direction{};

    friend constexpr bool operator==(const Ray&, const Ray&) noexcept = default;
};

/// m00 m01 m02 m03 m10 and so on: row by row.
struct Matrix4x4 {
    std::array<float, 16> elements{};

    friend constexpr bool operator==(const Matrix4x4&, const Matrix4x4&) noexcept = default;
};

/// Values that are floats alone, which travel in the order of their members.
template <typename T>
concept UNetFloats = std::same_as<T, Vector2> || std::same_as<T, Vector3> ||
    std::same_as<T, Vector4> || std::same_as<T, Quat> || std::same_as<T, Color> ||
    std::same_as<T, Rect> || std::same_as<T, Plane> || std::same_as<T, Matrix4x4>;

/// A .NET decimal: 96 bits of an integer, and a word with sign (bit 31) and power of ten (bits 16
/// to 23, 0 to 28).
struct Decimal {
    std::int32_t low = 0;
    std::int32_t middle = 0;
    std::int32_t high = 0;
    std::int32_t flags = 0;

    /// The word has no other bits, and the power is one that there is.
    [[nodiscard]] constexpr bool is_valid() const noexcept {
        const auto bits = static_cast<std::uint32_t>(flags);
        return (bits & 0x7F00FFFFU) == 0 && ((bits >> 16) & 0xFF) <= 28;
    }
    friend constexpr bool operator==(const Decimal&, const Decimal&) noexcept = default;
};

/// Names an asset, for example a prefab; all zeros names none.
struct NetworkHash128 {
    std::array<std::byte, 16> bytes{};

    [[nodiscard]] constexpr bool is_valid() const noexcept { return *this != NetworkHash128{}; }
    friend constexpr bool operator==(const NetworkHash128&,
                                     const NetworkHash128&) noexcept = default;
};

/// UNet's netId: names a spawned object; 0 names none.
struct NetworkInstanceId {
    std::uint32_t value = 0;

    [[nodiscard]] constexpr bool is_empty() const noexcept { return value == 0; }
    friend constexpr auto operator<=>(NetworkInstanceId, NetworkInstanceId) noexcept = default;
};

/// Names an object of the scene; 0 names none.
struct NetworkSceneId {
    std::uint32_t value = 0;

    [[nodiscard]] constexpr bool is_empty() const noexcept { return value == 0; }
    friend constexpr auto operator<=>(NetworkSceneId, NetworkSceneId) noexcept = default;
};

}  // namespace replayout
