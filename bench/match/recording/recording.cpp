// SPDX-License-Identifier: MIT
#include "match/recording/recording.h"

#include "match/recording/little_endian.h"

#include <replayout/reflection/diagnostics.h>

#include <array>
#include <cmath>
#include <limits>

namespace replayout::match {

namespace {

struct TypeTraits {
    std::string_view name;
    std::size_t size;
};

constexpr std::array<TypeTraits, field_type_count> type_traits{{{"bool", 1},
                                                                {"u8", 1},
                                                                {"u16", 2},
                                                                {"u32", 4},
                                                                {"i32", 4},
                                                                {"f32", 4},
                                                                {"vec3f", 12},
                                                                {"quatf", 16},
                                                                {"string", 0},
                                                                {"objectref", 4}}};

// The format promises 1e-6, and the recordings known keep to 7e-8. Ten times the promise is still
// far below anything that a quaternion codec would trip over, and forgives a writer that rounds
// twice.
constexpr double unit_length_tolerance = 1e-5;

[[nodiscard]] std::string_view float_fault(FieldType type,
                                           std::span<const std::byte> bytes) noexcept {
    double length_squared = 0.0;
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(float)) {
        const double component = static_cast<double>(load_le<float>(bytes.subspan(i)));
        if (!std::isfinite(component)) {
            return "is NaN or infinite";
        }
        length_squared += component * component;
    }
    if (type == FieldType::Quatf &&
        std::abs(std::sqrt(length_squared) - 1.0) > unit_length_tolerance) {
        return "is not of unit length";
    }
    return {};
}

struct Utf8Lead {
    std::size_t follow_count;
    std::uint32_t value;
    std::uint32_t value_min;  // below it the encoding would not be the shortest
};

[[nodiscard]] bool read_utf8_lead(std::uint32_t byte, Utf8Lead& lead) noexcept {
    if (byte < 0x80) {
        lead = {0, byte, 0};
    } else if ((byte & 0xE0) == 0xC0) {
        lead = {1, byte & 0x1F, 0x80};
    } else if ((byte & 0xF0) == 0xE0) {
        lead = {2, byte & 0x0F, 0x800};
    } else if ((byte & 0xF8) == 0xF0) {
        lead = {3, byte & 0x07, 0x10000};
    } else {
        return false;
    }
    return true;
}

}  // namespace

std::size_t fixed_size(FieldType type) noexcept {
    const auto index = static_cast<std::size_t>(type);
    REPLAYOUT_ASSERT(index < field_type_count);
    return type_traits[index].size;
}

std::string_view to_string(FieldType type) noexcept {
    const auto index = static_cast<std::size_t>(type);
    REPLAYOUT_ASSERT(index < field_type_count);
    return type_traits[index].name;
}

std::span<const Op> Recording::ops_of_tick(std::size_t tick) const noexcept {
    REPLAYOUT_ASSERT(tick < tick_ends.size());
    const std::size_t first = tick == 0 ? 0 : tick_ends[tick - 1];
    return std::span<const Op>(ops).subspan(first, tick_ends[tick] - first);
}

std::span<const std::byte> Recording::value(const Op& op) const noexcept {
    REPLAYOUT_ASSERT(op.kind == OpKind::Set);
    REPLAYOUT_ASSERT(std::size_t{op.value_offset} + op.value_size <= values.size());
    return std::span<const std::byte>(values).subspan(op.value_offset, op.value_size);
}

std::string_view Recording::text(const Op& op) const noexcept {
    const std::span<const std::byte> bytes = value(op);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void Recording::begin_tick(double time_s) {
    REPLAYOUT_ASSERT(std::isfinite(time_s));
    REPLAYOUT_ASSERT(tick_times_s.empty() || time_s >= tick_times_s.back());
    tick_times_s.push_back(time_s);
    tick_ends.push_back(static_cast<std::uint32_t>(ops.size()));
}

void Recording::append(const Op& op) {
    REPLAYOUT_ASSERT(!tick_ends.empty());
    REPLAYOUT_ASSERT(ops.size() < std::numeric_limits<std::uint32_t>::max());
    ops.push_back(op);
    tick_ends.back() = static_cast<std::uint32_t>(ops.size());
}

void Recording::append_spawn(std::uint32_t object, std::uint16_t class_index) {
    REPLAYOUT_ASSERT(object == object_count + 1);
    REPLAYOUT_ASSERT(class_index < classes.size());
    object_count = object;
    append({.object = object, .class_or_field = class_index, .kind = OpKind::Spawn});
}

void Recording::append_set(std::uint32_t object, std::uint16_t field,
                           std::span<const std::byte> value_bytes) {
    REPLAYOUT_ASSERT(object != 0 && object <= object_count);
    REPLAYOUT_ASSERT(values.size() <=
                     std::numeric_limits<std::uint32_t>::max() - value_bytes.size());
    append({.object = object,
            .value_offset = static_cast<std::uint32_t>(values.size()),
            .value_size = static_cast<std::uint32_t>(value_bytes.size()),
            .class_or_field = field,
            .kind = OpKind::Set});
    values.insert(values.end(), value_bytes.begin(), value_bytes.end());
    ++set_count;
}

void Recording::append_destroy(std::uint32_t object) {
    REPLAYOUT_ASSERT(object != 0 && object <= object_count);
    append({.object = object, .kind = OpKind::Destroy});
    ++destroy_count;
}

std::string_view value_fault(FieldType type, std::span<const std::byte> bytes,
                             std::uint32_t object_count) noexcept {
    if (type != FieldType::String && bytes.size() != fixed_size(type)) {
        return "has the wrong size";
    }
    switch (type) {
        case FieldType::Bool:
            return load_le<std::uint8_t>(bytes) > 1 ? "is neither 0 nor 1" : "";
        case FieldType::F32:
        case FieldType::Vec3f:
        case FieldType::Quatf:
            return float_fault(type, bytes);
        case FieldType::String:
            if (bytes.size() > std::numeric_limits<std::uint16_t>::max()) {
                return "is longer than 65,535 bytes";
            }
            return is_utf8(bytes) ? "" : "is not valid UTF-8";
        case FieldType::ObjectRef:
            return load_le<std::uint32_t>(bytes) > object_count ? "names an object that never is"
                                                                : "";
        case FieldType::U8:
        case FieldType::U16:
        case FieldType::U32:
        case FieldType::I32:
            return {};
    }
    return {};
}

bool is_utf8(std::span<const std::byte> bytes) noexcept {
    for (std::size_t i = 0; i < bytes.size();) {
        Utf8Lead lead{};
        if (!read_utf8_lead(std::to_integer<std::uint32_t>(bytes[i]), lead) ||
            lead.follow_count >= bytes.size() - i) {
            return false;
        }
        std::uint32_t value = lead.value;
        for (std::size_t k = 1; k <= lead.follow_count; ++k) {
            const auto byte = std::to_integer<std::uint32_t>(bytes[i + k]);
            if ((byte & 0xC0) != 0x80) {
                return false;
            }
            value = (value << 6) | (byte & 0x3F);
        }
        const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
        if (value < lead.value_min || value > 0x10FFFF || is_surrogate) {
            return false;
        }
        i += lead.follow_count + 1;
    }
    return true;
}

}  // namespace replayout::match
