// SPDX-License-Identifier: MIT
#include "bundle_builder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "blocks_ahead.h"
#include "lane_blocks.h"
#include "packet_builder.h"
#include "value_scope.h"

namespace replayout {

LifetimeConditionSet regular_conditions(const ObjectFacts& facts) noexcept {
    ReplicationFlags flags;
    flags.is_simulated = true;
    flags.has_physics = facts.has_physics;
    return passing_conditions(flags);
}

BundleBuilder::BundleBuilder(const ObjectStore& objects, const FlushChanges& changes,
                             const BitRow& unasked, std::size_t room_bytes, MemoryMeters& memory)
    : objects_(objects),
      changes_(changes),
      unasked_(unasked),
      resource_(&memory.in_flight),
      runs_(Allocator<BundleRun*>(resource_)),
      bytes_(room_bytes, &memory.scratch),
      held_(Allocator<std::uint64_t>(&memory.scratch)),
      taken_(Allocator<std::uint64_t>(&memory.scratch)),
      loose_(Allocator<std::uint32_t>(&memory.scratch)),
      pivoted_(Allocator<std::uint32_t>(&memory.scratch)),
      values_(Allocator<LaidDownValue>(&memory.scratch)),
      value_ends_(Allocator<std::size_t>(&memory.scratch)) {
    begin_run();
}

BundleBuilder::~BundleBuilder() {
    for (BundleRun* run : runs_) {
        drop(run);
    }
}

void BundleBuilder::drop(BundleRun* run) noexcept {
    REPLAYOUT_ASSERT(!run->is_held());
    run->~BundleRun();
    resource_->deallocate(run, sizeof(BundleRun), alignof(BundleRun));
}

void BundleBuilder::give_back() {
    clear();
    const auto end = std::remove_if(runs_.begin(), runs_.end(), [this](BundleRun* run) {
        const bool is_dropped = run != run_ && !run->is_held();
        if (is_dropped) {
            drop(run);
        }
        return is_dropped;
    });
    runs_.erase(end, runs_.end());
    runs_.shrink_to_fit();
    run_->give_back();
}

void BundleBuilder::trim() {
    clear();
    bytes_.trim();
    // The one that is not held and comes first is taken, so the last ones rest.
    const std::size_t kept = 2 * std::exchange(runs_needed_, 1);
    while (runs_.size() > kept && runs_.back() != run_ && !runs_.back()->is_held()) {
        drop(runs_.back());
        runs_.pop_back();
    }
    for (BundleRun* run : runs_) {
        if (!run->is_held()) {
            run->begin(changes_.flush);
            run->trim();
        }
    }
}

void BundleBuilder::begin_run() {
    const auto found = std::find_if(runs_.begin(), runs_.end(),
                                    [](const BundleRun* run) { return !run->is_held(); });
    runs_needed_ = std::max(runs_needed_, static_cast<std::size_t>(found - runs_.begin()) + 1);
    if (found != runs_.end()) {
        run_ = *found;
        run_->begin(changes_.flush);
        return;
    }
    void* memory = resource_->allocate(sizeof(BundleRun), alignof(BundleRun));
    run_ = ::new (memory) BundleRun(resource_);
    run_->begin(changes_.flush);
    runs_.push_back(run_);
}

void BundleBuilder::clear() noexcept {
    if (run_->is_held()) {
        begin_run();
    } else {
        run_->begin(changes_.flush);
    }
    is_built_ = false;
    bytes_.begin(run_);
    taken_.clear();
    loose_.clear();
    has_held_ = false;
    has_pivots_ = false;
    pivoted_.clear();
    values_.clear();
    value_ends_.clear();
}

namespace {

[[nodiscard]] const LayoutFacts& facts_of(const RepLayout& layout, LayoutFacts& facts) noexcept {
    if (facts.layout != &layout) {
        facts = {&layout, may_be_regular(layout),
                 layout.handle_count() <= 64 && layout.conditions().is_trivial(),
                 layout.needs_held_version()};
    }
    return facts;
}

}  // namespace

inline bool BundleBuilder::lay_down_row(BundleBlock& block, ChangelistState& state,
                                        BlockBytes& bytes, SendContext& context) const {
    const RepLayout& layout = state.layout();
    if (!bytes.layout_facts.is_simple || !type_counters_.empty()) {
        return false;
    }
    const std::uint64_t handles = state.newest();
    RowBlock& row = bytes.row;
    if (!row.is_of(layout, handles)) {
        row = RowBlock(layout, handles);
    }
    if (row.value_count() == 0) {
        return false;
    }
    std::byte* const body =
        bytes.add_block(block, ObjectStore::channel_of(block.index), row.byte_count());
    if (body == nullptr) {
        return false;
    }
    row.write(state, body);
    block.body_bytes = static_cast<std::uint16_t>(row.byte_count());
    block.property_count = static_cast<std::uint16_t>(row.value_count());
    // Nobody can have sent any of it before, as it changed in this flush.
    state.shared().use_newest_in_place(state.version(), state.last_changed());
    context.counters.values_encoded += row.value_count();
    return true;
}

// Of a few values the copy is the least: what is the same for all of them is found out before.
template <typename Blocks>
[[gnu::flatten]] std::uint64_t BundleBuilder::lay_down_rows(std::size_t word, std::uint64_t objects,
                                                            BlockBytes& bytes, Blocks& blocks,
                                                            BlocksAhead& blocks_ahead,
                                                            SendContext& context) const {
    if (objects == 0 || !has_bytes() || !type_counters_.empty() || !bytes.is_row_known()) {
        return objects;
    }
    // Of their own: what is written might be anything else.
    const RowBlock row = bytes.row;
    if (row.layout()->needs_held_version()) {
        return objects;  // each block must say so, and whether it is a pivot
    }
    BlocksAhead ahead = blocks_ahead;
    const ObjectStore& known_objects = objects_;
    const auto first_index = static_cast<std::uint32_t>(word << 6);
    const std::uint64_t flush = changes_.flush;
    const std::uint32_t count_max = blocks.row_count_max();
    BlockBytes::RowPlace place = bytes.begin_row(row.byte_count());
    const std::uint32_t room_count =
        std::min(count_max, static_cast<std::uint32_t>(std::popcount(objects)));
    BundleBlock* const row_blocks = blocks.begin_row(room_count);
    std::uint32_t count = 0;
    std::uint64_t left = objects;
    for (; left != 0 && count < count_max; left &= left - 1, ++count) {
        const std::uint32_t index =
            first_index + static_cast<std::uint32_t>(std::countr_zero(left));
        const ChannelIndex channel = ObjectStore::channel_of(index);
        NetworkObjectInfo* const info = known_objects.at(index);
        if (info == nullptr || !place.has_room(channel)) {
            break;
        }
        ChangelistState& state = info->changelist_state();
        const Version version = state.version();
        if (version == 0 || &state.layout() != row.layout() ||
            !row.is_of(state.layout(), state.newest())) {
            break;
        }
        ahead.step(row);
        row_blocks[count] =
            BundleBlock(index, version, place.byte_count, 1, row.value_count(), row.byte_count());
        row.write(state, place.add(channel, row.byte_count()));
        state.shared().use_newest_in_place(version, state.last_changed());
        info->set_bundled(flush, version);
    }
    blocks.end_row(room_count - count);
    if (count > 0) {
        blocks_ahead = ahead;
        bytes.end_row(place);
        const std::uint64_t value_count = std::uint64_t{count} * row.value_count();
        blocks.count_appended(count, {static_cast<std::uint32_t>(word), objects & ~left},
                              value_count, count * row.byte_count());
        context.counters.values_encoded += value_count;
    }
    return left;
}

// For bundle_builder_lanes.cpp; that of a BundleRun is called in this file alone.
template std::uint64_t BundleBuilder::lay_down_rows(std::size_t word, std::uint64_t objects,
                                                    BlockBytes& bytes, LaneBlocks& blocks,
                                                    BlocksAhead& blocks_ahead,
                                                    SendContext& context) const;

BundleBuilder::LaidDown BundleBuilder::lay_down(std::uint32_t index, BundleBlock& block,
                                                BlockBytes& bytes, SendContext& context) const {
    NetworkObjectInfo* const info = objects_.at(index);
    if (info == nullptr) {
        return LaidDown::Nothing;
    }
    ChangelistState& state = info->changelist_state();
    // What has no version is new, and as its archetype.
    if (!facts_of(state.layout(), bytes.layout_facts).may_be_regular || state.version() == 0) {
        return LaidDown::Nothing;
    }
    block.index = index;
    block.version = state.version();
    if (bytes.layout_facts.needs_held_version) {
        block.needs_held_version = true;
        block.is_pivot = state.pivots().newest == block.version;
    }
    if (!has_bytes() || !lay_down_row(block, state, bytes, context)) {
        if (unasked_.test(index)) {
            return LaidDown::Nothing;
        }
        if (!collect_owed(*info, context.scratch.owed)) {
            return LaidDown::Nothing;
        }
        BundleBlock owed = block;  // of its own: who calls has the other one in registers
        if (contents_ != Contents::Objects &&
            !(has_bytes() ? lay_down_owed(owed, bytes, context) : measure(owed, context))) {
            return LaidDown::Loose;
        }
        block = owed;
    }
    info->set_bundled(changes_.flush, has_bytes() ? block.version : 0);
    return LaidDown::Block;
}

[[gnu::noinline]] bool BundleBuilder::collect_owed(const NetworkObjectInfo& info,
                                                   ChangeMask& owed) const {
    const ChangelistState& state = info.changelist_state();
    if (state.layout().has_atomic_groups()) {
        state.collect_owed(position_before_newest(state), owed);
    } else {
        state.collect_newest(owed);
    }
    if (!state.layout().conditions().is_trivial()) {
        state.conditions().filter(regular_conditions(info.facts()), owed);
    }
    return owed.any();
}

[[gnu::noinline]] bool BundleBuilder::lay_down_owed(BundleBlock& block, BlockBytes& bytes,
                                                    SendContext& context) const {
    const ChannelIndex channel = ObjectStore::channel_of(block.index);
    bytes.reserve_packet();
    // Where it will lie at last is known when its length is: not before this.
    const std::size_t first_place = bytes.next_body(channel);
    BitWriter body({bytes.data() + first_place, bytes.body_bytes_max(channel)});
    ReplicationCounters& counters = context.counters;
    const std::uint64_t sent_before = counters.properties_sent;
    NetworkObjectInfo& info = *objects_.at(block.index);
    if (!type_counters_.empty()) {
        context.type_counters = &type_counters_[info.layout_number()];
    }
    OwedVersions position;
    position.sent_version = block.version - 1;
    if (bytes.layout_facts.needs_held_version) {
        position.held_version = held_before_regular(info.changelist_state(), block.version);
    }
    if (bytes.layout_facts.needs_held_version &&
        info.changelist_state().must_restart_arrays(position, context.scratch.owed)) {
        return false;
    }
    const SendResult result =
        send_properties(info.changelist_state(), position, context.scratch.owed, body, context);
    block.property_count = static_cast<std::uint16_t>(counters.properties_sent - sent_before);
    counters.properties_sent = sent_before;  // who takes it sends it
    if (result != SendResult::Whole || !context.scratch.left_out.empty() ||
        (bytes.layout_facts.needs_held_version &&
         context.scratch.array_steps > body.byte_count() * array_steps_per_byte())) {
        return false;
    }
    bytes.make_room(channel, body.byte_count());
    bytes.reserve_packet();
    bytes.begin_block(block, channel);
    std::memmove(bytes.data() + bytes.next_body(channel), bytes.data() + first_place,
                 body.byte_count());
    bytes.end_block(block, channel, body.byte_count());
    block.body_bytes = static_cast<std::uint16_t>(body.byte_count());
    return true;
}

bool BundleBuilder::measure(BundleBlock& block, SendContext& context) const {
    ReplicationCounters uncounted;
    ChangelistState& state = objects_.at(block.index)->changelist_state();
    // The game was asked for what its serializers write; of other values nothing is kept here.
    const SharingLevel sharing =
        state.layout().has_net_serialize_structs() ? context.sharing : SharingLevel::Off;
    SendContext apart{context.package_map, uncounted, context.scratch, sharing, nullptr, false};
    const OwedVersions position = position_before_newest(state);
    if (state.must_restart_arrays(position, context.scratch.owed)) {
        return false;
    }
    const std::size_t byte_count = measure_block(state, position, context.scratch.owed, apart);
    block.body_bytes = static_cast<std::uint16_t>(byte_count);
    return byte_count <= bytes_.body_bytes_max(ObjectStore::channel_of(block.index)) &&
           context.scratch.left_out.empty() &&
           context.scratch.array_steps <= byte_count * array_steps_per_byte();
}

void BundleBuilder::build(SendContext& context, Contents contents,
                          std::span<const std::uint32_t> order,
                          std::span<TypeCounters> type_counters) {
    clear();
    is_built_ = true;
    contents_ = contents;
    type_counters_ = type_counters;
    const ValueScope not_sent(context.is_counting_sent, false);  // who takes it sends it
    for (const std::uint32_t index : order) {
        add(index, context);
    }
    const std::size_t word_count = order.empty() ? changes_.objects.word_count() : 0;
    BlocksAhead ahead(objects_, changes_.objects, {0, word_count});
    for (std::size_t word = 0; word < word_count; ++word) {
        std::uint64_t left = changes_.objects.word(word);
        while ((left = lay_down_rows(word, left, bytes_, *run_, ahead, context)) != 0) {
            ahead.step(bytes_.row);
            add(first_index_of(word, left), context);
            left &= left - 1;
        }
    }
    context.type_counters = nullptr;
    finish(order, context);
}

void BundleBuilder::finish(std::span<const std::uint32_t> order, SendContext& context) {
    bytes_.end_bundle();
    if (!order.empty()) {
        run_->find_places(changes_);
    }
    if (has_held_) {
        run_->find_held();
    }
    if (has_pivots_) {
        for (const BundleBlock& block : run_->blocks()) {
            if (block.is_pivot) {
                pivoted_.push_back(block.index);
            }
        }
    }
    taken_.assign(run_->bundles().size(), 0);
    taken_end_.store(0, std::memory_order_relaxed);
    context.counters.bundles_built += has_bytes() ? run_->bundles().size() : 0;
}

inline void BundleBuilder::add(std::uint32_t index, SendContext& context) {
    BundleBlock block;
    switch (lay_down(index, block, bytes_, context)) {
        case LaidDown::Block:
            note_values(context.scratch);
            has_held_ = has_held_ || block.needs_held_version;
            has_pivots_ = has_pivots_ || block.is_pivot;
            add_block(block);
            break;
        case LaidDown::Loose:
            loose_.push_back(index);
            break;
        case LaidDown::Nothing:
            break;
    }
}

inline void BundleBuilder::note_values(const SendScratch& scratch) {
    if (type_counters_.empty() || !has_bytes()) {
        return;
    }
    for (std::uint32_t bit = scratch.owed.next(0); bit < scratch.owed.bit_count();
         bit = scratch.owed.next(bit + 1)) {
        values_.push_back({RepHandle{bit + 1}, scratch.value_bits[bit], scratch.copied_bits[bit]});
    }
    value_ends_.push_back(values_.size());
}

}  // namespace replayout
