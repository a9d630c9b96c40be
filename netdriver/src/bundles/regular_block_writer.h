// SPDX-License-Identifier: MIT
//
// Lays down the block that every regular pair of an object is owed for the changes of this flush,
// in bytes that the caller gives. It changes none of its own members meanwhile, so several lanes
// may use it at a time, each with its own bytes and its own objects.
#pragma once

#include <replayout/changelist_state.h>
#include <replayout/send_properties.h>

#include "blocks_ahead.h"
#include "bundle_run.h"
#include "flush_changes.h"
#include "laid_down_blocks.h"
#include "lane_range.h"
#include "object_store.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

class RegularBlockWriter {
  public:
    /// What is known of a block.
    enum class Contents : std::uint8_t {
        Objects,   ///< its object alone
        Measured,  ///< its length, too
        Bytes,     ///< its bytes: it is laid down
    };

    /// `unasked`: objects that no client is shown, see SharedValues: they are left out.
    RegularBlockWriter(const ObjectStore& objects, const FlushChanges& changes,
                       const BitRow& unasked) noexcept
        : objects_(objects), changes_(changes), unasked_(unasked) {}

    /// Begins a flush. `type_counters` by layout number; empty: values are not counted by type.
    void begin(Contents contents, std::span<TypeCounters> type_counters) noexcept {
        contents_ = contents;
        type_counters_ = type_counters;
    }
    [[nodiscard]] bool has_bytes() const noexcept { return contents_ == Contents::Bytes; }
    /// Whether what each value takes is counted by type.
    [[nodiscard]] bool counts_by_type() const noexcept { return !type_counters_.empty(); }

    /// What became of the attempt to lay down what changed of an object.
    enum class LaidDown : std::uint8_t {
        Block,
        Loose,    ///< it must go alone
        Nothing,  ///< a regular pair is owed none of it
    };
    struct Attempt {
        LaidDown result = LaidDown::Nothing;
        /// See SentBlock. Null also for a run of plain values, and without bytes.
        const BlockFindings* findings = nullptr;
    };
    /// Lays down what changed of one object, after the blocks that `bytes` has. Writes no bytes
    /// unless has_bytes().
    [[nodiscard]] Attempt lay_down(ObjectIndex index, BundleBlock& block, BlockBytes& bytes,
                                   SendContext& context) const;

    /// Lays down what changed of all objects in these words of a row, in their order. Objects of
    /// which the same changed go to `bytes` and `blocks`, a BundleRun or LaneBlocks, several at
    /// once. Calls `lay_down_one(index)`, which calls lay_down(), for each of the others.
    template <typename Blocks, typename LayDownOne>
    void lay_down_words(LaneRange words, BlockBytes& bytes, Blocks& blocks, SendContext& context,
                        LayDownOne lay_down_one) const {
        BlocksAhead ahead(objects_, changes_.objects, words);
        for (std::size_t word = words.begin; word < words.end; ++word) {
            std::uint64_t left = changes_.objects.word(word);
            while ((left = lay_down_alike(word, left, bytes, blocks, ahead, context)) != 0) {
                ahead.step(bytes.plain);
                lay_down_one(BitRow::lowest_of(word, left));
                left &= left - 1;
            }
        }
    }

  private:
    /// lay_down() for most objects that change (LayoutFacts::is_simple). False: the object is none
    /// of these, or there is no room for its block, and nothing was done.
    [[nodiscard]] bool lay_down_plain(BundleBlock& block, ChangelistState& state, BlockBytes& bytes,
                                      SendContext& context) const;
    /// The same for objects of one word of a row, from the first one on, as long as the same
    /// changed as in the last block and there is room. Returns the others.
    template <typename Blocks>
    [[nodiscard]] std::uint64_t lay_down_alike(std::size_t word, std::uint64_t objects,
                                               BlockBytes& bytes, Blocks& blocks,
                                               BlocksAhead& blocks_ahead,
                                               SendContext& context) const;
    /// Lays down a block of `owed`. Null: the object must go alone.
    [[nodiscard]] const BlockFindings* lay_down_owed(BundleBlock& block, const ChangeMask& owed,
                                                     BlockBytes& bytes, SendContext& context) const;
    /// Finds the length of that block alone, and counts nothing. False: the object must go alone.
    [[nodiscard]] bool measure(BundleBlock& block, const ChangeMask& owed, const BlockBytes& bytes,
                               SendContext& context) const;
    /// Makes `owed` what regular pairs are owed of the object. False: nothing.
    [[nodiscard]] bool collect_owed(const ServerObject& info, ChangeMask& owed) const;

    const ObjectStore& objects_;
    const FlushChanges& changes_;
    const BitRow& unasked_;
    Contents contents_ = Contents::Objects;
    std::span<TypeCounters> type_counters_;
};

// For a few values the copy costs least, so what is the same for all of them is found out before.
template <typename Blocks>
[[gnu::flatten]] std::uint64_t RegularBlockWriter::lay_down_alike(std::size_t word,
                                                                  std::uint64_t objects,
                                                                  BlockBytes& bytes, Blocks& blocks,
                                                                  BlocksAhead& blocks_ahead,
                                                                  SendContext& context) const {
    if (objects == 0 || !has_bytes() || !type_counters_.empty() || !bytes.is_plain_known()) {
        return objects;
    }
    // Of their own: what is written might be anything else.
    const PlainBlock plain = bytes.plain;
    if (plain.layout()->needs_held_version()) {
        return objects;  // each block must say so, and whether it is a pivot
    }
    BlocksAhead ahead = blocks_ahead;
    const ObjectStore& known_objects = objects_;
    const std::uint64_t flush = changes_.flush;
    const std::uint32_t count_max = blocks.append_max();
    BlockBytes::BlockCursor cursor = bytes.begin_alike(plain.byte_count());
    const std::uint32_t room_count =
        std::min(count_max, static_cast<std::uint32_t>(std::popcount(objects)));
    BundleBlock* const laid_down = blocks.begin_blocks(room_count);
    std::uint32_t count = 0;
    std::uint64_t left = objects;
    for (; left != 0 && count < count_max; left &= left - 1, ++count) {
        const ObjectIndex index = BitRow::lowest_of(word, left);
        const ChannelIndex channel = channel_of(index);
        ServerObject* const info = known_objects.at(index);
        if (info == nullptr || !cursor.has_room(channel)) {
            break;
        }
        ChangelistState& state = info->changelist_state();
        const Version version = state.version();
        if (version == 0 || &state.layout() != plain.layout() ||
            !plain.is_of(state.layout(), state.newest())) {
            break;
        }
        ahead.step(plain);
        laid_down[count] = BundleBlock(index, version, cursor.byte_count, 1, plain.value_count(),
                                       plain.byte_count());
        plain.write(state, cursor.add(channel, plain.byte_count()));
        state.shared().use_newest_in_place(version, state.last_changed());
        info->set_bundled(flush, version);
    }
    blocks.end_blocks(room_count - count);
    if (count > 0) {
        blocks_ahead = ahead;
        bytes.end_alike(cursor);
        const std::uint64_t value_count = std::uint64_t{count} * plain.value_count();
        blocks.count_appended(count, {static_cast<std::uint32_t>(word), objects & ~left},
                              value_count, count * plain.byte_count());
        context.counters.values_encoded += value_count;
    }
    return left;
}

}  // namespace replayout
