// SPDX-License-Identifier: MIT
#include "match/recording/recording_builder.h"

#include "match/recording/little_endian.h"

#include <replayout/reflection/diagnostics.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace replayout::match {

RecordingBuilder::RecordingBuilder(std::string name, std::string source, float tick_rate_hz,
                                   std::vector<ClassInfo> classes) {
    REPLAYOUT_ASSERT(tick_rate_hz > 0.0F);
    recording_.name = std::move(name);
    recording_.source = std::move(source);
    recording_.tick_rate_hz = tick_rate_hz;
    recording_.classes = std::move(classes);
}

void RecordingBuilder::begin_tick(double time_s) {
    recording_.begin_tick(time_s);
}

std::uint32_t RecordingBuilder::spawn(std::uint16_t class_index) {
    const std::uint32_t object = next_object();
    recording_.append_spawn(object, class_index);
    class_of_object_.push_back(class_index);
    return object;
}

void RecordingBuilder::destroy(std::uint32_t object) {
    REPLAYOUT_ASSERT(is_live(object));
    recording_.append_destroy(object);
    class_of_object_[object - 1] = no_class;
}

bool RecordingBuilder::is_live(std::uint32_t object) const noexcept {
    return object != 0 && object <= class_of_object_.size() &&
           class_of_object_[object - 1] != no_class;
}

void RecordingBuilder::set(std::uint32_t object, std::uint16_t field, FieldType type,
                           std::span<const std::byte> bytes) {
    REPLAYOUT_ASSERT(is_live(object));
    REPLAYOUT_ASSERT(field < recording_.classes[class_of_object_[object - 1]].fields.size());
    REPLAYOUT_ASSERT(recording_.classes[class_of_object_[object - 1]].fields[field].type == type);
    REPLAYOUT_ASSERT(value_fault(type, bytes, std::numeric_limits<std::uint32_t>::max()).empty());
    recording_.append_set(object, field, bytes);
}

template <typename T>
void RecordingBuilder::set_number(std::uint32_t object, std::uint16_t field, FieldType type,
                                  T value) {
    scratch_.clear();
    append_le(scratch_, value);
    set(object, field, type, scratch_);
}

template <std::size_t Count>
void RecordingBuilder::set_floats(std::uint32_t object, std::uint16_t field, FieldType type,
                                  const std::array<float, Count>& values) {
    scratch_.clear();
    for (const float value : values) {
        append_le(scratch_, value);
    }
    set(object, field, type, scratch_);
}

void RecordingBuilder::set_bool(std::uint32_t object, std::uint16_t field, bool value) {
    const std::uint8_t byte = value ? 1 : 0;
    set_number(object, field, FieldType::Bool, byte);
}

void RecordingBuilder::set_u8(std::uint32_t object, std::uint16_t field, std::uint8_t value) {
    set_number(object, field, FieldType::U8, value);
}

void RecordingBuilder::set_u16(std::uint32_t object, std::uint16_t field, std::uint16_t value) {
    set_number(object, field, FieldType::U16, value);
}

void RecordingBuilder::set_u32(std::uint32_t object, std::uint16_t field, std::uint32_t value) {
    set_number(object, field, FieldType::U32, value);
}

void RecordingBuilder::set_i32(std::uint32_t object, std::uint16_t field, std::int32_t value) {
    set_number(object, field, FieldType::I32, value);
}

void RecordingBuilder::set_f32(std::uint32_t object, std::uint16_t field, float value) {
    set_number(object, field, FieldType::F32, value);
}

void RecordingBuilder::set_vec3f(std::uint32_t object, std::uint16_t field, const Vec3f& value) {
    set_floats(object, field, FieldType::Vec3f, value);
}

void RecordingBuilder::set_quatf(std::uint32_t object, std::uint16_t field, const Quatf& value) {
    set_floats(object, field, FieldType::Quatf, value);
}

void RecordingBuilder::set_string(std::uint32_t object, std::uint16_t field,
                                  std::string_view value) {
    set(object, field, FieldType::String, std::as_bytes(std::span(value)));
}

void RecordingBuilder::set_ref(std::uint32_t object, std::uint16_t field, std::uint32_t target) {
    target_max_ = std::max(target_max_, target);
    set_number(object, field, FieldType::ObjectRef, target);
}

Recording RecordingBuilder::finish() {
    REPLAYOUT_ASSERT(target_max_ <= recording_.object_count);
    return std::move(recording_);
}

}  // namespace replayout::match
