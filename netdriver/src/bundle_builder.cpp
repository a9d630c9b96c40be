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

bool may_be_regular(const RepLayout& layout) noexcept {
    // A serializer may name an object that was never met, which gets its id then. So it is asked in
    // the order in which objects are sent, which is not that of bundles.
    return layout.is_fully_shared() && !layout.needs_held_version() &&
           !layout.has_delta_structs() && !layout.has_net_serialize_structs();
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
    bundle_begin_bytes_ = 0;
    last_channel_ = ChannelIndex{};
    taken_.clear();
    loose_.clear();
    values_.clear();
    value_ends_.clear();
}

void BundleBuilder::build(SendContext& context, bool has_bytes,
                          std::span<TypeCounters> type_counters) {
    clear();
    is_built_ = true;
    has_bytes_ = has_bytes;
    type_counters_ = type_counters;
    const ValueScope not_sent(context.is_counting_sent, false);  // who takes it sends it
    for (std::uint32_t index = changes_.objects.next(0); index != BitRow::no_bit;
         index = changes_.objects.next(index + 1)) {
        const NetworkObjectInfo* info = objects_.at(index);
        if (info != nullptr && may_be_regular(info->changelist_state().layout())) {
            add(index, context);
        }
    }
    end_bundle(false);
    context.type_counters = nullptr;
    taken_.assign(run_->bundles().size(), 0);
    context.counters.bundles_built += has_bytes ? run_->bundles().size() : 0;
}

void BundleBuilder::add(std::uint32_t index, SendContext& context) {
    NetworkObjectInfo& info = *objects_.at(index);
    const ChangelistState& state = info.changelist_state();
    if (state.version() == 0) {
        return;  // it is new, and as its archetype
    }
    ChangeMask& owed = context.scratch.owed;
    state.collect_newest(owed);
    if (!state.layout().conditions().is_trivial()) {
        state.conditions().filter(regular_conditions(info.facts()), owed);
    }
    if (!owed.any()) {
        return;  // a regular pair is not to see what changed
    }
    BundleBlock block;
    block.index = index;
    block.version = state.version();
    if (has_bytes_ && !lay_down(block, context)) {
        loose_.push_back(index);
        return;
    }
    info.set_bundled(changes_.flush, has_bytes_ ? block.version : 0);
    run_->add_block(block, has_bytes_ ? byte_count_ - block.byte_offset - block.head_bytes : 0);
    if (run_->unbundled_count() == BundleRun::blocks_per_bundle_max) {
        end_bundle(false);
    }
}

bool BundleBuilder::lay_down(BundleBlock& block, SendContext& context) {
    const ChannelIndex channel = ObjectStore::channel_of(block.index);
    const std::size_t needed = byte_count_ + room_bytes_ + block_step_bytes_max;
    if (bytes_.size() < needed) {
        bytes_.resize(std::max(needed, 2 * bytes_.size()));
    }
    const std::span<std::byte> room = std::span(bytes_.data(), bytes_.size()).subspan(byte_count_);
    const std::size_t first_head_bytes = block_step_bytes(ChannelIndex{}, channel);
    const std::size_t head_bytes = block_step_bytes(last_channel_, channel);
    BitWriter body(room.subspan(head_bytes, PacketBuilder::block_bytes_max(room_bytes_, channel)));
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
    const std::size_t bundle_bytes = byte_count_ - bundle_begin_bytes_;
    std::size_t used_head_bytes = head_bytes;
    if (bundle_bytes + head_bytes + body.byte_count() > room_bytes_) {
        end_bundle(true);
        used_head_bytes = first_head_bytes;
        std::memmove(room.data() + used_head_bytes, room.data() + head_bytes, body.byte_count());
    }
    BitWriter head(room.first(used_head_bytes));
    head.write_packed_uint((std::uint64_t{channel.value} - last_channel_.value) << 1);
    REPLAYOUT_ASSERT(!head.overflowed() && head.byte_count() == used_head_bytes);
    block.byte_offset = static_cast<std::uint32_t>(byte_count_);
    block.head_bytes = static_cast<std::uint16_t>(used_head_bytes);
    byte_count_ += used_head_bytes + body.byte_count();
    last_channel_ = channel;
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

void BundleBuilder::end_bundle(bool is_full) {
    run_->end_bundle(is_full);
    bundle_begin_bytes_ = byte_count_;
    last_channel_ = ChannelIndex{};
}

}  // namespace replayout
