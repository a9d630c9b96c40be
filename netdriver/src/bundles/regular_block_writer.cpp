// SPDX-License-Identifier: MIT
#include "regular_block_writer.h"

#include <cstring>

#include "packet_builder.h"
#include "regular_receiver.h"

namespace replayout {

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

inline bool RegularBlockWriter::lay_down_plain(BundleBlock& block, ChangelistState& state,
                                               BlockBytes& bytes, SendContext& context) const {
    const RepLayout& layout = state.layout();
    if (!bytes.layout_facts.is_simple || !type_counters_.empty()) {
        return false;
    }
    const std::uint64_t handles = state.newest();
    PlainBlock& plain = bytes.plain;
    if (!plain.is_of(layout, handles)) {
        plain = PlainBlock(layout, handles);
    }
    if (plain.value_count() == 0) {
        return false;
    }
    std::byte* const body = bytes.add_block(block, channel_of(block.index), plain.byte_count());
    if (body == nullptr) {
        return false;
    }
    plain.write(state, body);
    block.body_bytes = static_cast<std::uint16_t>(plain.byte_count());
    block.property_count = static_cast<std::uint16_t>(plain.value_count());
    // Nobody can have sent any of it before, as it changed in this flush.
    state.shared().use_newest_in_place(state.version(), state.last_changed());
    context.counters.values_encoded += plain.value_count();
    return true;
}

RegularBlockWriter::Attempt RegularBlockWriter::lay_down(ObjectIndex index, BundleBlock& block,
                                                         BlockBytes& bytes,
                                                         SendContext& context) const {
    ServerObject* const info = objects_.at(index);
    if (info == nullptr) {
        return {};
    }
    ChangelistState& state = info->changelist_state();
    // What has no version is new, and as its archetype.
    if (!facts_of(state.layout(), bytes.layout_facts).may_be_regular || state.version() == 0) {
        return {};
    }
    block.index = index;
    block.version = state.version();
    if (bytes.layout_facts.needs_held_version) {
        block.needs_held_version = true;
        block.is_pivot = state.pivots().newest == block.version;
    }
    const BlockFindings* findings = nullptr;
    if (!has_bytes() || !lay_down_plain(block, state, bytes, context)) {
        ChangeMask& owed = context.scratch.owed;
        if (unasked_.test(index) || !collect_owed(*info, owed)) {
            return {};
        }
        BundleBlock own = block;  // because the caller has the other one in registers
        findings = has_bytes() ? lay_down_owed(own, owed, bytes, context) : nullptr;
        if (has_bytes() ? findings == nullptr
                        : contents_ == Contents::Measured && !measure(own, owed, bytes, context)) {
            return {LaidDown::Loose};
        }
        block = own;
    }
    info->set_bundled(changes_.flush, has_bytes() ? block.version : 0);
    return {LaidDown::Block, findings};
}

[[gnu::noinline]] bool RegularBlockWriter::collect_owed(const ServerObject& info,
                                                        ChangeMask& owed) const {
    const ChangelistState& state = info.changelist_state();
    if (state.layout().has_atomic_groups()) {
        state.collect_owed(position_before_newest(state), owed);
    } else {
        state.collect_newest(owed);
    }
    if (!state.layout().conditions().is_trivial()) {
        state.conditions().filter(regular_conditions(info.ownership()), owed);
    }
    return owed.any();
}

[[gnu::noinline]] const BlockFindings* RegularBlockWriter::lay_down_owed(
    BundleBlock& block, const ChangeMask& owed, BlockBytes& bytes, SendContext& context) const {
    const ChannelIndex channel = channel_of(block.index);
    bytes.reserve_packet();
    // Where it will lie at last is known when its length is: not before this.
    const std::size_t written_at = bytes.next_body(channel);
    BitWriter body({bytes.data() + written_at, bytes.body_bytes_max(channel)});
    ServerObject& info = *objects_.at(block.index);
    count_type_of(info, type_counters_, context);
    OwedVersions position;
    position.sent_version = block.version - 1;
    if (bytes.layout_facts.needs_held_version) {
        position.held_version = held_before_regular(info.changelist_state(), block.version);
    }
    if (bytes.layout_facts.needs_held_version &&
        info.changelist_state().must_restart_arrays(position, owed)) {
        return nullptr;
    }
    const SentBlock sent = send_properties(info.changelist_state(), position, owed, body, context);
    if (sent != SendResult::Whole || !sent.findings->left_out.empty() ||
        (bytes.layout_facts.needs_held_version &&
         sent.array_steps > body.byte_count() * array_steps_per_byte(bytes.room_bytes()))) {
        return nullptr;
    }
    block.property_count = sent.property_count;
    bytes.make_room(channel, body.byte_count());
    bytes.reserve_packet();
    bytes.begin_block(block, channel);
    std::memmove(bytes.data() + bytes.next_body(channel), bytes.data() + written_at,
                 body.byte_count());
    bytes.end_block(block, channel, body.byte_count());
    block.body_bytes = static_cast<std::uint16_t>(body.byte_count());
    return sent.findings;
}

bool RegularBlockWriter::measure(BundleBlock& block, const ChangeMask& owed,
                                 const BlockBytes& bytes, SendContext& context) const {
    ReplicationCounters uncounted;
    ChangelistState& state = objects_.at(block.index)->changelist_state();
    // The game was asked for what its serializers write; of other values nothing is kept here.
    const SharingLevel sharing =
        state.layout().has_net_serialize_structs() ? context.sharing : SharingLevel::Off;
    SendContext apart{context.package_map, uncounted, context.scratch, sharing, nullptr, false};
    const OwedVersions position = position_before_newest(state);
    if (state.must_restart_arrays(position, owed)) {
        return false;
    }
    const MeasuredBlock measured = measure_block(state, position, owed, apart);
    block.body_bytes = static_cast<std::uint16_t>(measured.byte_count);
    return measured.byte_count <= bytes.body_bytes_max(channel_of(block.index)) &&
           !measured.has_left_out &&
           measured.array_steps <= measured.byte_count * array_steps_per_byte(bytes.room_bytes());
}

}  // namespace replayout
