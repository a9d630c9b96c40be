// SPDX-License-Identifier: MIT
//
// What a NetSerializer is handed: one object for both directions, so that a struct writes its
// serialization once.
//
//     bool Hit::net_serialize(NetArchive& archive, PackageMap* map, bool& ok) {
//         archive.serialize(point.x);
//         archive.serialize(point.y);
//         return archive.serialize_object(target, map);
//     }
//
// Reading: assign every member, since what is there is the old value or a scratch. A value is read
// more than once, first into a scratch to check it, then over the live one: no side effects.
//
// Reading never fails loudly: after a failure values are zero and the whole block is refused.
//
// What net_serialize answers, and what follows:
//
//     true                        all is well
//     false, while reading        not fully mapped: the value stands as it was read. It is read
//                                 again, from the same bits, whenever an object that it named
//                                 appears or goes, so its references are never stale
//     false, while writing        not fully mapped at this receiver: the value is owed to it again
//                                 as soon as it has the object that receiver_has() asked for
//     ok = false, while reading   the block is malformed, nothing of it is applied
//     ok = false, while writing   the value is left out of what is sent, until it changes again
//
// The last two are errors: they are logged with type and property, and counted (values_failed). An
// archive that failed, for example over a text that is too long, means ok = false.
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/bit_writer.h>
#include <replayout/package_map.h>
#include <replayout/reflection/memory.h>

#include <cstdint>
#include <string>
#include <type_traits>

namespace replayout {

class NetArchive {
  public:
    /// To write. `receiver` is null where the bits serve all receivers; ids that receiver_has()
    /// found missing are appended to `ids`, if given.
    explicit NetArchive(BitWriter& writer, const ReceiverIds* receiver = nullptr,
                        Vector<NetGUID>* ids = nullptr) noexcept
        : writer_(&writer), receiver_(receiver), ids_(ids) {}
    /// To read. Ids that the value names are appended to `ids`, if given, and charged to the
    /// reader's budget.
    explicit NetArchive(BitReader& reader, Vector<NetGUID>* ids = nullptr) noexcept
        : reader_(&reader), ids_(ids) {}

    [[nodiscard]] bool is_saving() const noexcept { return writer_ != nullptr; }
    [[nodiscard]] bool is_loading() const noexcept { return reader_ != nullptr; }
    [[nodiscard]] bool failed() const noexcept {
        return is_loading() ? reader_->failed() : is_refused_ || writer_->overflowed();
    }
    /// Writing: the value itself was refused, whatever room there is.
    [[nodiscard]] bool is_refused() const noexcept { return is_refused_; }

    /// The value cannot be serialized: what is written is not sent, what is read is malformed.
    void fail() noexcept;

    /// The low `bit_count` (0 to 64) bits of `value`.
    void serialize_bits(std::uint64_t& value, std::uint32_t bit_count) noexcept;
    void serialize_packed_uint(std::uint64_t& value) noexcept;

    /// A bool as one bit; an integer, enum or float as its full width.
    template <typename T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void serialize(T& value) noexcept {
        static_assert(sizeof(T) <= 8);
        if constexpr (std::is_floating_point_v<T>) {
            using Pattern = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
            auto pattern = std::bit_cast<Pattern>(value);
            serialize(pattern);
            value = std::bit_cast<T>(pattern);
        } else {
            auto bits = static_cast<std::uint64_t>(value);
            serialize_bits(bits, std::is_same_v<T, bool> ? 1 : sizeof(T) * 8);
            value = static_cast<T>(bits);
        }
    }

    /// UTF-8 text of at most `bytes_max` bytes. Text that is longer or not UTF-8 fails, on either
    /// side, and `text` stays as it is.
    void serialize_string(std::string& text, std::uint32_t bytes_max);

    /// A reference as its NetGUID. Reading: false when the id is not mapped; `object` is then null.
    /// Writing: false when the map has no id for it; null goes out.
    [[nodiscard]] bool serialize_object(ObjectHandle& object, PackageMap* map);

    /// Writing: whether the receiver has `object` now; true for null. When it has not, and
    /// net_serialize answers false, the value is owed again once it has. Always true in a shared
    /// serializer, whose bits must not depend on a receiver, and while reading.
    [[nodiscard]] bool receiver_has(ObjectHandle object, PackageMap* map);

    /// Reading: the value depends on the object with this id, which was read in another form than
    /// by serialize_object(). Null is ignored.
    void depend_on(NetGUID guid);

    /// Reading: turns of a loop and bytes of memory that the value is about to take, from what one
    /// packet may cost. False, and failed, when that is spent. Writing: true.
    [[nodiscard]] bool spend(std::uint64_t steps, std::uint64_t bytes) noexcept {
        return is_saving() || (reader_->spend_steps(steps) && reader_->spend_allocation(bytes));
    }

  private:
    BitWriter* writer_ = nullptr;
    BitReader* reader_ = nullptr;
    const ReceiverIds* receiver_ = nullptr;
    Vector<NetGUID>* ids_ = nullptr;
    bool is_refused_ = false;
};

}  // namespace replayout
