// SPDX-License-Identifier: MIT
#include "bundle_builder.h"

#include <algorithm>
#include <cstring>

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
                             std::size_t room_bytes, MemoryMeters& memory)
    : objects_(objects),
      changes_(changes),
      room_bytes_(room_bytes),
      resource_(&memory.in_flight),
      runs_(Allocator<BundleRun*>(resource_)),
      bytes_(Allocator<std::byte>(&memory.scratch)),
      taken_(Allocator<std::uint64_t>(&memory.scratch)),
      loose_(Allocator<std::uint32_t>(&memory.scratch)),
      values_(Allocator<LaidDownValue>(&memory.scratch)),
      value_ends_(Allocator<std::size_t>(&memory.scratch)) {
    begin_run();
}

BundleBuilder::~BundleBuilder() {
    for (BundleRun* run : runs_) {
        REPLAYOUT_ASSERT(!run->is_held());
        run->~BundleRun();
        resource_->deallocate(run, sizeof(BundleRun), alignof(BundleRun));
    }
}

void BundleBuilder::begin_run() {
    const auto found = std::find_if(runs_.begin(), runs_.end(),
                                    [](const BundleRun* run) { return !run->is_held(); });
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
    byte_count_ = 0;
    begin_bundle();
    taken_.clear();
    loose_.clear();
    values_.clear();
    value_ends_.clear();
}

inline void BundleBuilder::reserve_packet() {
    const std::size_t needed = byte_count_ + packet_header_bytes_max + room_bytes_ +
                               block_step_bytes_max + RowBlock::spare_bytes;
    if (bytes_.size() < needed) {
        bytes_.resize(std::max(needed, 2 * bytes_.size()));
    }
}

inline std::size_t BundleBuilder::begin_block(BundleBlock& block, std::size_t body_bytes) {
    const ChannelIndex channel = ObjectStore::channel_of(block.index);
    std::size_t head_bytes = block_step_bytes(last_channel_, channel);
    const std::size_t bundle_bytes = byte_count_ - bundle_begin_bytes_;
    if (bundle_bytes + head_bytes + body_bytes > room_bytes_) {
        end_bundle(true);
        head_bytes = block_step_bytes(ChannelIndex{}, channel);
    }
    reserve_packet();
    block.byte_offset = static_cast<std::uint32_t>(byte_count_);
    block.head_bytes = static_cast<std::uint16_t>(head_bytes);
    return byte_count_ + head_bytes;
}

inline void BundleBuilder::end_block(const BundleBlock& block, std::size_t body_bytes) noexcept {
    const ChannelIndex channel = ObjectStore::channel_of(block.index);
    const std::uint64_t step = std::uint64_t{channel.value} - last_channel_.value;
    std::byte* const head = bytes_.data() + block.byte_offset;
    if (block.head_bytes == 1) {
        *head = static_cast<std::byte>(step << 2);  // a packed number of one byte, and its flag
    } else {
        BitWriter writer(std::span(head, block.head_bytes));
        writer.write_packed_uint(step << 1);
        REPLAYOUT_ASSERT(!writer.overflowed() && writer.byte_count() == block.head_bytes);
    }
    byte_count_ += block.head_bytes + body_bytes;
    last_channel_ = channel;
}

inline bool BundleBuilder::lay_down_row(BundleBlock& block, ChangelistState& state,
                                        SendContext& context) {
    const RepLayout& layout = state.layout();
    if (!layout_facts_.is_simple || !type_counters_.empty()) {
        return false;
    }
    const std::uint64_t handles = state.newest();
    if (!row_.is_of(layout, handles)) {
        row_ = RowBlock(layout, handles);
    }
    const std::size_t body_bytes = row_.byte_count();
    if (row_.value_count() == 0 ||
        body_bytes >
            PacketBuilder::block_bytes_max(room_bytes_, ObjectStore::channel_of(block.index))) {
        return false;
    }
    const std::size_t place = begin_block(block, body_bytes);
    row_.write(state, bytes_.data() + place);
    end_block(block, body_bytes);
    block.property_count = static_cast<std::uint16_t>(row_.value_count());
    // Nobody can have sent any of it before, as it changed in this flush.
    state.shared().use_newest_in_place(state.version(), state.last_changed());
    context.counters.serializer_calls += row_.value_count();
    context.counters.pieces_built += row_.value_count();
    return true;
}

void BundleBuilder::build(SendContext& context, bool has_bytes,
                          std::span<TypeCounters> type_counters) {
    clear();
    is_built_ = true;
    has_bytes_ = has_bytes;
    type_counters_ = type_counters;
    const ValueScope not_sent(context.is_counting_sent, false);  // who takes it sends it
    changes_.objects.for_each([&](std::uint32_t index) {
        NetworkObjectInfo* const info = objects_.at(index);
        if (info != nullptr && facts_of(info->changelist_state().layout()).may_be_regular) {
            add(index, *info, context);
        }
    });
    end_bundle(false);
    context.type_counters = nullptr;
    taken_.assign(run_->bundles().size(), 0);
    context.counters.bundles_built += has_bytes ? run_->bundles().size() : 0;
}

void BundleBuilder::add(std::uint32_t index, NetworkObjectInfo& info, SendContext& context) {
    ChangelistState& state = info.changelist_state();
    if (state.version() == 0) {
        return;  // it is new, and as its archetype
    }
    BundleBlock block;
    block.index = index;
    block.version = state.version();
    if (!has_bytes_ || !lay_down_row(block, state, context)) {
        if (!collect_owed(info, context.scratch.owed)) {
            return;  // a regular pair is not to see what changed
        }
        if (has_bytes_ && !lay_down(block, context)) {
            loose_.push_back(index);
            return;
        }
    }
    info.set_bundled(changes_.flush, has_bytes_ ? block.version : 0);
    run_->add_block(block, has_bytes_ ? byte_count_ - block.byte_offset - block.head_bytes : 0);
    if (run_->unbundled_count() == BundleRun::blocks_per_bundle_max) {
        end_bundle(false);
    }
}

bool BundleBuilder::collect_owed(const NetworkObjectInfo& info, ChangeMask& owed) const {
    const ChangelistState& state = info.changelist_state();
    state.collect_newest(owed);
    if (!state.layout().conditions().is_trivial()) {
        state.conditions().filter(regular_conditions(info.facts()), owed);
    }
    return owed.any();
}

bool BundleBuilder::lay_down(BundleBlock& block, SendContext& context) {
    const ChannelIndex channel = ObjectStore::channel_of(block.index);
    reserve_packet();
    // Where it will lie at last is known when its length is: not before this.
    const std::size_t place = byte_count_ + block_step_bytes(last_channel_, channel);
    BitWriter body(std::span(bytes_.data(), bytes_.size())
                       .subspan(place, PacketBuilder::block_bytes_max(room_bytes_, channel)));
    ReplicationCounters& counters = context.counters;
    const std::uint64_t sent_before = counters.properties_sent;
    NetworkObjectInfo& info = *objects_.at(block.index);
    if (!type_counters_.empty()) {
        context.type_counters = &type_counters_[info.layout_number()];
    }
    const SendResult result =
        send_properties(info.changelist_state(), position_before(block.version),
                        context.scratch.owed, body, context);
    block.property_count = static_cast<std::uint16_t>(counters.properties_sent - sent_before);
    counters.properties_sent = sent_before;  // likewise
    if (result != SendResult::Whole || !context.scratch.left_out.empty()) {
        return false;
    }
    note_values(context.scratch);
    const std::size_t found = begin_block(block, body.byte_count());
    std::memmove(bytes_.data() + found, bytes_.data() + place, body.byte_count());
    end_block(block, body.byte_count());
    return true;
}

void BundleBuilder::note_values(const SendScratch& scratch) {
    if (type_counters_.empty()) {
        return;
    }
    for (std::uint32_t bit = scratch.owed.next(0); bit < scratch.owed.bit_count();
         bit = scratch.owed.next(bit + 1)) {
        values_.push_back({RepHandle{bit + 1}, scratch.value_bits[bit], scratch.copied_bits[bit]});
    }
    value_ends_.push_back(values_.size());
}

void BundleBuilder::begin_bundle() noexcept {
    byte_count_ += packet_header_bytes_max;
    bundle_begin_bytes_ = byte_count_;
    last_channel_ = ChannelIndex{};
}

void BundleBuilder::end_bundle(bool is_full) {
    run_->end_bundle(bundle_begin_bytes_, byte_count_, is_full);
    begin_bundle();
}

}  // namespace replayout
