// SPDX-License-Identifier: MIT
//
// Makes a Recording call by call and holds its maker to the rules: ids in order, sets only on live
// objects, each value of the type that its field has. What the trace reader checks of a file with
// errors, this asserts of our own code (the built-in battle and the tests).
#pragma once

#include "match/recording/little_endian.h"
#include "match/recording/recording.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace replayout::match {

using Vec3f = std::array<float, 3>;  ///< x, y, z
using Quatf = std::array<float, 4>;  ///< x, y, z, w

class RecordingBuilder {
  public:
    RecordingBuilder(std::string name, std::string source, float tick_rate_hz,
                     std::vector<ClassInfo> classes);

    /// The calls below belong to this tick until the next. Times must not go back.
    void begin_tick(double time_s);

    /// The id of the new object, which is what next_object() said before.
    std::uint32_t spawn(std::uint16_t class_index);
    void destroy(std::uint32_t object);

    void set_bool(std::uint32_t object, std::uint16_t field, bool value) {
        set_numbers(object, field, FieldType::Bool, std::array<std::uint8_t, 1>{value});
    }
    void set_u8(std::uint32_t object, std::uint16_t field, std::uint8_t value) {
        set_numbers(object, field, FieldType::U8, std::array<std::uint8_t, 1>{value});
    }
    void set_u16(std::uint32_t object, std::uint16_t field, std::uint16_t value) {
        set_numbers(object, field, FieldType::U16, std::array<std::uint16_t, 1>{value});
    }
    void set_u32(std::uint32_t object, std::uint16_t field, std::uint32_t value) {
        set_numbers(object, field, FieldType::U32, std::array<std::uint32_t, 1>{value});
    }
    void set_i32(std::uint32_t object, std::uint16_t field, std::int32_t value) {
        set_numbers(object, field, FieldType::I32, std::array<std::int32_t, 1>{value});
    }
    void set_f32(std::uint32_t object, std::uint16_t field, float value) {
        set_numbers(object, field, FieldType::F32, std::array<float, 1>{value});
    }
    void set_vec3f(std::uint32_t object, std::uint16_t field, const Vec3f& value) {
        set_numbers(object, field, FieldType::Vec3f, value);
    }
    void set_quatf(std::uint32_t object, std::uint16_t field, const Quatf& value) {
        set_numbers(object, field, FieldType::Quatf, value);
    }
    void set_string(std::uint32_t object, std::uint16_t field, std::string_view value) {
        set(object, field, FieldType::String, std::as_bytes(std::span(value)));
    }
    /// `target` may be an object that is spawned later; it must be by the time of finish().
    void set_ref(std::uint32_t object, std::uint16_t field, std::uint32_t target) {
        target_max_ = std::max(target_max_, target);
        set_numbers(object, field, FieldType::ObjectRef, std::array<std::uint32_t, 1>{target});
    }

    [[nodiscard]] std::uint32_t next_object() const noexcept { return recording_.object_count + 1; }
    [[nodiscard]] bool is_live(std::uint32_t object) const noexcept;

    /// The recording; the builder is done afterwards.
    [[nodiscard]] Recording finish();

  private:
    void set(std::uint32_t object, std::uint16_t field, FieldType type,
             std::span<const std::byte> bytes);
    template <typename T, std::size_t Count>
    void set_numbers(std::uint32_t object, std::uint16_t field, FieldType type,
                     const std::array<T, Count>& numbers) {
        scratch_.clear();
        for (const T number : numbers) {
            append_le(scratch_, number);
        }
        set(object, field, type, scratch_);
    }

    Recording recording_;
    std::vector<std::uint32_t> class_of_object_;  // by id - 1; no_class once destroyed
    std::vector<std::byte> scratch_;
    std::uint32_t target_max_ = 0;
};

}  // namespace replayout::match
