// SPDX-License-Identifier: MIT
//
// Makes a Recording call by call and holds its maker to the rules: ids in order, sets only on live
// objects, each value of the type that its field has. What the trace reader checks of a file with
// errors, this asserts of our own code (the built-in battle and the tests).
#pragma once

#include "match/recording/recording.h"

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

    void set_bool(std::uint32_t object, std::uint16_t field, bool value);
    void set_u8(std::uint32_t object, std::uint16_t field, std::uint8_t value);
    void set_u16(std::uint32_t object, std::uint16_t field, std::uint16_t value);
    void set_u32(std::uint32_t object, std::uint16_t field, std::uint32_t value);
    void set_i32(std::uint32_t object, std::uint16_t field, std::int32_t value);
    void set_f32(std::uint32_t object, std::uint16_t field, float value);
    void set_vec3f(std::uint32_t object, std::uint16_t field, const Vec3f& value);
    void set_quatf(std::uint32_t object, std::uint16_t field, const Quatf& value);
    void set_string(std::uint32_t object, std::uint16_t field, std::string_view value);

    /// `target` may be an object that is spawned later; it must be by the time of finish().
    void set_ref(std::uint32_t object, std::uint16_t field, std::uint32_t target);

    [[nodiscard]] std::uint32_t next_object() const noexcept { return recording_.object_count + 1; }
    [[nodiscard]] bool is_live(std::uint32_t object) const noexcept;

    /// The recording; the builder is done afterwards.
    [[nodiscard]] Recording finish();

  private:
    void set(std::uint32_t object, std::uint16_t field, FieldType type,
             std::span<const std::byte> bytes);
    template <typename T>
    void set_number(std::uint32_t object, std::uint16_t field, FieldType type, T value);
    template <std::size_t Count>
    void set_floats(std::uint32_t object, std::uint16_t field, FieldType type,
                    const std::array<float, Count>& values);

    Recording recording_;
    std::vector<std::uint32_t> class_of_object_;  // by id - 1; no_class once destroyed
    std::vector<std::byte> scratch_;
    std::uint32_t target_max_ = 0;
};

}  // namespace replayout::match
