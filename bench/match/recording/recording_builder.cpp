// SPDX-License-Identifier: MIT
#include "match/recording/recording_builder.h"

#include <replayout/reflection/diagnostics.h>

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

Recording RecordingBuilder::finish() {
    REPLAYOUT_ASSERT(target_max_ <= recording_.object_count);
    return std::move(recording_);
}

}  // namespace replayout::match
