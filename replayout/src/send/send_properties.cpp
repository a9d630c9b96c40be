// SPDX-License-Identifier: MIT
#include <replayout/send_properties.h>

#include "plain_leaf_run.h"
#include "property_writer.h"
#include "send_block.h"

namespace replayout {

namespace {

/// array_steps_of() for all of a block of that length. An upper bound: the bits of the block count
/// for each array, as nobody has measured the values one by one.
[[nodiscard]] std::size_t array_steps_of_block(const ChangelistState& state,
                                               const OwedVersions& position,
                                               const ChangeMask& handles, std::size_t block_bytes) {
    std::size_t steps = 0;
    if (state.layout().has_keyed_arrays()) {
        for (std::uint32_t bit = handles.next(0); bit < handles.bit_count();
             bit = handles.next(bit + 1)) {
            steps += array_steps_of(state, position, RepHandle{bit + 1}, block_bytes * 8, false);
        }
    }
    return steps;
}

/// A set has been written, and values of it failed: makes the set without them, to be written anew.
[[nodiscard]] const ChangeMask& leave_out_failed(const RepLayout& layout, const ChangeMask& owed,
                                                 SendScratch& scratch) {
    ChangeMask& rest = scratch.part;
    BlockFindings& findings = findings_of(scratch);
    rest.reset(owed.bit_count());
    rest.assign(owed);
    leave_out_groups(layout, owed, findings.left_out);
    for (const RepHandle handle : findings.left_out) {
        rest.clear(handle.value - 1);
    }
    findings.unmapped.clear();
    findings.put_off.clear();
    findings.values.clear();
    findings.deltas.clear();
    return rest;
}

/// The position of a receiver that was sent everything up to `version`.
[[nodiscard]] OwedVersions position_since(Version version) noexcept {
    OwedVersions position;
    position.sent_version = version;
    return position;
}

/// A block of one run. False: there may be no room for it, and nothing was done.
[[nodiscard]] inline bool write_plain_run(const ChangelistState& state, PlainLeafRun leaves,
                                          BitRegister code, BitWriter& writer) {
    const RepLayout& layout = state.layout();
    const ShadowOffset begin =
        layout.plain_leaf(layout.root(), RepHandle{leaves.begin_bit + 1}).shadow_begin;
    const ShadowOffset end = layout.plain_leaf(layout.root(), RepHandle{leaves.end_bit}).shadow_end;
    const std::uint32_t byte_count = end.value - begin.value;
    const std::uint32_t value_end = code.count + byte_count * 8;
    if (writer.overflowed() || value_end + 7 > writer.bits_left()) {
        return false;
    }
    const std::byte* bytes = (state.shadow() + begin).data();
    if (value_end + 7 <= 64) {
        // At once, as each write waits for the last one's byte.
        const auto padding = static_cast<std::uint32_t>(-(writer.bit_count() + value_end) & 7);
        writer.write_bits(code.bits | (detail::load_short(bytes, byte_count) << code.count),
                          value_end + padding);
    } else {
        writer.write_bits(code.bits, code.count);
        writer.write_bytes({bytes, byte_count});
        writer.finish_byte();
    }
    return true;
}

// Apart, and not inline, as it takes more registers than a run of plain leaves.
[[nodiscard, gnu::noinline]] SentBlock send_any(ChangelistState& state,
                                                const OwedVersions& position,
                                                const ChangeMask& owed, BitWriter& writer,
                                                SendContext& context) {
    BlockFindings& findings = begin_send(context.scratch);
    const BitWriter::Mark start = writer.mark();
    const std::size_t begin_bytes = writer.byte_count();
    PropertyWriter properties(state, position, context);
    std::uint32_t count = properties.write_block(owed, writer);
    // A serializer may fail at its second call alone.
    for (std::size_t failures = 0; !writer.overflowed() && findings.left_out.size() > failures;) {
        writer.rewind(start);
        const ChangeMask& rest = leave_out_failed(state.layout(), owed, context.scratch);
        failures = findings.left_out.size();
        if (!rest.any()) {
            return SentBlock(SendResult::Nothing, 0, 0, &findings);
        }
        count = properties.write_block(rest, writer);
    }
    const std::size_t array_steps =
        writer.overflowed()
            ? 0
            : array_steps_of_block(state, position, owed, writer.byte_count() - begin_bytes);
    if (writer.overflowed() || array_steps > context.array_steps_left) {
        writer.rewind(start);
        return SentBlock(SendResult::DoesNotFit, 0, 0, &findings);
    }
    count_block_values(count, findings, context);
    return SentBlock(SendResult::Whole, count, array_steps, &findings);
}

}  // namespace

// Most sets, where little changes, are one run of plain leaves, and get there by the shortest way.
// All others, and those that are counted by type, go by PropertyWriter, to the same bits; so does
// the one behind a send with deltas, whose states must be released (forget_deltas).
SentBlock send_properties(ChangelistState& state, const OwedVersions& position,
                          const ChangeMask& owed, BitWriter& writer, SendContext& context) {
    REPLAYOUT_ASSERT(owed.any());
    BlockFindings& findings = findings_of(context.scratch);
    const std::uint32_t bit_count = owed.bit_count();
    if (bit_count > small_set_bits_max || context.type_counters != nullptr ||
        !findings.deltas.empty() || !findings.unchanged.empty()) {
        return send_any(state, position, owed, writer, context);
    }
    PlainLeafRun leaves;
    if (!find_plain_run(state.layout(), owed.words().front(), leaves) ||
        !write_plain_run(state, leaves, leaves.code(bit_count), writer)) {
        return send_any(state, position, owed, writer, context);
    }
    count_plain_values(state, leaves.begin_bit, leaves.end_bit, context);
    if (context.is_counting_sent) {
        context.counters.properties_sent += leaves.value_count();
    }
    reset_findings(findings);
    return SentBlock(SendResult::Whole, leaves.value_count(), 0, &findings);
}

void encode_shared_serializers(ChangelistState& state, Version since, SendContext& context) {
    REPLAYOUT_ASSERT(since < state.version());
    BlockFindings& findings = begin_send(context.scratch);
    // Most receivers were sent the version before, so they are owed what changed of an array since.
    // If the game was not asked at each version, it has not written some older changes either.
    const OwedVersions newest = position_since(state.version() - 1);
    const OwedVersions unasked = position_since(since);
    for (const RepHandle handle : state.layout().shared_serializer_handles()) {
        if (state.last_changed(handle) <= since) {
            continue;
        }
        PropertyWriter(state, unasked, context).encode_shared(handle);
        if (since != newest.sent_version && context.shares_pieces() &&
            state.last_changed(handle) == state.version()) {
            PropertyWriter(state, newest, context).encode_shared(handle);
        }
    }
    reset_findings(findings);
}

std::size_t measure_property(ChangelistState& state, const OwedVersions& position, RepHandle handle,
                             SendContext& context) {
    return PropertyWriter(state, position, context).measure(handle);
}

MeasuredBlock measure_block(ChangelistState& state, const OwedVersions& position,
                            const ChangeMask& owed, SendContext& context) {
    PropertyWriter properties(state, position, context);
    std::size_t bits = change_mask_bits(owed, EmptySet::Impossible);
    for (std::uint32_t bit = owed.next(0); bit < owed.bit_count(); bit = owed.next(bit + 1)) {
        bits += properties.measure(RepHandle{bit + 1});
    }
    const std::size_t byte_count = (bits + 7) / 8;
    return {byte_count, array_steps_of_block(state, position, owed, byte_count),
            !findings_of(context.scratch).left_out.empty()};
}

}  // namespace replayout
