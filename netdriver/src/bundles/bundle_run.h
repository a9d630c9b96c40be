// SPDX-License-Identifier: MIT
//
// The list of the blocks of one flush, in bundles and packets. A connection that sends some of them
// holds the list until it knows their fate. server_bundles.h explains the whole.
//
//     blocks     [ 3: v8 ][ 4: v2 ][ 9: v31 ] ... [ 70: v5 ][ 71: v12 ] ...
//     bundles    |-- at most 64 ---------|-- ...
//     packets    |-- one bundle or several, as far as an empty packet has room --|-- ...
#pragma once

#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/memory.h>
#include <replayout/sending_rep_state.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "bit_row.h"
#include "flush_changes.h"
#include "kept_room.h"
#include "packet_builder.h"

namespace replayout {

struct BundleBlock {
    BundleBlock() = default;
    BundleBlock(ObjectIndex object_index, Version to_version, std::size_t offset,
                std::size_t head_size, std::uint32_t value_count, std::size_t body_size) noexcept
        : index(object_index),
          version(to_version),
          byte_offset(static_cast<std::uint32_t>(offset)),
          head_bytes(static_cast<std::uint16_t>(head_size)),
          property_count(static_cast<std::uint16_t>(value_count)),
          body_bytes(static_cast<std::uint16_t>(body_size)) {}

    ObjectIndex index{};  ///< of the object
    /// To which the block brings a receiver of the version before.
    Version version = 0;
    std::uint32_t byte_offset = 0;  ///< of its head, in the bytes of the run
    std::uint16_t head_bytes = 0;   ///< as it stands behind the block before it, if there is one
    std::uint16_t property_count = 0;
    std::uint16_t body_bytes = 0;         ///< where it is laid down, or measured
    std::uint8_t length_bytes : 2 = 0;    ///< the same, of the length between head and body
    bool is_young : 1 = false;            ///< it has a length, see FlushChanges::young
    bool needs_held_version : 1 = false;  ///< the layout does
    bool is_pivot : 1 = false;            ///< the version is one (ChangelistState::pivots)

    void set_length_bytes(std::size_t count) noexcept {
        REPLAYOUT_ASSERT(count <= block_length_bytes_max);
        length_bytes = static_cast<std::uint8_t>(count) & 3u;
    }
    [[nodiscard]] BlockLength length() const noexcept {
        return is_young ? BlockLength::Given : BlockLength::None;
    }
};

static_assert(sizeof(BundleBlock) == 20, "docs/limits.md counts it");

/// Blocks begin <= b < end of a run, at most 64: as many as a word has bits.
struct Bundle {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t property_count = 0;  ///< in all of them
    std::uint32_t body_bytes = 0;      ///< of all of them, without heads and lengths
    std::uint32_t length_bytes = 0;    ///< of the lengths of all of them
    // The same of the bundles before it.
    std::uint32_t properties_before = 0;
    std::uint32_t body_bytes_before = 0;
    /// Of BundleRun::words(): which objects they are of.
    std::uint32_t words_begin = 0;
    std::uint32_t words_end = 0;
    /// Where its blocks lie in the bytes of the run: behind the bundle before it in its packet, or
    /// behind room for a header.
    std::uint32_t bytes_begin = 0;
    std::uint32_t bytes_end = 0;
    std::uint32_t packet = 0;  ///< of BundleRun::packet_begin()
    /// Bit i for block begin + i: its layout needs the held version.
    std::uint64_t held_blocks = 0;

    [[nodiscard]] std::uint32_t block_count() const noexcept { return end - begin; }
    /// Bit i for block begin + i.
    [[nodiscard]] std::uint64_t all_blocks() const noexcept {
        return ~std::uint64_t{0} >> (64 - block_count());
    }
};

/// Blocks of a run that make a packet, if they go out one behind the other and nothing else does.
struct RunPacket {
    std::uint32_t first_bundle = 0;
    // Where they lie in the bytes of the run, behind room for a header.
    std::uint32_t bytes_begin = 0;
    std::uint32_t bytes_end = 0;
};

/// Objects of which the bits stand in one word of a row.
struct ObjectBits {
    ObjectBits() = default;
    ObjectBits(std::uint32_t number, std::uint64_t objects) noexcept
        : word(number), bits(objects) {}

    std::uint32_t word = 0;
    std::uint32_t first = 0;  ///< of a bundle that has ended: the block of the first, where these
                              ///< lie in the order of the objects
    std::uint64_t bits = 0;
};

/// Objects of one word of a row, and where the positions of their blocks begin.
struct WordPositions {
    std::uint64_t bits = 0;
    std::uint32_t first = 0;
};

/// Where the block of an object lies.
class BlockPosition {
  public:
    BlockPosition() = default;
    BlockPosition(std::uint32_t bundle, std::uint32_t block) noexcept
        : value_(bundle << 6 | block) {}

    /// False: the object has none.
    [[nodiscard]] bool is_any() const noexcept { return value_ != none; }
    [[nodiscard]] std::uint32_t bundle() const noexcept { return value_ >> 6; }
    [[nodiscard]] std::uint64_t bit() const noexcept { return std::uint64_t{1} << (value_ & 63); }

  private:
    static constexpr std::uint32_t none = 0xFFFF'FFFF;

    std::uint32_t value_ = none;
};

class BundleRun {
  public:
    static constexpr std::uint32_t blocks_per_bundle_max = 64;

    explicit BundleRun(MemoryResource* resource)
        : blocks_(resource),
          bundles_(resource),
          packets_(Allocator<RunPacket>(resource)),
          words_(resource),
          kept_(Allocator<KeptBlocks>(resource)),
          word_positions_(resource),
          positions_(resource) {}
    BundleRun(const BundleRun&) = delete;
    BundleRun& operator=(const BundleRun&) = delete;

    [[nodiscard]] std::span<const Bundle> bundles() const noexcept {
        return {bundles_.data(), bundles_.size()};
    }
    [[nodiscard]] std::span<const ObjectBits> words_of(const Bundle& bundle) const noexcept {
        return words().subspan(bundle.words_begin, bundle.words_end - bundle.words_begin);
    }
    /// Of all bundles.
    [[nodiscard]] std::span<const ObjectBits> words() const noexcept {
        return {words_.data(), words_.size()};
    }
    /// Requires that all are kept.
    [[nodiscard]] std::span<const BundleBlock> blocks() const noexcept {
        REPLAYOUT_ASSERT(keeps_all());
        return {blocks_.data(), blocks_.size()};
    }

    /// Each but the last is full. Known where blocks are laid down.
    [[nodiscard]] std::span<const RunPacket> packets() const noexcept {
        return {packets_.data(), packets_.size()};
    }
    /// How many there are.
    [[nodiscard]] std::uint32_t packet_count() const noexcept {
        return static_cast<std::uint32_t>(packets_.size());
    }
    /// The first bundle of a packet; of the one behind the last: the number of bundles.
    [[nodiscard]] std::uint32_t packet_begin(std::uint32_t packet) const noexcept {
        return packet < packet_count() ? packets_[packet].first_bundle
                                       : static_cast<std::uint32_t>(bundles_.size());
    }

    /// Blocks do not lie in the order of the objects, but it is known where each is. So a
    /// connection that takes a few of them does not look at the others.
    [[nodiscard]] bool has_positions() const noexcept { return !word_positions_.empty(); }
    /// Those of a word that changed. Requires positions.
    [[nodiscard]] const WordPositions& positions_in(std::uint32_t word) const noexcept {
        return word_positions_[word];
    }
    /// That of one of them. `bit`: its own.
    [[nodiscard]] BlockPosition position_of(const WordPositions& among,
                                            std::uint64_t bit) const noexcept {
        return positions_[position_number(among, bit)];
    }
    /// That of any object. Requires positions. O(1).
    [[nodiscard]] BlockPosition find(ObjectIndex index) const noexcept;
    /// Which blocks of `bundle` belong to `objects`: bit i for block i. Costs a step for each word,
    /// and for each object of the smaller part of a word; with positions, one for each object.
    [[nodiscard]] std::uint64_t blocks_in(const Bundle& bundle,
                                          const BitRow& objects) const noexcept;

    /// Keeps these blocks alone, if they are few among those that it has: bit i of `held[b]` for
    /// block i of bundle b. Bundles, and the bits that name their blocks, stay as they are.
    /// Requires that the flush is over, and that nobody waits for the fate of another block.
    void keep_only(std::span<const std::uint64_t> held);
    [[nodiscard]] bool keeps_all() const noexcept { return kept_.empty(); }
    /// Calls `visit(bit, const BundleBlock&)` for these blocks of a bundle, which are kept.
    template <typename Visitor>
    void for_each_block(std::uint32_t bundle, std::uint64_t blocks, Visitor visit) const {
        if (!keeps_all()) {
            for_each_kept(bundle, blocks, visit);
            return;
        }
        const BundleBlock* const begin = &blocks_[bundles_[bundle].begin];
        for (std::uint64_t left = blocks; left != 0; left &= left - 1) {
            visit(left & (~left + 1), begin[std::countr_zero(left)]);
        }
    }

    [[nodiscard]] std::uint64_t flush() const noexcept { return flush_; }
    /// The layout of some block needs the held version (RepLayout::needs_held_version).
    [[nodiscard]] bool has_held() const noexcept { return has_held_; }

    // A connection that has sent some of it holds it until it knows what became of all that.

    void hold() noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        const std::uint32_t before = holders_.fetch_sub(1, std::memory_order_relaxed);
        REPLAYOUT_ASSERT(before > 0);
        (void)before;
    }
    [[nodiscard]] bool is_held() const noexcept {
        return holders_.load(std::memory_order_relaxed) > 0;
    }

    // For who builds it.

    /// Of one that has begun and holds nothing, see KeptRoom.
    void trim() { trim_all(blocks_, bundles_, words_, word_positions_, positions_); }
    /// Gives back all of its room. Requires a run that has begun and holds nothing.
    void give_back() noexcept {
        blocks_.shrink_to_fit();
        bundles_.shrink_to_fit();
        packets_.shrink_to_fit();
        words_.shrink_to_fit();
        kept_.shrink_to_fit();
        word_positions_.shrink_to_fit();
        positions_.shrink_to_fit();
    }
    /// Before anything is added: the flush that it is of.
    void begin(std::uint64_t flush) noexcept {
        flush_ = flush;
        clear_all(blocks_, bundles_, words_, packets_, kept_, word_positions_, positions_);
        has_held_ = false;
        begins_packet_ = true;
        begin_bundle();
    }
    void add_block(const BundleBlock& block) {
        blocks_.push_back(block);
        count_appended(1, {BitRow::word_of(block.index), BitRow::mask_of(block.index)},
                       block.property_count, block.body_bytes, block.length_bytes);
    }
    /// Adds several blocks of objects in one word of a row: first room for so many, of which as
    /// many as end_blocks() names stay unused, and then count_appended() for what there is in all
    /// of them.
    [[nodiscard]] BundleBlock* begin_blocks(std::uint32_t count) {
        const std::uint32_t begin = append_room(count);
        return blocks_.data() + begin;
    }
    void end_blocks(std::uint32_t unused) { blocks_.resize(blocks_.size() - unused); }
    void count_appended(std::uint32_t count, const ObjectBits& objects, std::size_t property_count,
                        std::size_t body_bytes, std::size_t length_bytes) {
        if (unbundled_count_ == 0 || words_.back().word != objects.word) {
            words_.push_back({objects.word, 0});
        }
        words_.back().bits |= objects.bits;
        unbundled_count_ += count;
        unbundled_properties_ += static_cast<std::uint32_t>(property_count);
        unbundled_bytes_ += static_cast<std::uint32_t>(body_bytes);
        unbundled_length_bytes_ += static_cast<std::uint32_t>(length_bytes);
    }
    [[nodiscard]] std::uint32_t block_count() const noexcept {
        return static_cast<std::uint32_t>(blocks_.size());
    }
    /// As many at once as there is room for in the bundle at hand, whose last one is for who ends
    /// it.
    [[nodiscard]] std::uint32_t append_max() const noexcept {
        return blocks_per_bundle_max - 1 - unbundled_count_;
    }
    /// Room for so many more blocks, which several lanes write, each its own; who counts them does
    /// not wait for that. Returns where they begin.
    std::uint32_t append_room(std::size_t count) {
        const std::uint32_t begin = block_count();
        blocks_.resize(blocks_.size() + count);
        return begin;
    }
    [[nodiscard]] std::span<BundleBlock> room_of_blocks() noexcept {
        return {blocks_.data(), blocks_.size()};
    }
    /// As many blocks as a bundle may have are in none yet.
    [[nodiscard]] bool is_bundle_full() const noexcept {
        return unbundled_count_ == blocks_per_bundle_max;
    }
    /// Makes one of these, if there are any, which lie there.
    void end_bundle(std::size_t bytes_begin, std::size_t bytes_end) {
        REPLAYOUT_ASSERT(unbundled_count_ <= blocks_per_bundle_max);
        if (unbundled_count_ == 0) {
            return;
        }
        if (std::exchange(begins_packet_, false)) {
            packets_.push_back({static_cast<std::uint32_t>(bundles_.size()),
                                static_cast<std::uint32_t>(bytes_begin), 0});
        }
        const Bundle before = bundles_.empty() ? Bundle() : bundles_.back();
        number_words(before.words_end);
        Bundle bundle;
        bundle.begin = before.end;
        bundle.end = before.end + unbundled_count_;
        bundle.property_count = unbundled_properties_;
        bundle.body_bytes = unbundled_bytes_;
        bundle.length_bytes = unbundled_length_bytes_;
        bundle.properties_before = before.properties_before + before.property_count;
        bundle.body_bytes_before = before.body_bytes_before + before.body_bytes;
        bundle.words_begin = before.words_end;
        bundle.words_end = static_cast<std::uint32_t>(words_.size());
        bundle.bytes_begin = static_cast<std::uint32_t>(bytes_begin);
        bundle.bytes_end = static_cast<std::uint32_t>(bytes_end);
        bundle.packet = packet_count() - 1;
        packets_.back().bytes_end = bundle.bytes_end;
        bundles_.push_back(bundle);
        begin_bundle();
    }
    /// The packet of the bundle that ended last has no room for the block that comes next.
    void end_packet() noexcept {
        REPLAYOUT_ASSERT(unbundled_count_ == 0);
        begins_packet_ = true;
    }

    /// Behind the last bundle, where blocks do not lie in the order of the objects: of all that
    /// changed.
    void find_positions(const FlushChanges& changes);
    /// Finds Bundle::held_blocks. Call it after the last bundle, if the layout of some block needs
    /// the held version.
    void find_held() noexcept;

  private:
    /// Finds ObjectBits::first of these words, from one on.
    void number_words(std::size_t begin) noexcept {
        std::uint32_t first = 0;
        for (std::size_t i = begin; i < words_.size(); ++i) {
            words_[i].first = first;
            first += count_bits(words_[i].bits);
        }
    }
    /// Which blocks of a bundle are kept, and where the first of them stands.
    struct KeptBlocks {
        std::uint64_t blocks = 0;
        std::uint32_t first = 0;
    };

    template <typename Visitor>
    [[gnu::noinline]] void for_each_kept(std::uint32_t bundle, std::uint64_t blocks,
                                         Visitor& visit) const {
        const KeptBlocks& kept = kept_[bundle];
        REPLAYOUT_ASSERT((blocks & ~kept.blocks) == 0);
        for (std::uint64_t left = blocks; left != 0; left &= left - 1) {
            const std::uint64_t bit = left & (~left + 1);
            const auto rank = count_bits(kept.blocks & (bit - 1));
            visit(bit, blocks_[kept.first + rank]);
        }
    }
    [[nodiscard]] static std::uint32_t position_number(const WordPositions& among,
                                                       std::uint64_t bit) noexcept {
        const std::uint64_t before = among.bits & (bit - 1);
        // Where few objects changed there is none before it.
        return among.first + (before == 0 ? 0u : count_bits(before));
    }
    void begin_bundle() noexcept {
        unbundled_count_ = 0;
        unbundled_properties_ = 0;
        unbundled_bytes_ = 0;
        unbundled_length_bytes_ = 0;
    }

    KeptVector<BundleBlock> blocks_;
    KeptVector<Bundle> bundles_;
    Vector<RunPacket> packets_;
    KeptVector<ObjectBits> words_;
    Vector<KeptBlocks> kept_;  // by bundle; empty: all are
    // By word of a row; of those in which nothing changed anything.
    KeptVector<WordPositions> word_positions_;
    KeptVector<BlockPosition> positions_;  // of each of these objects
    // Of blocks that are in no bundle yet.
    std::uint32_t unbundled_count_ = 0;
    std::uint32_t unbundled_properties_ = 0;
    std::uint32_t unbundled_bytes_ = 0;
    std::uint32_t unbundled_length_bytes_ = 0;
    bool begins_packet_ = true;  // the next bundle does
    bool has_held_ = false;
    std::uint64_t flush_ = 0;
    std::atomic<std::uint32_t> holders_{0};
};

/// Blocks of one bundle that lie in one packet.
struct SentBundle {
    BundleRun* run = nullptr;
    std::uint32_t bundle = 0;
    std::uint64_t blocks = 0;  ///< bit i: block i of the bundle

    [[nodiscard]] std::uint32_t block_count() const noexcept {
        const Bundle& whole = run->bundles()[bundle];
        return blocks == whole.all_blocks() ? whole.block_count() : count_bits(blocks);
    }
    /// How many of the blocks have layouts that need the held version.
    [[nodiscard]] std::uint32_t held_count() const noexcept {
        return run->has_held() ? count_bits(blocks & run->bundles()[bundle].held_blocks) : 0;
    }
    /// Calls `visit(const BundleBlock&)` for each.
    template <typename Visitor>
    void for_each_block(Visitor visit) const {
        run->for_each_block(bundle, blocks,
                            [&](std::uint64_t, const BundleBlock& block) { visit(block); });
    }
    /// A block of that object is among them. O(log blocks).
    [[nodiscard]] bool carries(ObjectIndex index) const noexcept;
    /// The blocks among these that belong to `objects`.
    [[nodiscard]] SentBundle among(const BitRow& objects) const noexcept {
        return {run, bundle,
                run->keeps_all() ? blocks & run->blocks_in(run->bundles()[bundle], objects)
                                 : kept_among(objects)};
    }

  private:
    /// The same where not all blocks of the run are kept. O(blocks).
    [[nodiscard]] std::uint64_t kept_among(const BitRow& objects) const noexcept;
};

/// Bundles that follow each other, in whole packets of the run: all blocks of each. Or one, and any
/// blocks of it.
struct SentBundles {
    SentBundle first;
    std::uint32_t count = 1;

    [[nodiscard]] SentBundle operator[](std::uint32_t i) const noexcept {
        const std::uint32_t bundle = first.bundle + i;
        return {first.run, bundle,
                count == 1 ? first.blocks : first.run->bundles()[bundle].all_blocks()};
    }
    [[nodiscard]] std::uint32_t block_count() const noexcept {
        const std::span<const Bundle> bundles = first.run->bundles();
        return count == 1 ? first.block_count()
                          : bundles[first.bundle + count - 1].end - bundles[first.bundle].begin;
    }
    /// How many of these blocks have layouts that need the held version.
    [[nodiscard]] std::uint32_t held_count() const noexcept {
        if (!first.run->has_held()) {
            return 0;
        }
        std::uint32_t result = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            result += (*this)[i].held_count();
        }
        return result;
    }
    /// How many of them are in the first `packets` packets; the first of them begins one.
    [[nodiscard]] std::uint32_t in_packets(std::uint32_t packets) const noexcept {
        const std::uint32_t packet = first.run->bundles()[first.bundle].packet;
        REPLAYOUT_ASSERT(first.run->packet_begin(packet) == first.bundle);
        return first.run->packet_begin(packet + packets) - first.bundle;
    }
    /// The first `taken` of them are not of it any more.
    void drop_front(std::uint32_t taken) noexcept {
        const bool was_one = count == 1;
        count -= taken;
        first.bundle += taken;
        if (!was_one && count > 0) {
            first.blocks = first.run->bundles()[first.bundle].all_blocks();
        }
    }
    /// How many of them carry a block of that object. O(bundles x log blocks).
    [[nodiscard]] std::uint32_t carrying(ObjectIndex index) const noexcept {
        std::uint32_t result = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            result += (*this)[i].carries(index) ? 1u : 0u;
        }
        return result;
    }
};

}  // namespace replayout
