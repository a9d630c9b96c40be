// SPDX-License-Identifier: MIT
//
// From what a receiver is owed to the bits of a block: the set of handles, then their values in
// ascending order (docs/wire_format.md, "Property block"). Nothing here remembers what was sent;
// ObjectReplicator does, with all that has to be done around these functions.
//
// A block is whole: everything owed goes into it, or, if that does not fit into a packet of its
// own, the object is cut into parts, each a block that can be read alone. The cuts depend on the
// values, on the capacity and on array_steps_left only, never on whether values come from the
// shared buffer.
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/bit_writer.h>
#include <replayout/changelist_state.h>
#include <replayout/delta_states.h>
#include <replayout/package_map.h>
#include <replayout/reflection/memory.h>
#include <replayout/sharing_level.h>
#include <replayout/type_counters.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

namespace replayout {

/// A value that was written as "not fully mapped": its receiver lacks the object.
struct UnmappedValue {
    RepHandle handle;
    NetGUID guid;
};

/// A value of a block, as it counts once the block is sent.
struct BlockValue {
    RepHandle handle;
    std::uint64_t bits = 0;
    std::uint64_t bits_copied = 0;  ///< all or none: it was copied alone
};

/// What the writer of a block found out about the values of it.
struct BlockFindings {
    explicit BlockFindings(MemoryResource* resource);

    /// Lets go of the states of receivers that `deltas` hold.
    void forget_deltas() noexcept;

    /// Of send_part: what is lost if the part is. With the object's version, for SendingRepState
    /// and LostParts.
    Vector<LostPart> carried;
    /// Written, and to be owed again (OwedVersions) once ReceiverIds::is_mapped(guid) turns true.
    /// Not before, and not periodically: an idle world sends nothing.
    Vector<UnmappedValue> unmapped;
    /// Written, though net_serialize answered "not fully mapped" without having asked for an object
    /// (NetArchive::receiver_has): it wants to be asked again, so they are owed again at a later
    /// update. Asking often costs much, so a driver lets ever more updates pass.
    Vector<RepHandle> put_off;
    /// Not written though owed: a net_serialize failed, or a delta had nothing to say. They count
    /// as sent; the receiver keeps what it has until they change again. What else was owed of the
    /// same array or atomic group is then owed besides: to be given to LeftOutValues.
    Vector<RepHandle> left_out;
    /// All values of the block, ascending; only with SendContext::type_counters.
    Vector<BlockValue> values;
    /// Deltas that were written; to be given to DeltaStates with the block.
    Vector<SentDelta> deltas;
    /// Deltas of left_out that had nothing to say; to be given to DeltaStates with the block.
    Vector<UnchangedDelta> unchanged;
};

/// Memory that writing needs and that one writer after another may use. Grows to what it needs and
/// stays there. States of receivers (NetDeltaBaseState) come out of it, so it must outlive all that
/// holds them: each ChangelistState, DeltaStates and CallParameters.
/// Neither copies nor moves. One thread at a time for it and for all that holds states of it:
/// letting go of one gives memory back to its pool.
class SendScratch {
  public:
    explicit SendScratch(MemoryResource* resource);

    /// For the callers of send_properties(), which does not read it.
    ChangeMask owed;
    ChangeMask part;
    /// Changed element handles, by depth of the array.
    Vector<ChangeMask> elements;
    /// Bits of one value.
    Vector<std::byte> value;
    /// Bits of one value, for SendContext::is_validating.
    Vector<std::byte> check;
    /// Bits of one delta.
    Vector<std::byte> delta;
    /// For states of receivers: a change makes a new one, which fits where an old one was. What is
    /// larger than 64 KiB goes to the resource behind it, each time.
    std::pmr::unsynchronized_pool_resource delta_states;
    /// Ids that one value found missing at the receiver.
    Vector<NetGUID> guids;
    /// Keys that one keyed array names as removed, ascending.
    Vector<std::uint64_t> keys;
    /// Of one keyed array, by ascending place: where the full set is sent.
    Vector<PlaceSpan> full_spans;
    /// Properties of which BlockFindings::put_off was logged. Looked up, never walked.
    FlatSet<const Property*> told_put_off;

    /// Lets go of the states that the last block left here.
    void forget_deltas() noexcept { findings_.forget_deltas(); }
    /// For what writes blocks. Everybody else gets them with the block (SentBlock).
    [[nodiscard]] friend BlockFindings& findings_of(SendScratch& scratch) noexcept {
        return scratch.findings_;
    }

  private:
    BlockFindings findings_;
};

struct SendContext {
    PackageMap& package_map;
    ReplicationCounters& counters;
    SendScratch& scratch;
    /// Never changes a byte.
    SharingLevel sharing = SharingLevel::Bundles;
    /// What the receiver has; null: nobody keeps account, and no value is ever unmapped.
    const ReceiverIds* receiver = nullptr;
    /// Debug mode: each value of a NetSerializer is written a second time, from a copy, and if it
    /// is shared under another map and for another receiver. Bits that differ are logged and
    /// counted (serializers_impure).
    bool is_validating = REPLAYOUT_VALIDATION != 0;
    /// Of the type of what is sent; null: nobody counts.
    TypeCounters* type_counters = nullptr;
    /// False: another thread may call the game, so no serializer may be called. All values with
    /// one were encoded before (encode_shared_serializers()). An assertion checks it.
    bool may_ask_game = true;
    /// False: send_properties() counts no value as sent, because its caller may send the block or
    /// not. The code that sends the block counts them (BlockValues, block_counts.h).
    bool is_counting_sent = true;
    /// What the receiver holds of structs with a NetDeltaSerializer; null: the archetype's values.
    /// So it must be there for each receiver that was sent one before, or deltas do not fit.
    const DeltaStates* delta_states = nullptr;
    /// What blocks in the same packet may still cost their receiver (DecodeBudget::array_steps): a
    /// block that costs more does not fit (SentBlock::array_steps). send_part: one value, atomic
    /// group or part of an array is written alone whatever it costs.
    std::size_t array_steps_left = array_steps_in_packet;

    /// An eighth less than a receiver grants. What is counted for a block is what it can cost at
    /// most, whatever was lost before it, so this is a margin and nothing rests on it.
    static constexpr std::size_t array_steps_in_packet = DecodeBudget::array_steps_default / 8 * 7;

    [[nodiscard]] bool shares_pieces() const noexcept { return sharing >= SharingLevel::Pieces; }
    [[nodiscard]] bool shares_payloads() const noexcept {
        return sharing >= SharingLevel::Payloads;
    }
};

/// A block of which the values are one run of plain leaves (PlainLeaf), as most are where little
/// changes. All but the values is known before any object is, so what many objects of a class have
/// in common is found once. The bits are those of send_properties(); nothing is counted.
class PlainBlock {
  public:
    /// Of no set.
    PlainBlock() = default;
    /// Of a set of handles, not empty, of a layout with at most 64.
    PlainBlock(const RepLayout& layout, std::uint64_t handles) noexcept;

    [[nodiscard]] bool is_of(const RepLayout& layout, std::uint64_t handles) const noexcept {
        return layout_ == &layout && handles_ == handles;
    }
    /// Null: of none.
    [[nodiscard]] const RepLayout* layout() const noexcept { return layout_; }
    /// 0: the set is something else than such a run.
    [[nodiscard]] std::uint32_t value_count() const noexcept { return value_count_; }
    [[nodiscard]] std::size_t byte_count() const noexcept { return byte_count_; }

    /// Writes the values of an object of that layout. More is overwritten than is written: `target`
    /// must have room for byte_count() + spare_bytes.
    void write(const ChangelistState& state, std::byte* target) const noexcept {
        REPLAYOUT_ASSERT(value_count_ > 0 && &state.layout() == layout_);
        const std::byte* const source = (state.shadow() + begin_).data();
        detail::store_little_endian(target, code_);
        target += code_bits_ / 8;
        if (code_bits_ % 8 == 0) {
            copy_values(source, target);
        } else {
            shift_values(source, target);
        }
    }
    static constexpr std::size_t spare_bytes = 8;

    /// Hints that write() follows of an object with that shadow.
    [[gnu::always_inline]] void prefetch(ConstShadowBuffer shadow) const noexcept {
        replayout::prefetch((shadow + begin_).data(), value_bytes_);
    }

  private:
    /// Where they stand in whole bytes.
    void copy_values(const std::byte* source, std::byte* target) const noexcept {
        constexpr std::size_t chunk = 16;
        const std::size_t size = value_bytes_;
        if (size < chunk) {
            copy_few(source, target);
            return;
        }
        for (std::size_t i = 0; i + chunk < size; i += chunk) {
            std::memcpy(target + i, source + i, chunk);
        }
        std::memcpy(target + size - chunk, source + size - chunk, chunk);
    }
    void copy_few(const std::byte* source, std::byte* target) const noexcept {
        std::size_t left = value_bytes_;
        for (; left >= 8; left -= 8, source += 8, target += 8) {
            std::memcpy(target, source, 8);
        }
        detail::store_little_endian(target, detail::load_short(source, left));
    }
    /// Where they stand behind the last bits of the set.
    void shift_values(const std::byte* source, std::byte* target) const noexcept;

    const RepLayout* layout_ = nullptr;
    std::uint64_t handles_ = 0;
    std::uint64_t code_ = 0;  // the set, as it goes on the wire
    std::uint32_t code_bits_ = 0;
    ShadowOffset begin_;
    std::uint32_t value_bytes_ = 0;
    std::uint32_t value_count_ = 0;
    std::uint32_t byte_count_ = 0;
};
using RowBlock = PlainBlock;  ///< the name of before, for one version

/// Asks the game for the values of shared_serializer_handles() that changed after version `since`,
/// and keeps what it writes for all receivers. At SharingLevel::Off it asks, too, and keeps
/// nothing: the first call of a serializer gives ids to the objects that the value names. So these
/// ids are given in the order of the calls of this function, whatever is shared. `since` is less
/// than the version of `state`. Logs a value that fails. Called by the thread of the game.
void encode_shared_serializers(ChangelistState& state, Version since, SendContext& context);

enum class SendResult : std::uint8_t {
    Whole,  ///< everything owed was written
    Part,   ///< what fits was written; go on with the rest at `begin`
    /// Nothing was written; the writer holds other things, or its room is too small, or it would
    /// cost its receiver more than SendContext::array_steps_left.
    DoesNotFit,
    Nothing,  ///< nothing was written: nothing is owed after all, or it cannot be written
    /// Nothing was written; the value at `range`, or the atomic group, alone exceeds an empty
    /// packet.
    ValueTooLarge,
};

/// What became of the attempt to write a block.
struct SentBlock {
    explicit constexpr SentBlock(SendResult outcome = SendResult::Nothing, std::uint32_t count = 0,
                                 std::size_t steps = 0,
                                 const BlockFindings* found = nullptr) noexcept
        : result(outcome),
          property_count(static_cast<std::uint16_t>(count)),
          array_steps(static_cast<std::uint32_t>(
              std::min<std::size_t>(steps, std::numeric_limits<std::uint32_t>::max()))),
          findings(found) {}

    SendResult result;
    /// Values in the block.
    std::uint16_t property_count;
    /// What the block makes its receiver do with keyed arrays, at most (DecodeBudget).
    std::uint32_t array_steps;
    /// Valid until the next block is written with the same SendScratch. Null: the block is a copy
    /// of one that another receiver was sent, or nothing was tried.
    const BlockFindings* findings;

    [[nodiscard]] std::span<const SentDelta> deltas() const noexcept {
        return findings == nullptr ? std::span<const SentDelta>() : findings->deltas;
    }

    friend constexpr bool operator==(const SentBlock& block, SendResult result) noexcept {
        return block.result == result;
    }
};

/// Where a large object goes on after a part.
struct RepCursor {
    RepHandle handle{1};
    std::uint64_t element = 0;  ///< its place in the array at `handle`, see RepRange
};

/// Writes all of `owed` (over the object's handles, not empty) for a receiver at `position`.
/// Whole, or DoesNotFit or Nothing; then the writer stands where it stood.
[[nodiscard]] SentBlock send_properties(ChangelistState& state, const OwedVersions& position,
                                        const ChangeMask& owed, BitWriter& writer,
                                        SendContext& context);

/// Writes the next part of `owed` from `begin` into a writer that is as empty as it gets. Part,
/// Whole (the last part), Nothing (nor is there more) or ValueTooLarge. `range` is what was
/// written, or the value that is too large, and `begin` moves behind it.
[[nodiscard]] SentBlock send_part(ChangelistState& state, const OwedVersions& position,
                                  const ChangeMask& owed, RepCursor& begin, RepRange& range,
                                  BitWriter& writer, SendContext& context);

/// Bits that one value takes, the set of handles not counted. For a value too large for a packet.
[[nodiscard]] std::size_t measure_property(ChangelistState& state, const OwedVersions& position,
                                           RepHandle handle, SendContext& context);

struct MeasuredBlock {
    std::size_t byte_count = 0;
    std::size_t array_steps = 0;  ///< see SentBlock
    /// Values were left out, of this block or of others since one was written.
    bool has_left_out = false;
};

/// Measures a block with all of `owed`, which must not be empty. For what is too large for a
/// packet.
[[nodiscard]] MeasuredBlock measure_block(ChangelistState& state, const OwedVersions& position,
                                          const ChangeMask& owed, SendContext& context);

}  // namespace replayout
