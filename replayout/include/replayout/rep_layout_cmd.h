// SPDX-License-Identifier: MIT
//
// The pieces of a flattened layout: commands for leaves, parent commands for top-level properties,
// and scopes for what lies in one block of memory (the object, or one element of a dynamic array).
#pragma once

#include <replayout/data_buffer.h>
#include <replayout/handle.h>
#include <replayout/reflection/lifetime_condition.h>

#include <cstdint>

namespace replayout {

struct Property;
class Type;

/// What a command does with its memory. Append only: Return is no longer the last.
enum class RepLayoutCmdType : std::uint8_t {
    Bool,   ///< one bit
    Bits8,  ///< integers and enums of that width
    Bits16,
    Bits32,  ///< also Float
    Bits64,  ///< also Double
    Vector,  ///< 3 x 32 bits
    Quat,    ///< 4 x 32 bits
    String,  ///< packed byte count, then UTF-8; also names
    Object,  ///< packed NetGUID
    NetSerializeStruct,
    /// Packed count, set of changed element handles, their values. Also an optional value: an array
    /// of one element or none, whose count is one bit.
    DynamicArray,
    Return,     ///< ends the commands of an element, and the list
    BitBool,    ///< one bit: of a byte in the object, the lowest of a byte in the shadow
    Quantised,  ///< the integers of <replayout/quantise.h>, which the shadow holds
    /// Elements by key, see <replayout/keyed_array.h>; its commands are laid out as those of a
    /// DynamicArray.
    KeyedArray,
    /// What is new since a state of the receiver, see <replayout/net_delta.h>.
    NetDeltaStruct,
};

/// True where memory is compared, copied and sent as plain bytes.
[[nodiscard]] constexpr bool is_plain(RepLayoutCmdType type) noexcept {
    return type <= RepLayoutCmdType::Quat;
}

/// True where elements follow, with a scope of their own.
[[nodiscard]] constexpr bool is_array(RepLayoutCmdType type) noexcept {
    return type == RepLayoutCmdType::DynamicArray || type == RepLayoutCmdType::KeyedArray;
}

/// True where a difference to what the receiver holds is sent.
[[nodiscard]] constexpr bool is_delta(RepLayoutCmdType type) noexcept {
    return type == RepLayoutCmdType::NetDeltaStruct;
}

/// True where a value is a struct that serializes itself.
[[nodiscard]] constexpr bool is_struct(RepLayoutCmdType type) noexcept {
    return type == RepLayoutCmdType::NetSerializeStruct || type == RepLayoutCmdType::NetDeltaStruct;
}

/// True where what a value was before is kept, to tell what is back at it. Not of arrays, nor of
/// deltas.
[[nodiscard]] constexpr bool has_previous_values(RepLayoutCmdType type) noexcept {
    return !is_array(type) && !is_delta(type);
}

/// True where the shadow holds the bytes of memory, so that equal bytes mean an equal value. Of a
/// quantised leaf it holds them beside the integers.
[[nodiscard]] constexpr bool is_compared_as_bytes(RepLayoutCmdType type) noexcept {
    return is_plain(type) || type == RepLayoutCmdType::Quantised;
}

/// True where the shadow holds what is written, nothing is owned, and no one is asked: plain
/// leaves, bits and quantised values.
[[nodiscard]] constexpr bool is_written_in_place(RepLayoutCmdType type) noexcept {
    return is_plain(type) || type == RepLayoutCmdType::BitBool ||
           type == RepLayoutCmdType::Quantised;
}

enum class RepLayoutCmdFlags : std::uint8_t {
    None = 0,
    /// The value is serialized once, and its bits are used for all connections. Plain leaves
    /// always; a NetSerializer struct when it promises NetSharedSerialization; an array when all
    /// its leaves may.
    IsSharedSerialization = 1,
    HasObjectReferences = 2,
    /// Of a layout made by RepLayout::create_compatible: read, checked and thrown away.
    IsSkipped = 4,
};

[[nodiscard]] constexpr RepLayoutCmdFlags operator|(RepLayoutCmdFlags left,
                                                    RepLayoutCmdFlags right) noexcept {
    return static_cast<RepLayoutCmdFlags>(static_cast<std::uint8_t>(left) |
                                          static_cast<std::uint8_t>(right));
}

[[nodiscard]] constexpr bool has_flag(RepLayoutCmdFlags set, RepLayoutCmdFlags flag) noexcept {
    return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(flag)) != 0;
}

/// One step of a flattened layout: where a replicated leaf lives in the object, where its copy
/// lives in the shadow, and how it goes on the wire.
///
/// A struct leaves no command of its own; its members take its place. An array is a DynamicArray
/// command, then the commands of ONE element with offsets and handles counted from that element,
/// then a Return:
///
///     struct Pawn { int32 health; vector<Hit> hits; }   struct Hit { float x, y; }
///
///     cmd  type          offset  handle  end_cmd
///      0   Bits32             0       1        1
///      1   DynamicArray       8       2        5     skip the array: go to 5
///      2     Bits32           0       1        3
///      3     Bits32           4       2        4
///      4     Return           -       -        5
///      5   Return             -       -        6
///
/// Invariant: end_cmd is greater than the command's own index, so every jump goes forward and every
/// walk ends, whatever the bytes on the wire say.
struct RepLayoutCmd {
    ObjectOffset object_offset;
    ShadowOffset shadow_offset;
    /// Bytes in the object; of a DynamicArray: of one element there.
    std::uint32_t element_size = 0;
    std::uint32_t checksum = 0;          ///< of name and kind along the chain
    const Property* property = nullptr;  ///< null for Return
    CmdIndex end_cmd;
    ParentIndex parent_index;
    std::uint16_t relative_handle = 0;  ///< 1-based; 0 for Return
    RepLayoutCmdType type = RepLayoutCmdType::Return;
    RepLayoutCmdFlags flags = RepLayoutCmdFlags::None;
};

// Two commands to a cache line: the compare loop reads the list front to back.
static_assert(sizeof(RepLayoutCmd) == 32);

/// The value of the leaf in a block follows from versions alone, so nothing of it keeps the block
/// from serving another receiver whole. Of an array those of its elements have to be asked, too.
[[nodiscard]] constexpr bool is_shared_whole(const RepLayoutCmd& cmd) noexcept {
    return has_flag(cmd.flags, RepLayoutCmdFlags::IsSharedSerialization) && !is_delta(cmd.type);
}

/// A top-level property, or one element of a C array.
struct RepParentCmd {
    const Property* property = nullptr;
    ObjectOffset object_offset;
    std::uint32_t array_index = 0;  ///< in its C array, else 0
    LifetimeCondition condition = LifetimeCondition::None;
    CmdIndex cmd_start;
    CmdIndex cmd_end;
    std::uint32_t first_handle = 0;
    std::uint32_t handle_count = 0;
    /// Compared only where it is marked dirty; see ChangelistState::mark_dirty.
    bool is_push_based = false;
    /// Into RepLayout::runs(): what is compared with this parent. Of one that may be left out its
    /// own values; of the others a run of neighbours is compared with the first of them, and
    /// nothing with the rest.
    std::uint32_t run_start = 0;
    std::uint32_t run_end = 0;
    /// Into RepLayout::parents(): where all from this one to the one before that are compared, they
    /// are compared as one run. The next one: it is compared alone.
    std::uint32_t joined_end = 0;
};

/// Of a push based parent of one plain leaf of four bytes: where it lies, and how many parents from
/// it on are of that kind and lie side by side, in the object as in the shadow. 0: it is another.
struct WordRun {
    ObjectOffset object_offset;
    ShadowOffset shadow_offset;
    std::uint16_t handle = 0;
    std::uint16_t parent_count = 0;
};
using WordRow = WordRun;  ///< the name of before, for one version

/// Of each handle: whether the shadow bytes of its leaf are its bits on the wire, and where the run
/// of leaves that follow it without a gap ends.
struct PlainLeaf {
    ShadowOffset shadow_begin;
    ShadowOffset shadow_end;      ///< one past the last byte
    std::uint16_t run_end = 0;    ///< one past the last handle; its own: written otherwise
    std::uint16_t words_end = 0;  ///< likewise of the run in which all leaves have four bytes

    [[nodiscard]] std::uint32_t size() const noexcept {
        return shadow_end.value - shadow_begin.value;
    }
};

/// Adjacent plain and quantised members, compared as one run of bytes; or a single command of
/// another kind. No run reaches into or out of a parent that may be left out of a compare, nor of
/// an atomic group that may exceed limits: before its runs stands one without commands.
struct CompareRun {
    ObjectOffset object_offset;
    ShadowOffset shadow_offset;
    std::uint32_t size = 0;  ///< bytes; 0: the command is of another kind
    CmdIndex cmd_start;
    CmdIndex cmd_end;
};

/// The leaves of a struct with the trait "atomic": owed together, sent in one block.
struct RepGroup {
    std::uint16_t handle_begin = 0;  ///< in the scope
    std::uint16_t handle_end = 0;    ///< one past the last
    /// Some value of it may be one that cannot be sent (RepLimits). While one is, the shadow keeps
    /// all of the group as it was.
    bool may_exceed_limits = false;
};

/// What lies in one block of memory: the object itself (scope 0) or an element of a dynamic array.
struct RepScope {
    CmdIndex cmd_start;
    CmdIndex cmd_end;  ///< one past the Return
    std::uint32_t handle_count = 0;
    std::uint32_t first_handle_cmd = 0;  ///< into RepLayout's table of handle to command
    std::uint32_t run_start = 0;         ///< into RepLayout::runs()
    std::uint32_t run_end = 0;
    std::uint32_t group_start = 0;  ///< into RepLayout's groups
    std::uint32_t group_end = 0;
    std::uint32_t shadow_size = 0;       ///< bytes, a multiple of the alignment
    std::uint32_t shadow_alignment = 1;  ///< bytes
    /// The whole element is one run of plain bytes without padding, equal in object and shadow.
    bool is_contiguous = false;
};

}  // namespace replayout
