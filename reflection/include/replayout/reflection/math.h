// SPDX-License-Identifier: MIT
//
// The aggregates that travel as one property. An engine keeps its own vector types and tells
// the typed builder so by specialising KindOf (type_builder.h): what counts is the memory, three or
// four floats in this order without padding.
#pragma once

namespace replayout {

struct Vector3 {
    float x = 0.0f;
    float y = 0.0f;
    float z = 0.0f;

    friend constexpr bool operator==(const Vector3&, const Vector3&) noexcept = default;
};

/// Degrees. How they turn something, and in which order, is the engine's business.
struct Rotator {
    float pitch = 0.0f;
    float yaw = 0.0f;
    float roll = 0.0f;

    friend constexpr bool operator==(const Rotator&, const Rotator&) noexcept = default;
};

struct Quat {
    float x = 0.0f;
    float y = 0.0f;
    float z = 0.0f;
    float w = 1.0f;

    friend constexpr bool operator==(const Quat&, const Quat&) noexcept = default;
};

}  // namespace replayout
