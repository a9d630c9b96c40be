// SPDX-License-Identifier: MIT
#include "savings/serializer_rows.h"

#include "instructions/hit_workload.h"

#include <replayout/net_archive.h>
#include <replayout/reflection/reflection.h>

#include <array>
#include <cmath>

namespace replayout::bench {

namespace {

/// A place and a bone that change, as a programmer packs them who thinks of bytes: both values, and
/// a byte for which.
void write_change(float place, float place_before, std::uint16_t bone, std::uint16_t bone_before,
                  HandWriter& out) {
    const auto hundredths = static_cast<std::int32_t>(place * 100);
    out.number(
        static_cast<std::uint8_t>((place != place_before ? 1 : 0) + (bone != bone_before ? 2 : 0)));
    out.number(static_cast<std::uint16_t>(hundredths));
    out.number(static_cast<std::uint8_t>(hundredths >> 16));
    out.number(bone);
}

/// A path of forty places, each in six bytes.
struct Path {
    static constexpr std::size_t place_count = 40;
    std::array<std::array<float, 3>, place_count> places{};

    [[nodiscard]] bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        for (std::array<float, 3>& place : places) {
            for (float& part : place) {
                auto bits = static_cast<std::uint16_t>(static_cast<std::int32_t>(part * 8));
                archive.serialize(bits);
                if (archive.is_loading()) {
                    part = static_cast<float>(static_cast<std::int16_t>(bits)) / 8;
                }
            }
        }
        return true;
    }
    friend bool operator==(const Path&, const Path&) = default;
};

/// A pose of which the angles are packed by trigonometry, as compressors of animations do.
struct Pose {
    static constexpr std::size_t joint_count = 12;
    std::array<float, joint_count> angles{};

    [[nodiscard]] bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        for (float& angle : angles) {
            const float cosine = std::cos(angle);
            const float sine = std::sin(angle);
            auto bits = static_cast<std::uint16_t>((std::atan2(sine, cosine) + 3.2f) * 10'000.0f);
            archive.serialize(bits);
            if (archive.is_loading()) {
                angle = static_cast<float>(bits) / 10'000.0f - 3.2f;
            }
        }
        return true;
    }
    friend bool operator==(const Pose&, const Pose&) = default;
};

}  // namespace

}  // namespace replayout::bench

template <>
struct replayout::StructTraitsOf<replayout::bench::Path> : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_shared_serialization = true;
};
template <>
struct replayout::StructTraitsOf<replayout::bench::Pose> : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_shared_serialization = true;
};

namespace replayout::bench {

namespace {

struct Walk {
    Path path;
    std::int32_t speed = 0;

    friend bool operator==(const Walk&, const Walk&) = default;
};
struct Dancer {
    Pose pose;
    std::int32_t mood = 0;

    friend bool operator==(const Dancer&, const Dancer&) = default;
};
/// A Target without a serializer.
struct PlainTarget {
    Vector3 place;
    Vector3 normal{0, 0, 1};
    std::uint16_t bone = 0;
    std::uint8_t material = 0;
    std::int32_t health = 0;

    friend bool operator==(const PlainTarget&, const PlainTarget&) = default;
};

}  // namespace

SavingsRow small_serializers() {
    return make_row<Target>({
        .name = "shared NetSerializer",
        .changes = "200 structs of 15 bytes",
        .declare = declare_target,
        .change = [](Target& target, std::uint32_t,
                     std::uint64_t turn) { change_hit(target.hit, turn + 1); },
        .write =
            [](const Target& now, const Target& before, HandWriter& out) {
                write_change(now.hit.x, before.hit.x, now.hit.bone, before.hit.bone, out);
            },
    });
}

SavingsRow large_serializers() {
    return make_row<Walk>({
        .name = "the same, large",
        .changes = "200 structs of 240 bytes, of which a fifth changes",
        .declare = [](TypeRegistry& registry) -> Result<const Type*> {
            if (const auto path = struct_builder<Path>(registry, "Path").build(); !path) {
                return path;
            }
            return class_builder<Walk>(registry, "Walk")
                .property<&Walk::path>()
                .property<&Walk::speed>()
                .build();
        },
        .change =
            [](Walk& walk, std::uint32_t index, std::uint64_t turn) {
                walk.path.places[(index + turn) % Path::place_count][0] =
                    static_cast<float>(turn % 4'000 + 1);
            },
        .write =
            [](const Walk& now, const Walk&, HandWriter& out) {
                for (const std::array<float, 3>& place : now.path.places) {
                    for (const float part : place) {
                        out.number(static_cast<std::int16_t>(part * 8));
                    }
                }
            },
        .period_ticks = 5,
    });
}

SavingsRow costly_serializers() {
    return make_row<Dancer>({
        .name = "the same, costly to call",
        .changes = "200 structs of 24 bytes, packed by trigonometry",
        .declare = [](TypeRegistry& registry) -> Result<const Type*> {
            if (const auto pose = struct_builder<Pose>(registry, "Pose").build(); !pose) {
                return pose;
            }
            return class_builder<Dancer>(registry, "Dancer")
                .property<&Dancer::pose>()
                .property<&Dancer::mood>()
                .build();
        },
        .change =
            [](Dancer& dancer, std::uint32_t index, std::uint64_t turn) {
                dancer.pose.angles[(index + turn) % Pose::joint_count] =
                    static_cast<float>(turn % 3'000 + 1) / 1'000.0f;
            },
        .write =
            [](const Dancer& now, const Dancer&, HandWriter& out) {
                for (const float angle : now.pose.angles) {
                    const float packed = std::atan2(std::sin(angle), std::cos(angle)) + 3.2f;
                    out.number(static_cast<std::uint16_t>(packed * 10'000.0f));
                }
            },
    });
}

SavingsRow plain_members(double loss) {
    return make_row<PlainTarget>(
        {
            .name = "plain members",
            .changes = "the data of the first row, quantised",
            .declare = [](TypeRegistry& registry) -> Result<const Type*> {
                return class_builder<PlainTarget>(registry, "PlainTarget")
                    .property<&PlainTarget::place>()
                    .quantised(Quantisation::hundredth())
                    .property<&PlainTarget::normal>()
                    .quantised(Quantisation::normal())
                    .property<&PlainTarget::bone>()
                    .property<&PlainTarget::material>()
                    .property<&PlainTarget::health>()
                    .build();
            },
            .change =
                [](PlainTarget& target, std::uint32_t, std::uint64_t turn) {
                    target.place.x = static_cast<float>((turn + 1) % 50'000);
                    target.bone = static_cast<std::uint16_t>(turn + 1);
                },
            .write =
                [](const PlainTarget& now, const PlainTarget& before, HandWriter& out) {
                    write_change(now.place.x, before.place.x, now.bone, before.bone, out);
                },
        },
        loss);
}

}  // namespace replayout::bench
