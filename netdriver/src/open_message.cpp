// SPDX-License-Identifier: MIT
#include "open_message.h"

#include "stable_name.h"

#include <bit>
#include <cmath>

namespace replayout {

namespace {

enum OpenFact : std::uint32_t {
    owned_fact = 1u << 0,
    autonomous_fact = 1u << 1,
    player_fact = 1u << 2,
    archetype_fact = 1u << 3,
    name_fact = 1u << 4,
    location_fact = 1u << 5,
    rotation_fact = 1u << 6,
    scale_fact = 1u << 7,
    velocity_fact = 1u << 8,
    outer_fact = 1u << 9,
    all_facts = (1u << 10) - 1,
};
constexpr std::uint32_t role_facts = owned_fact | autonomous_fact | player_fact;

void write_float(BitWriter& writer, float value) noexcept {
    REPLAYOUT_ASSERT(std::isfinite(value));
    writer.write_bits(std::bit_cast<std::uint32_t>(value), 32);
}

void write_vector(BitWriter& writer, const Vector3& vector) noexcept {
    write_float(writer, vector.x);
    write_float(writer, vector.y);
    write_float(writer, vector.z);
}

[[nodiscard]] float read_float(BitReader& reader) noexcept {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(reader.read_bits(32)));
    if (!std::isfinite(value)) {
        reader.fail();
    }
    return value;
}

[[nodiscard]] Vector3 read_vector(BitReader& reader) noexcept {
    Vector3 vector;
    vector.x = read_float(reader);
    vector.y = read_float(reader);
    vector.z = read_float(reader);
    return vector;
}

[[nodiscard]] Quat read_rotation(BitReader& reader) noexcept {
    Quat rotation;
    rotation.x = read_float(reader);
    rotation.y = read_float(reader);
    rotation.z = read_float(reader);
    rotation.w = read_float(reader);
    return rotation;
}

}  // namespace

void encode_spawn_record(ArchetypeId archetype, NetGUID outer, const SpawnParameters& parameters,
                         SpawnRecord& record) {
    std::array<std::byte, 256> memory;
    BitWriter writer(memory);
    const auto add = [&record](OpenFact fact, bool is_there) {
        record.facts |= is_there ? fact : 0u;
        return is_there;
    };
    if (add(archetype_fact, archetype.value != 0)) {
        writer.write_packed_uint(archetype.value);
    }
    if (add(outer_fact, !outer.is_null())) {
        writer.write_packed_uint(outer.value);
    }
    if (add(name_fact, !parameters.stable_name.empty())) {
        write_stable_name(writer, parameters.stable_name);
    }
    if (add(location_fact, parameters.location.has_value())) {
        write_vector(writer, *parameters.location);
    }
    if (add(rotation_fact, parameters.rotation.has_value())) {
        write_float(writer, parameters.rotation->x);
        write_float(writer, parameters.rotation->y);
        write_float(writer, parameters.rotation->z);
        write_float(writer, parameters.rotation->w);
    }
    if (add(scale_fact, parameters.scale.has_value())) {
        write_vector(writer, *parameters.scale);
    }
    if (add(velocity_fact, parameters.velocity.has_value())) {
        write_vector(writer, *parameters.velocity);
    }
    REPLAYOUT_ASSERT(!writer.overflowed());
    record.bytes.assign(writer.bytes().begin(), writer.bytes().end());
}

std::string_view stable_name_of(const SpawnRecord& record) noexcept {
    BitReader reader({record.bytes.data(), record.bytes.size()});
    if ((record.facts & archetype_fact) != 0) {
        (void)reader.read_packed_uint32();
    }
    if ((record.facts & outer_fact) != 0) {
        (void)reader.read_packed_uint();
    }
    return (record.facts & name_fact) != 0 ? read_stable_name(reader) : std::string_view();
}

std::uint32_t role_bits(const ObjectRole& role) noexcept {
    return (role.is_owned ? owned_fact : 0u) |
           (role.role == NetRole::AutonomousProxy ? autonomous_fact : 0u) |
           (role.is_player ? player_fact : 0u);
}

bool read_role(std::uint64_t bits, ObjectRole& role) noexcept {
    role.is_owned = (bits & owned_fact) != 0;
    role.role = (bits & autonomous_fact) != 0 ? NetRole::AutonomousProxy : NetRole::SimulatedProxy;
    role.is_player = (bits & player_fact) != 0;
    return (bits & ~std::uint64_t{role_facts}) == 0 && (role.is_owned || bits == 0);
}

OpenPayload::OpenPayload(NetGUID guid, std::uint32_t layout_number, const ObjectRole& role,
                         const SpawnRecord* record) noexcept {
    BitWriter writer(memory_);
    writer.write_packed_uint(guid.value);
    writer.write_packed_uint(layout_number);
    writer.write_packed_uint(role_bits(role) | (record != nullptr ? record->facts : 0));
    if (record != nullptr) {
        writer.write_bytes({record->bytes.data(), record->bytes.size()});
    }
    size_ = writer.byte_count();
}

bool read_open(std::span<const std::byte> message, OpenMessage& open) noexcept {
    BitReader reader(message);
    open.guid = NetGUID{reader.read_packed_uint()};
    open.layout_number = reader.read_packed_uint();
    const std::uint64_t facts = reader.read_packed_uint();
    if ((facts & ~std::uint64_t{all_facts}) != 0 || !read_role(facts & role_facts, open.role)) {
        return false;
    }
    if ((facts & archetype_fact) != 0) {
        open.archetype.value = reader.read_packed_uint32();
        if (open.archetype.value == 0) {
            return false;
        }
    }
    if ((facts & outer_fact) != 0) {
        open.outer = NetGUID{reader.read_packed_uint()};
        if (open.outer.is_null()) {
            return false;
        }
    }
    if ((facts & name_fact) != 0) {
        open.parameters.stable_name = read_stable_name(reader);
    }
    if ((facts & location_fact) != 0) {
        open.parameters.location = read_vector(reader);
    }
    if ((facts & rotation_fact) != 0) {
        open.parameters.rotation = read_rotation(reader);
    }
    if ((facts & scale_fact) != 0) {
        open.parameters.scale = read_vector(reader);
    }
    if ((facts & velocity_fact) != 0) {
        open.parameters.velocity = read_vector(reader);
    }
    return !reader.failed() && reader.bits_left() == 0 && !open.guid.is_null();
}

}  // namespace replayout
