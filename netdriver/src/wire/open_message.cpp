// SPDX-License-Identifier: MIT
#include "open_message.h"

#include "stable_name.h"

#include <replayout/utf8.h>

#include <bit>
#include <cmath>

namespace replayout {

namespace {

namespace facts {
constexpr std::uint32_t owned = 1u << 0;
constexpr std::uint32_t autonomous = 1u << 1;
constexpr std::uint32_t player = 1u << 2;
constexpr std::uint32_t archetype = 1u << 3;
constexpr std::uint32_t name = 1u << 4;
constexpr std::uint32_t location = 1u << 5;
constexpr std::uint32_t rotation = 1u << 6;
constexpr std::uint32_t scale = 1u << 7;
constexpr std::uint32_t velocity = 1u << 8;
constexpr std::uint32_t outer = 1u << 9;
constexpr std::uint32_t all = (1u << 10) - 1;
constexpr std::uint32_t role = owned | autonomous | player;
}  // namespace facts

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

/// Archetype, outer and name of a record with these facts.
[[nodiscard]] bool read_identity(BitReader& reader, std::uint64_t there,
                                 OpenMessage& open) noexcept {
    if ((there & facts::archetype) != 0) {
        open.archetype.value = reader.read_packed_uint32();
        if (open.archetype.value == 0) {
            return false;
        }
    }
    if ((there & facts::outer) != 0) {
        open.outer = NetGUID{reader.read_packed_uint()};
        if (open.outer.is_null()) {
            return false;
        }
    }
    if ((there & facts::name) != 0) {
        open.parameters.stable_name = read_stable_name(reader);
    }
    return true;
}

}  // namespace

bool is_valid(const SpawnParameters& parameters) noexcept {
    const auto is_finite = [](const std::optional<Vector3>& vector) {
        return !vector.has_value() ||
               (std::isfinite(vector->x) && std::isfinite(vector->y) && std::isfinite(vector->z));
    };
    const std::optional<Quat>& rotation = parameters.rotation;
    const bool is_rotation =
        !rotation.has_value() || (std::isfinite(rotation->x) && std::isfinite(rotation->y) &&
                                  std::isfinite(rotation->z) && std::isfinite(rotation->w));
    return is_finite(parameters.location) && is_finite(parameters.scale) &&
           is_finite(parameters.velocity) && is_rotation &&
           parameters.stable_name.size() <= stable_name_bytes_max &&
           is_valid_utf8(parameters.stable_name);
}

void encode_spawn_record(ArchetypeId archetype, NetGUID outer, const SpawnParameters& parameters,
                         SpawnRecord& record) {
    std::array<std::byte, spawn_record_bytes_max> memory;
    BitWriter writer(memory);
    const auto add = [&record](std::uint32_t fact, bool is_there) {
        record.facts |= is_there ? fact : 0u;
        return is_there;
    };
    if (add(facts::archetype, archetype.value != 0)) {
        writer.write_packed_uint(archetype.value);
    }
    if (add(facts::outer, !outer.is_null())) {
        writer.write_packed_uint(outer.value);
    }
    if (add(facts::name, !parameters.stable_name.empty())) {
        write_stable_name(writer, parameters.stable_name);
    }
    if (add(facts::location, parameters.location.has_value())) {
        write_vector(writer, *parameters.location);
    }
    if (add(facts::rotation, parameters.rotation.has_value())) {
        write_float(writer, parameters.rotation->x);
        write_float(writer, parameters.rotation->y);
        write_float(writer, parameters.rotation->z);
        write_float(writer, parameters.rotation->w);
    }
    if (add(facts::scale, parameters.scale.has_value())) {
        write_vector(writer, *parameters.scale);
    }
    if (add(facts::velocity, parameters.velocity.has_value())) {
        write_vector(writer, *parameters.velocity);
    }
    REPLAYOUT_ASSERT(!writer.overflowed());
    record.bytes.assign(writer.bytes().begin(), writer.bytes().end());
}

std::string_view stable_name_of(const SpawnRecord& record) noexcept {
    if ((record.facts & facts::name) == 0) {
        return {};
    }
    BitReader reader({record.bytes.data(), record.bytes.size()});
    OpenMessage open;
    (void)read_identity(reader, record.facts, open);
    return open.parameters.stable_name;
}

std::uint32_t role_bits(const ObjectRole& role) noexcept {
    return (role.is_owned ? facts::owned : 0u) |
           (role.role == NetRole::AutonomousProxy ? facts::autonomous : 0u) |
           (role.is_player ? facts::player : 0u);
}

bool read_role(std::uint64_t bits, ObjectRole& role) noexcept {
    role.is_owned = (bits & facts::owned) != 0;
    role.role =
        (bits & facts::autonomous) != 0 ? NetRole::AutonomousProxy : NetRole::SimulatedProxy;
    role.is_player = (bits & facts::player) != 0;
    return (bits & ~std::uint64_t{facts::role}) == 0 && (role.is_owned || bits == 0);
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
    const std::uint64_t there = reader.read_packed_uint();
    if ((there & ~std::uint64_t{facts::all}) != 0 || !read_role(there & facts::role, open.role)) {
        return false;
    }
    if (!read_identity(reader, there, open)) {
        return false;
    }
    if ((there & facts::location) != 0) {
        open.parameters.location = read_vector(reader);
    }
    if ((there & facts::rotation) != 0) {
        open.parameters.rotation = read_rotation(reader);
    }
    if ((there & facts::scale) != 0) {
        open.parameters.scale = read_vector(reader);
    }
    if ((there & facts::velocity) != 0) {
        open.parameters.velocity = read_vector(reader);
    }
    return !reader.failed() && reader.bits_left() == 0 && !open.guid.is_null();
}

}  // namespace replayout
