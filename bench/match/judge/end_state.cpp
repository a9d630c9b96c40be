// SPDX-License-Identifier: MIT
#include "match/judge/end_state.h"

#include <replayout/reflection/diagnostics.h>

#include <zlib.h>

#include <array>
#include <limits>

namespace replayout::match {

namespace {

[[nodiscard]] std::uint32_t continue_crc(std::uint32_t crc,
                                         std::span<const std::byte> bytes) noexcept {
    // No value is longer than a string, 65,535 bytes, so the size fits whatever uInt is. zlib takes
    // a null pointer for "start anew", which an empty value must not do.
    if (bytes.empty()) {
        return crc;
    }
    return static_cast<std::uint32_t>(::crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()),
                                              static_cast<uInt>(bytes.size())));
}

[[nodiscard]] std::uint32_t continue_crc_u16(std::uint32_t crc, std::uint16_t value) noexcept {
    const std::array<std::byte, 2> bytes{static_cast<std::byte>(value & 0xFF),
                                         static_cast<std::byte>(value >> 8)};
    return continue_crc(crc, bytes);
}

}  // namespace

void EndStateCrc::object(std::uint32_t id, std::uint16_t class_index) noexcept {
    crc_ = continue_crc_u16(crc_, static_cast<std::uint16_t>(id & 0xFFFF));
    crc_ = continue_crc_u16(crc_, static_cast<std::uint16_t>(id >> 16));
    crc_ = continue_crc_u16(crc_, class_index);
}

void EndStateCrc::field(std::uint16_t index, FieldType type,
                        std::span<const std::byte> value) noexcept {
    crc_ = continue_crc_u16(crc_, index);
    if (type == FieldType::String) {
        REPLAYOUT_ASSERT(value.size() <= std::numeric_limits<std::uint16_t>::max());
        crc_ = continue_crc_u16(crc_, static_cast<std::uint16_t>(value.size()));
    } else {
        REPLAYOUT_ASSERT(value.size() == fixed_size(type));
    }
    crc_ = continue_crc(crc_, value);
}

void EndState::apply_tick(std::size_t tick) {
    for (const Op& op : recording_->ops_of_tick(tick)) {
        apply(op);
    }
}

void EndState::apply(const Op& op) {
    switch (op.kind) {
        case OpKind::Spawn:
            spawn(op.object, op.class_or_field);
            break;
        case OpKind::Set:
            set(op.object, op.class_or_field, recording_->value(op));
            break;
        case OpKind::Destroy:
            destroy(op.object);
            break;
    }
}

void EndState::spawn(std::uint32_t object, std::uint16_t class_index) {
    REPLAYOUT_ASSERT(object == objects_.size() + 1);
    REPLAYOUT_ASSERT(class_index < recording_->classes.size());
    objects_.push_back({.class_index = class_index, .is_live = true, .fields = {}});
    ++live_count_;
}

void EndState::set(std::uint32_t object, std::uint16_t field, std::span<const std::byte> value) {
    Object& target = live_object(object);
    const ClassInfo& class_info = recording_->classes[target.class_index];
    REPLAYOUT_ASSERT(field < class_info.fields.size());

    SetField& set_field = target.fields[field];
    set_field.type = class_info.fields[field].type;
    set_field.value.assign(value.begin(), value.end());
}

void EndState::destroy(std::uint32_t object) {
    Object& target = live_object(object);
    target.is_live = false;
    target.fields.clear();
    --live_count_;
}

bool EndState::is_live(std::uint32_t object) const noexcept {
    return object != 0 && object <= objects_.size() && objects_[object - 1].is_live;
}

const EndState::Object& EndState::live_object(std::uint32_t object) const noexcept {
    REPLAYOUT_ASSERT(is_live(object));
    return objects_[object - 1];
}

EndState::Object& EndState::live_object(std::uint32_t object) noexcept {
    REPLAYOUT_ASSERT(is_live(object));
    return objects_[object - 1];
}

std::uint16_t EndState::class_of(std::uint32_t object) const noexcept {
    return live_object(object).class_index;
}

const SetFields& EndState::fields_of(std::uint32_t object) const noexcept {
    return live_object(object).fields;
}

void EndState::add_to(EndStateCrc& crc) const {
    for_each_live([&crc](std::uint32_t id, std::uint16_t class_index, const SetFields& fields) {
        crc.object(id, class_index);
        for (const auto& [index, field] : fields) {
            crc.field(index, field.type, field.value);
        }
    });
}

std::uint32_t EndState::crc() const {
    EndStateCrc crc;
    add_to(crc);
    return crc.value();
}

std::uint32_t end_state_crc32(const Recording& recording) {
    EndState state(recording);
    for (std::size_t tick = 0; tick < recording.tick_count(); ++tick) {
        state.apply_tick(tick);
    }
    return state.crc();
}

}  // namespace replayout::match
