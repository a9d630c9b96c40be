// SPDX-License-Identifier: MIT
//
// Objects that one packet cannot hold, cut into parts: between values, and an array that is larger
// than a packet between its elements.
#include <replayout/send_properties.h>

#include <replayout/lost_parts.h>

#include "keyed_array_cutter.h"
#include "part_collector.h"
#include "send_block.h"

#include <optional>

namespace replayout {

namespace {

/// One part of an array.
struct ArrayPart {
    bool is_any = false;  ///< else not one element fits
    PlaceSpan places;
    std::optional<std::uint64_t> next;  ///< where it goes on; nothing: it was the last part
};

[[nodiscard]] ArrayPart cut_dynamic_array(const ShadowArray& array, PropertyWriter& properties,
                                          const RepCursor& begin, BitWriter& writer,
                                          SendContext& context) {
    ArrayPart part;
    if (array.count == 0) {
        return part;
    }
    // One that became shorter since the part before begins anew.
    const std::uint32_t first =
        begin.element < array.count ? static_cast<std::uint32_t>(begin.element) : 0;
    const BitWriter::Mark start = writer.mark();
    context.scratch.part.set(begin.handle.value - 1);
    const auto write = [&](std::uint32_t end) {
        write_change_mask(writer, context.scratch.part, EmptySet::Impossible);
        properties.write_elements(begin.handle, {first, end}, writer);
        writer.finish_byte();
    };
    const std::uint32_t end = last_fitting(first, array.count + 1, [&](std::uint32_t trial) {
        write(trial);
        const bool fits = !writer.overflowed();
        writer.rewind(start);
        return fits;
    });
    if (end > first) {
        write(end);
    }
    part.is_any = end > first;
    part.places.begin = first;
    if (end < array.count) {
        part.places.end = end;
        part.next = end;
    }
    return part;
}

[[nodiscard]] ArrayPart cut_keyed_array(const ShadowKeyedArray& array, PropertyWriter& properties,
                                        const OwedVersions& position, const RepCursor& begin,
                                        BitWriter& writer, SendContext& context) {
    context.scratch.part.set(begin.handle.value - 1);
    KeyedArrayCutter cutter(array, properties, begin.handle, writer, context.scratch);
    const std::optional<KeyedPart> written = cutter.write(begin.element);
    if (!written) {
        return {};
    }
    cutter.collect_carried_deletions(*written, position, findings_of(context.scratch).carried);
    return {true, written->places, cutter.next(*written)};
}

/// Of a value that cannot be cut there is no part.
[[nodiscard]] ArrayPart cut_value(const ChangelistState& state, PropertyWriter& properties,
                                  const OwedVersions& position, const RepCursor& begin,
                                  BitWriter& writer, SendContext& context) {
    const RepLayout& layout = state.layout();
    const RepLayoutCmd& cmd = layout.cmd(layout.cmd_of(layout.root(), begin.handle));
    const ConstShadowBuffer leaf = state.shadow() + cmd.shadow_offset;
    context.scratch.part.reset(layout.handle_count());
    switch (cmd.type) {
        case RepLayoutCmdType::DynamicArray:
            return cut_dynamic_array(shadow_value<ShadowArray>(leaf), properties, begin, writer,
                                     context);
        case RepLayoutCmdType::KeyedArray:
            return cut_keyed_array(shadow_value<ShadowKeyedArray>(leaf), properties, position,
                                   begin, writer, context);
        default:
            return {};
    }
}

[[nodiscard]] SentBlock send_array_part(ChangelistState& state, PropertyWriter& properties,
                                        const OwedVersions& position, const ChangeMask& owed,
                                        RepCursor& begin, RepRange& range, BitWriter& writer,
                                        SendContext& context) {
    BlockFindings& findings = findings_of(context.scratch);
    const RepHandle handle = begin.handle;
    const std::size_t begin_bytes = writer.byte_count();
    const ArrayPart part = cut_value(state, properties, position, begin, writer, context);
    begin = {RepHandle{handle.value + 1}, 0};
    range = RepRange::of(handle);
    if (!part.is_any) {
        return SentBlock(SendResult::ValueTooLarge, 0, 0, &findings);
    }
    const std::size_t array_steps =
        array_steps_of(state, position, handle, (writer.byte_count() - begin_bytes) * 8, true);
    range.element_begin = part.places.begin;
    range.element_end = part.places.end;
    if (part.next) {
        begin = {handle, *part.next};
    }
    collect_carried(position, state.version(), range, findings.carried,
                    state.keeps_versions_apart(position.lost.after, position.restart_version));
    ++context.counters.properties_sent;
    count_sent_values(findings.values, context);
    const bool is_last =
        begin.element == 0 && owed.next(begin.handle.value - 1) == owed.bit_count();
    return SentBlock(is_last ? SendResult::Whole : SendResult::Part, 1, array_steps, &findings);
}

}  // namespace

SentBlock send_part(ChangelistState& state, const OwedVersions& position, const ChangeMask& owed,
                    RepCursor& begin, RepRange& range, BitWriter& writer, SendContext& context) {
    BlockFindings& findings = begin_send(context.scratch);
    PropertyWriter properties(state, position, context);
    if (begin.element > 0) {
        return send_array_part(state, properties, position, owed, begin, range, writer, context);
    }
    PartCollector part(state, position, properties, owed, context);
    const std::uint32_t begin_bit = owed.next(begin.handle.value - 1);
    REPLAYOUT_ASSERT(begin_bit < owed.bit_count());
    const std::uint32_t bit = part.collect(begin_bit, writer.bits_left());
    const std::uint32_t first = part.first();
    if (first == owed.bit_count()) {
        begin = {RepHandle{bit + 1}, 0};
        return SentBlock(SendResult::Nothing, 0, 0, &findings);
    }
    if (bit == first) {
        const RepGroup* group =
            state.layout().find_group(state.layout().root(), RepHandle{first + 1});
        if (group != nullptr) {
            range = {group->handle_begin, group->handle_end};
            begin = {RepHandle{group->handle_end}, 0};
            return SentBlock(SendResult::ValueTooLarge, 0, 0, &findings);
        }
        begin = {RepHandle{first + 1}, 0};
        return send_array_part(state, properties, position, owed, begin, range, writer, context);
    }
    const std::uint32_t count = properties.write_block(context.scratch.part, writer);
    REPLAYOUT_ASSERT(!writer.overflowed());
    count_block_values(count, findings, context);
    const bool is_last = bit == owed.bit_count();
    range = {first + 1, is_last ? RepRange::no_handle_end : bit + 1};
    collect_carried(position, state.version(), range, findings.carried,
                    state.keeps_versions_apart(position.lost.after, position.restart_version));
    begin = {RepHandle{bit + 1}, 0};
    return SentBlock(is_last ? SendResult::Whole : SendResult::Part, count, part.array_steps(),
                     &findings);
}

}  // namespace replayout
