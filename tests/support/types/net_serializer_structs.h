// SPDX-License-Identifier: MIT
//
// Two structs that serialize themselves, one of plain members and one that owns memory, each
// registered twice: with and without shared serialization. And one that writes deltas.
#pragma once

#include <replayout/net_archive.h>
#include <replayout/net_delta.h>
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

/// Writes which counts grew by how much, which is right on one base alone, and the sum of that
/// base, which a reader compares with what it holds.
struct Tally {
    std::string label;
    std::vector<std::int32_t> counts;

    bool net_delta_serialize(NetDeltaInfo& info);
    friend bool operator==(const Tally&, const Tally&) = default;

  private:
    [[nodiscard]] bool write(NetDeltaInfo& info) const;
    [[nodiscard]] bool read(NetDeltaInfo& info);
};

inline constexpr std::uint32_t parcel_label_bytes_max = 8'192;
inline constexpr std::uint32_t parcel_contents_max = 2'048;

/// Registers all four, members described.
[[nodiscard]] std::array<const Type*, 4> add_net_serializer_structs(TypeRegistry& registry);
/// Registers Tally, members described.
[[nodiscard]] const Type* add_net_delta_struct(TypeRegistry& registry);

}  // namespace replayout::test
