// SPDX-License-Identifier: MIT
//
// Two structs that serialize themselves, one of plain members and one that owns memory, each
// registered twice: with and without shared serialization.
#pragma once

#include <replayout/net_archive.h>
#include <replayout/reflection/type_registry.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace replayout::test {

struct Stamp {
    std::uint32_t number = 7;
    std::uint8_t flavour = 0;  // and three bytes that nobody may compare
    std::uint64_t serial = 0;

    bool net_serialize(NetArchive& archive, PackageMap* map, bool& ok);
    friend bool operator==(const Stamp&, const Stamp&) noexcept = default;
};

struct Parcel {
    std::string label;
    std::vector<std::int32_t> contents;

    bool net_serialize(NetArchive& archive, PackageMap* map, bool& ok);
    [[nodiscard]] bool identical(const Parcel& other) const {
        return label == other.label && contents == other.contents;
    }
    void copy_from(const Parcel& other) {
        label = other.label;
        contents = other.contents;
    }
};

inline constexpr std::uint32_t parcel_label_bytes_max = 8'192;
inline constexpr std::uint32_t parcel_contents_max = 2'048;

/// Registers all four, members described.
[[nodiscard]] std::array<const Type*, 4> add_net_serializer_structs(TypeRegistry& registry);

}  // namespace replayout::test
