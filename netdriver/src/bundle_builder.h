// SPDX-License-Identifier: MIT
//
// Between the compare and the connections: lays down, once, the blocks that every regular pair is
// owed of what changed.
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/send_properties.h>

#include "bundle_run.h"
#include "flush_changes.h"
#include "object_store.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

/// What a receiver of most objects is to an object with these facts: neither its owner, nor new,
/// nor a recording. Regular pairs meet the same conditions as it does.
[[nodiscard]] LifetimeConditionSet regular_conditions(const ObjectFacts& facts) noexcept;

/// Whether objects of that layout may have regular pairs: what such a pair is owed depends on
/// versions alone.
[[nodiscard]] inline bool may_be_regular(const RepLayout& layout) noexcept {
    // A serializer may name an object that was never met, which gets its id then. So it is asked in
    // the order in which objects are sent, which is not that of bundles.
    return layout.is_fully_shared() && !layout.needs_held_version() &&
           !layout.has_delta_structs() && !layout.has_net_serialize_structs();
}

/// What a pair is owed that was sent the version before, and lost nothing since.
[[nodiscard]] inline OwedVersions position_before(Version version) noexcept {
    OwedVersions position;
    position.sent_version = version - 1;
    return position;
}

class BundleBuilder {
  public:
    /// `room_bytes`: what an empty packet has room for.
    BundleBuilder(const ObjectStore& objects, const FlushChanges& changes, std::size_t room_bytes,
                  MemoryMeters& memory);
    ~BundleBuilder();
    BundleBuilder(const BundleBuilder&) = delete;
    BundleBuilder& operator=(const BundleBuilder&) = delete;

    /// Makes the run of this flush. `has_bytes`: blocks are laid down, too. `type_counters` by
    /// layout number; empty: nobody counts.
    void build(SendContext& context, bool has_bytes, std::span<TypeCounters> type_counters);
    /// Nobody takes anything in this flush.
    void clear() noexcept;

    /// In this flush; else no regular pair can be sent what changed.
    [[nodiscard]] bool is_built() const noexcept { return is_built_; }

    [[nodiscard]] BundleRun& run() noexcept { return *run_; }
    [[nodiscard]] const BundleRun& run() const noexcept { return *run_; }
    /// Its blocks are laid down, one behind the other; else each is to be written where it goes.
    [[nodiscard]] bool has_bytes() const noexcept { return has_bytes_; }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return std::span<const std::byte>(bytes_.data(), byte_count_);
    }
    /// The same, for who writes headers into the room in front of bundles, and hands these over
    /// with them, one connection after another. Connections that are assembled side by side need a
    /// copy of it each.
    [[nodiscard]] std::span<std::byte> bytes_with_room() noexcept {
        return std::span<std::byte>(bytes_.data(), byte_count_);
    }
    /// Where in bytes() a block of that bundle ends.
    [[nodiscard]] std::size_t end_of(const Bundle& bundle, std::uint32_t place) const noexcept {
        return place + 1 < bundle.end ? run_->blocks()[place + 1].byte_offset : bundle.bytes_end;
    }
    /// A block of that bundle, without its head.
    [[nodiscard]] std::span<const std::byte> body_of(const Bundle& bundle,
                                                     std::uint32_t place) const noexcept {
        const BundleBlock& block = run_->blocks()[place];
        const std::size_t begin = std::size_t{block.byte_offset} + block.head_bytes;
        return bytes().subspan(begin, end_of(bundle, place) - begin);
    }
    /// A value of a block that was laid down.
    struct LaidDownValue {
        RepHandle handle;
        std::uint64_t bits = 0;
        std::uint64_t bits_copied = 0;  ///< all or none: it was copied alone
    };
    /// Those of a block of run(). Known only where types are counted.
    [[nodiscard]] std::span<const LaidDownValue> values_of(std::uint32_t place) const noexcept {
        const std::size_t begin = place == 0 ? 0 : value_ends_[place - 1];
        return {values_.data() + begin, value_ends_[place] - begin};
    }
    /// Objects that changed and go alone, also to a regular pair: too large for a packet, or with a
    /// value that cannot be sent now. Known only where blocks are laid down.
    [[nodiscard]] std::span<const std::uint32_t> loose() const noexcept {
        return {loose_.data(), loose_.size()};
    }
    /// Says that a connection takes these blocks. Returns those of them that nobody took before.
    [[nodiscard]] std::uint64_t take(std::uint32_t bundle, std::uint64_t blocks) noexcept {
        const std::uint64_t fresh = blocks & ~taken_[bundle];
        taken_[bundle] |= blocks;
        return fresh;
    }

  private:
    /// One that nobody holds.
    void begin_run();
    /// What all objects of a layout have in common.
    struct LayoutFacts {
        const RepLayout* layout = nullptr;
        bool may_be_regular = false;
        bool is_simple = false;  ///< of few handles, and without conditions
    };
    [[nodiscard]] const LayoutFacts& facts_of(const RepLayout& layout) noexcept {
        if (layout_facts_.layout != &layout) {
            layout_facts_ = {&layout, may_be_regular(layout),
                             layout.handle_count() <= 64 && layout.conditions().is_trivial()};
        }
        return layout_facts_;
    }

    void add(std::uint32_t index, NetworkObjectInfo& info, SendContext& context);
    /// What regular pairs are owed of it. False: nothing.
    [[nodiscard]] bool collect_owed(const NetworkObjectInfo& info, ChangeMask& owed) const;
    /// False: it must go alone.
    [[nodiscard]] bool lay_down(BundleBlock& block, SendContext& context);
    void note_values(const SendScratch& scratch);
    /// The same of most that change (LayoutFacts::is_simple). False: it is something else, or there
    /// is no room for it, and nothing was done.
    [[nodiscard]] bool lay_down_row(BundleBlock& block, ChangelistState& state,
                                    SendContext& context);
    /// There is room for a packet more, and for what is written beyond it.
    void reserve_packet();
    /// Finds the place of a block with a body of so many bytes: in the next bundle, where this one
    /// has no room for it. Returns where in bytes() its body goes.
    [[nodiscard]] std::size_t begin_block(BundleBlock& block, std::size_t body_bytes);
    /// Its body is there.
    void end_block(const BundleBlock& block, std::size_t body_bytes) noexcept;
    void begin_bundle() noexcept;
    void end_bundle(bool is_full);

    const ObjectStore& objects_;
    const FlushChanges& changes_;
    std::size_t room_bytes_;
    MemoryResource* resource_;
    Vector<BundleRun*> runs_;
    BundleRun* run_ = nullptr;
    Vector<std::byte> bytes_;  // at least as many as are used
    bool is_built_ = false;
    bool has_bytes_ = false;
    std::size_t byte_count_ = 0;
    std::size_t bundle_begin_bytes_ = 0;  // of the bundle at hand
    ChannelIndex last_channel_;           // likewise
    LayoutFacts layout_facts_;            // of the last object
    RowBlock row_;                        // of the last block that is one
    Vector<std::uint64_t> taken_;         // by bundle
    Vector<std::uint32_t> loose_;
    std::span<TypeCounters> type_counters_;
    Vector<LaidDownValue> values_;    // of all blocks, one block behind the other
    Vector<std::size_t> value_ends_;  // in values_, by block
};

}  // namespace replayout
