// SPDX-License-Identifier: MIT
#include <replayout/send_properties.h>

#include "property_writer.h"

namespace replayout {

SendScratch::SendScratch(MemoryResource* resource)
    : owed(resource),
      part(resource),
      value_bits(Allocator<std::uint64_t>(resource)),
      elements(Allocator<ChangeMask>(resource)),
      value(Allocator<std::byte>(resource)),
      check(Allocator<std::byte>(resource)),
      guids(Allocator<NetGUID>(resource)),
      unmapped(Allocator<UnmappedValue>(resource)),
      left_out(Allocator<RepHandle>(resource)) {
    elements.reserve(nesting_depth_max + 1);
    for (std::uint32_t depth = 0; depth <= nesting_depth_max; ++depth) {
        elements.emplace_back(resource);
    }
}

namespace {

/// A block with these values stands.
void count_sent(const ChangeMask& handles, SendContext& context) {
    for (std::uint32_t bit = handles.next(0); bit < handles.bit_count();
         bit = handles.next(bit + 1)) {
        PropertyCounters& property = context.type_counters->of(RepHandle{bit + 1});
        ++property.values_sent;
        property.bits_sent += context.scratch.value_bits[bit];
    }
}

void write_block(PropertyWriter& properties, const ChangeMask& handles, BitWriter& writer,
                 SendContext& context) {
    const std::size_t failures = context.scratch.left_out.size();
    write_change_mask(writer, handles, EmptySet::Impossible);
    std::uint32_t count = 0;
    std::uint32_t end = 0;
    for (std::uint32_t begin = handles.next(0); begin < handles.bit_count() && !writer.overflowed();
         begin = handles.next(end)) {
        end = handles.next_clear(begin);
        properties.write_values(begin, end, writer);
        count += end - begin;
    }
    writer.finish_byte();
    if (!writer.overflowed() && context.scratch.left_out.size() == failures) {
        context.counters.properties_sent += count;
        if (context.type_counters != nullptr) {
            count_sent(handles, context);
        }
    }
}

void begin_send(SendScratch& scratch) noexcept {
    scratch.unmapped.clear();
    scratch.left_out.clear();
}

/// A set has been written, and values of it failed: writes it once more, without them.
[[nodiscard]] SendResult write_without_failed(PropertyWriter& properties, const ChangeMask& owed,
                                              BitWriter& writer, SendContext& context) {
    SendScratch& scratch = context.scratch;
    ChangeMask& rest = scratch.part;
    rest.reset(owed.bit_count());
    for (std::uint32_t bit = owed.next(0); bit < owed.bit_count(); bit = owed.next(bit + 1)) {
        rest.set(bit);
    }
    for (const RepHandle handle : scratch.left_out) {
        rest.clear(handle.value - 1);
    }
    scratch.unmapped.clear();
    if (!rest.any()) {
        return SendResult::Nothing;
    }
    write_block(properties, rest, writer, context);
    return SendResult::Whole;
}

/// Cuts one array between elements.
class ArrayCutter {
  public:
    ArrayCutter(PropertyWriter& properties, ChangeMask& part, RepHandle handle, BitWriter& writer)
        : properties_(properties), part_(part), handle_(handle), writer_(writer) {
        part_.reset(part_.bit_count());
        part_.set(handle.value - 1);
    }

    /// Writes as many elements from `begin` on as fit. Returns the end; `begin` when none fits.
    [[nodiscard]] std::uint32_t write(std::uint32_t begin, std::uint32_t count) {
        std::uint32_t fitting = begin;
        std::uint32_t too_many = count + 1;
        while (fitting + 1 < too_many) {
            const std::uint32_t end = fitting + (too_many - fitting) / 2;
            if (try_write({begin, end})) {
                fitting = end;
            } else {
                too_many = end;
            }
        }
        if (fitting > begin) {
            writer_.rewind(start_);
            write_once({begin, fitting});
        }
        return fitting;
    }

  private:
    bool try_write(ElementSpan span) {
        writer_.rewind(start_);
        write_once(span);
        const bool fits = !writer_.overflowed();
        writer_.rewind(start_);
        return fits;
    }

    void write_once(ElementSpan span) {
        write_change_mask(writer_, part_, EmptySet::Impossible);
        properties_.write_elements(handle_, span, writer_);
        writer_.finish_byte();
    }

    PropertyWriter& properties_;
    ChangeMask& part_;
    RepHandle handle_;
    BitWriter& writer_;
    BitWriter::Mark start_ = writer_.mark();
};

[[nodiscard]] const ShadowArray* find_array(const ChangelistState& state, RepHandle handle) {
    const RepLayout& layout = state.layout();
    const RepLayoutCmd& cmd = layout.cmd(layout.cmd_of(layout.root(), handle));
    return cmd.type == RepLayoutCmdType::DynamicArray
               ? &shadow_value<ShadowArray>(state.shadow() + cmd.shadow_offset)
               : nullptr;
}

[[nodiscard]] SendResult send_array_part(ChangelistState& state, PropertyWriter& properties,
                                         const ChangeMask& owed, RepCursor& begin, RepRange& range,
                                         BitWriter& writer, SendContext& context) {
    const RepHandle handle = begin.handle;
    const ShadowArray* array = find_array(state, handle);
    range = {handle.value, handle.value + 1, 0, RepRange::no_end};
    std::uint32_t end = begin.element;
    if (array != nullptr && array->count > 0) {
        ArrayCutter cutter(properties, context.scratch.part, handle, writer);
        end = cutter.write(begin.element, array->count);
    }
    if (end == begin.element) {
        begin = {RepHandle{handle.value + 1}, 0};
        return SendResult::ValueTooLarge;
    }
    range.element_begin = begin.element;
    if (end == array->count) {
        begin = {RepHandle{handle.value + 1}, 0};
    } else {
        range.element_end = end;
        begin.element = end;
    }
    ++context.counters.properties_sent;
    if (context.type_counters != nullptr) {
        count_sent(context.scratch.part, context);
    }
    const bool is_last =
        begin.element == 0 && owed.next(begin.handle.value - 1) == owed.bit_count();
    return is_last ? SendResult::Whole : SendResult::Part;
}

}  // namespace

SendResult send_properties(ChangelistState& state, const OwedVersions& position,
                           const ChangeMask& owed, BitWriter& writer, SendContext& context) {
    REPLAYOUT_ASSERT(owed.any());
    const BitWriter::Mark start = writer.mark();
    begin_send(context.scratch);
    PropertyWriter properties(state, position, context);
    write_block(properties, owed, writer, context);
    SendResult result = SendResult::Whole;
    if (!writer.overflowed() && !context.scratch.left_out.empty()) {
        writer.rewind(start);
        result = write_without_failed(properties, owed, writer, context);
    }
    if (writer.overflowed()) {
        writer.rewind(start);
        return SendResult::DoesNotFit;
    }
    return result;
}

SendResult send_part(ChangelistState& state, const OwedVersions& position, const ChangeMask& owed,
                     RepCursor& begin, RepRange& range, BitWriter& writer, SendContext& context) {
    begin_send(context.scratch);
    PropertyWriter properties(state, position, context);
    ChangeMask& part = context.scratch.part;
    part.reset(owed.bit_count());
    if (begin.element > 0) {
        return send_array_part(state, properties, owed, begin, range, writer, context);
    }
    RunLengthMeter meter(owed.bit_count());
    std::size_t value_bits = 0;
    std::uint32_t bit = owed.next(begin.handle.value - 1);
    REPLAYOUT_ASSERT(bit < owed.bit_count());
    std::uint32_t first = bit;
    while (bit < owed.bit_count()) {
        const std::size_t failures = context.scratch.left_out.size();
        const std::size_t bits = properties.measure(RepHandle{bit + 1});
        if (context.scratch.left_out.size() != failures) {
            bit = owed.next(bit + 1);
            first = part.any() ? first : bit;
            continue;
        }
        RunLengthMeter extended = meter;
        extended.add(bit);
        if (extended.bits(EmptySet::Impossible) + value_bits + bits > writer.bits_left()) {
            break;
        }
        meter = extended;
        value_bits += bits;
        part.set(bit);
        bit = owed.next(bit + 1);
    }
    if (first == owed.bit_count()) {
        begin = {RepHandle{bit + 1}, 0};
        return SendResult::Nothing;
    }
    if (bit == first) {
        begin = {RepHandle{first + 1}, 0};
        return send_array_part(state, properties, owed, begin, range, writer, context);
    }
    write_block(properties, part, writer, context);
    REPLAYOUT_ASSERT(!writer.overflowed());
    const bool is_last = bit == owed.bit_count();
    range = {first + 1, is_last ? RepRange::no_end : bit + 1, 0, RepRange::no_end};
    begin = {RepHandle{bit + 1}, 0};
    return is_last ? SendResult::Whole : SendResult::Part;
}

std::size_t measure_property(ChangelistState& state, const OwedVersions& position, RepHandle handle,
                             SendContext& context) {
    return PropertyWriter(state, position, context).measure(handle);
}

}  // namespace replayout
