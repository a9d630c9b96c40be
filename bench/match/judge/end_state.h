// SPDX-License-Identifier: MIT
//
// The state at the end of a match and its checksum, by which two programs find out whether they
// agree.
//
// The rule (that of the trace format): CRC-32 over the objects that are live, in ascending id. Of
// each
//
//     u32 id | u16 class | of every field that has been set, ascending: u16 field index, value
//
// with numbers little-endian and a value as the trace file encodes it, so a string carries its u16
// length. Fields never set take no part, though they have a value (zero).
//
// Two doors, because the question is asked of two parties:
//  * EndState plays the recording and is the truth: who is live, which fields were ever set,
//    and to what.
//  * EndStateCrc is the rule alone, fed value by value. The checker of a client walks the truth
//    for ids and field indexes and feeds what the *client* holds there:
//
//        EndStateCrc crc;
//        truth.for_each_live(
//            [&](std::uint32_t id, std::uint16_t class_index, const SetFields& fields) {
//                crc.object(id, class_index);
//                for (const auto& [index, field] : fields) {
//                    crc.field(index, field.type, value_of_client(id, index));
//                }
//            });
//
// Several recordings side by side are one checksum too: their end states one after the other, each
// with its own ids from 1, into the same EndStateCrc.
//
// Values are compared and kept by their bytes: 0.0 and -0.0 are two values.
#pragma once

#include "match/recording/recording.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace replayout::match {

class EndStateCrc {
  public:
    EndStateCrc() = default;

    /// Goes on from value() of an earlier one.
    explicit EndStateCrc(std::uint32_t continued_from) noexcept : crc_(continued_from) {}

    /// Starts an object. Objects come in ascending id within a recording.
    void object(std::uint32_t id, std::uint16_t class_index) noexcept;

    /// A field of the object started last, in ascending index. `value` is as Recording::value()
    /// gives it: a string without its length, which is added here (and so at most 65,535 bytes).
    void field(std::uint16_t index, FieldType type, std::span<const std::byte> value) noexcept;

    [[nodiscard]] std::uint32_t value() const noexcept { return crc_; }

  private:
    std::uint32_t crc_ = 0;
};

/// The value that a field has now; encoded as in Recording::value().
struct SetField {
    FieldType type = FieldType::Bool;
    std::vector<std::byte> value;
};

/// The fields of an object that have been set, by field index.
// A sorted vector would be smaller, but a file may set 65,535 fields in falling order again and
// again, and each insertion at the front would move all that are there: minutes for a file of a
// megabyte.
using SetFields = std::map<std::uint16_t, SetField>;

/// The world of one recording, as far as ops have been applied. A recording is valid by
/// construction, so what the ops say is asserted, not checked.
class EndState {
  public:
    /// Nothing applied yet. The recording is a loan for the life of this object.
    explicit EndState(const Recording& recording) : recording_(&recording) {}

    void apply_tick(std::size_t tick);
    void apply(const Op& op);

    // The same three changes one at a time, for values that are not in the recording's arena.
    void spawn(std::uint32_t object, std::uint16_t class_index);
    void set(std::uint32_t object, std::uint16_t field, std::span<const std::byte> value);
    void destroy(std::uint32_t object);

    [[nodiscard]] bool is_live(std::uint32_t object) const noexcept;
    [[nodiscard]] std::size_t live_count() const noexcept { return live_count_; }

    /// Class index of a live object.
    [[nodiscard]] std::uint16_t class_of(std::uint32_t object) const noexcept;

    /// What has been set on a live object.
    [[nodiscard]] const SetFields& fields_of(std::uint32_t object) const noexcept;

    /// Calls visit(id, class_index, fields) for every live object, in ascending id.
    template <typename Visitor>
    void for_each_live(Visitor&& visit) const {
        for (std::size_t i = 0; i < objects_.size(); ++i) {
            if (objects_[i].is_live) {
                visit(static_cast<std::uint32_t>(i + 1), objects_[i].class_index,
                      objects_[i].fields);
            }
        }
    }

    /// Adds this state to a checksum that may already hold that of other recordings.
    void add_to(EndStateCrc& crc) const;

    /// The checksum of this state alone.
    [[nodiscard]] std::uint32_t crc() const;

  private:
    struct Object {
        std::uint16_t class_index = 0;
        bool is_live = false;
        SetFields fields;
    };

    [[nodiscard]] const Object& live_object(std::uint32_t object) const noexcept;
    [[nodiscard]] Object& live_object(std::uint32_t object) noexcept;

    const Recording* recording_;
    std::vector<Object> objects_;  // by id - 1
    std::size_t live_count_ = 0;
};

/// The checksum after the last tick of a recording.
[[nodiscard]] std::uint32_t end_state_crc32(const Recording& recording);

}  // namespace replayout::match
