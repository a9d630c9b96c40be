// SPDX-License-Identifier: MIT
#include <replayout/send_properties.h>

#include <replayout/block_counts.h>
#include <replayout/lost_parts.h>

#include "keyed_array_cutter.h"
#include "keyed_array_steps.h"
#include "property_writer.h"
#include "small_set.h"

#include <algorithm>
#include <optional>

namespace replayout {

namespace {

constexpr std::pmr::pool_options delta_state_pool{.largest_required_pool_block = 64 * 1024};

}  // namespace

SendScratch::SendScratch(MemoryResource* resource)
    : owed(resource),
      part(resource),
      value_bits(Allocator<std::uint64_t>(resource)),
      copied_bits(Allocator<std::uint64_t>(resource)),
      elements(Allocator<ChangeMask>(resource)),
      value(Allocator<std::byte>(resource)),
      check(Allocator<std::byte>(resource)),
      delta(Allocator<std::byte>(resource)),
      delta_states(delta_state_pool, resource),
      guids(Allocator<NetGUID>(resource)),
      keys(Allocator<std::uint64_t>(resource)),
      full_spans(Allocator<PlaceSpan>(resource)),
      carried(Allocator<LostPart>(resource)),
      unmapped(Allocator<UnmappedValue>(resource)),
      left_out(Allocator<RepHandle>(resource)),
      deltas(Allocator<SentDelta>(resource)),
      unchanged(Allocator<UnchangedDelta>(resource)) {
    elements.reserve(nesting_depth_max + 1);
    for (std::uint32_t depth = 0; depth <= nesting_depth_max; ++depth) {
        elements.emplace_back(resource);
    }
}

namespace {

/// What the value at `handle` can cost its receiver beyond its bytes: only keyed arrays do.
[[nodiscard]] std::size_t array_steps_of(const ChangelistState& state, const OwedVersions& position,
                                         RepHandle handle, std::size_t value_bits, bool is_cut) {
    const RepLayout& layout = state.layout();
    const CmdIndex index = layout.cmd_of(layout.root(), handle);
    const RepLayoutCmd& cmd = layout.cmd(index);
    if (cmd.type != RepLayoutCmdType::KeyedArray) {
        return 0;
    }
    const auto& array = shadow_value<ShadowKeyedArray>(state.shadow() + cmd.shadow_offset);
    return keyed_array_steps_max(layout, index, array, position, value_bits, is_cut);
}

/// The same of a block of that length. An upper bound: the bits of the block count for each array,
/// as nobody has measured the values one by one.
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

inline void write_block(PropertyWriter& properties, const ChangeMask& handles, BitWriter& writer,
                        SendContext& context) {
    const std::size_t failures = context.scratch.left_out.size();
    const std::uint32_t count = properties.write_block(handles, writer);
    if (!writer.overflowed() && context.scratch.left_out.size() == failures) {
        context.counters.properties_sent += count;
        if (context.is_counting_sent) {
            count_sent_values(handles, context);
        }
    }
}

// Apart, and not inline, as releasing states takes more registers than all else in a send.
[[gnu::noinline]] void forget_deltas(SendScratch& scratch) noexcept {
    scratch.deltas.clear();
    scratch.unchanged.clear();
}

/// All but deltas: what the last send found out, which was nothing mostly.
void reset_findings(SendScratch& scratch) noexcept {
    scratch.unmapped.clear();
    scratch.left_out.clear();
    scratch.carried.clear();
    scratch.array_steps = 0;
}

void begin_send(SendScratch& scratch) noexcept {
    reset_findings(scratch);
    if (!scratch.deltas.empty() || !scratch.unchanged.empty()) {
        forget_deltas(scratch);
    }
}

/// What cannot be told apart, from the handle of `bit` on: one value, or an atomic group.
[[nodiscard]] std::uint32_t unit_end(const RepLayout& layout, std::uint32_t bit) noexcept {
    const RepGroup* group = layout.find_group(layout.root(), RepHandle{bit + 1});
    return group == nullptr ? bit + 1 : group->handle_end - 1u;
}

/// Where a value of an atomic group was left out, so is what else is owed of the group.
void leave_out_groups(const RepLayout& layout, const ChangeMask& owed,
                      Vector<RepHandle>& left_out) {
    const std::size_t count = left_out.size();
    for (std::size_t i = 0; i < count; ++i) {
        const RepGroup* group = layout.find_group(layout.root(), left_out[i]);
        if (group == nullptr) {
            continue;
        }
        for (std::uint32_t bit = owed.next(group->handle_begin - 1u); bit + 1 < group->handle_end;
             bit = owed.next(bit + 1)) {
            if (std::find(left_out.begin(), left_out.end(), RepHandle{bit + 1}) == left_out.end()) {
                left_out.push_back(RepHandle{bit + 1});
            }
        }
    }
}

/// A set has been written, and values of it failed: writes it once more, without them.
[[nodiscard]] SendResult write_without_failed(const RepLayout& layout, PropertyWriter& properties,
                                              const ChangeMask& owed, BitWriter& writer,
                                              SendContext& context) {
    SendScratch& scratch = context.scratch;
    ChangeMask& rest = scratch.part;
    rest.reset(owed.bit_count());
    for (std::uint32_t bit = owed.next(0); bit < owed.bit_count(); bit = owed.next(bit + 1)) {
        rest.set(bit);
    }
    leave_out_groups(layout, owed, scratch.left_out);
    for (const RepHandle handle : scratch.left_out) {
        rest.clear(handle.value - 1);
    }
    scratch.unmapped.clear();
    scratch.deltas.clear();
    if (!rest.any()) {
        return SendResult::Nothing;
    }
    write_block(properties, rest, writer, context);
    return SendResult::Whole;
}

/// Collects what fits into one part: whole values, and atomic groups whole.
class PartCollector {
  public:
    PartCollector(const ChangelistState& state, const OwedVersions& position,
                  PropertyWriter& properties, const ChangeMask& owed, SendContext& context)
        : state_(state),
          layout_(state.layout()),
          position_(position),
          properties_(properties),
          owed_(owed),
          scratch_(context.scratch),
          array_steps_left_(context.array_steps_left),
          meter_(owed.bit_count()) {
        scratch_.part.reset(owed.bit_count());
    }

    /// From the owed handle of bit `begin` on, as much as `room_bits` hold. Returns the bit of the
    /// first that is left for another part, or the count of bits.
    [[nodiscard]] std::uint32_t collect(std::uint32_t begin, std::size_t room_bits) {
        first_ = begin;
        std::uint32_t bit = begin;
        while (bit < owed_.bit_count()) {
            const std::uint32_t end = unit_end(layout_, bit);
            const std::size_t failures = scratch_.left_out.size();
            const std::size_t bits = measure(bit, end);
            if (scratch_.left_out.size() != failures) {
                leave_out_groups(layout_, owed_, scratch_.left_out);
                bit = owed_.next(end);
                first_ = scratch_.part.any() ? first_ : bit;
                continue;
            }
            if (!add(bit, end, bits, room_bits)) {
                break;
            }
            bit = owed_.next(end);
        }
        return bit;
    }

    /// The first handle's bit that was not left out.
    [[nodiscard]] std::uint32_t first() const noexcept { return first_; }

  private:
    /// Also array_steps_, of the same.
    [[nodiscard]] std::size_t measure(std::uint32_t bit, std::uint32_t end) {
        std::size_t bits = 0;
        array_steps_ = 0;
        for (; bit < end; bit = owed_.next(bit + 1)) {
            const RepHandle handle{bit + 1};
            const std::size_t value_bits = properties_.measure(handle);
            bits += value_bits;
            array_steps_ += array_steps_of(state_, position_, handle, value_bits, false);
        }
        return bits;
    }

    /// False: there is no room for it.
    [[nodiscard]] bool add(std::uint32_t bit, std::uint32_t end, std::size_t bits,
                           std::size_t room_bits) {
        RunLengthMeter extended = meter_;
        for (std::uint32_t i = bit; i < end; i = owed_.next(i + 1)) {
            extended.add(i);
        }
        if (extended.bits(EmptySet::Impossible) + value_bits_ + bits > room_bits) {
            return false;
        }
        // What alone costs more goes alone.
        if (scratch_.part.any() && scratch_.array_steps + array_steps_ > array_steps_left_) {
            return false;
        }
        scratch_.array_steps += array_steps_;
        meter_ = extended;
        value_bits_ += bits;
        for (std::uint32_t i = bit; i < end; i = owed_.next(i + 1)) {
            scratch_.part.set(i);
        }
        return true;
    }

    const ChangelistState& state_;
    const RepLayout& layout_;
    const OwedVersions& position_;
    PropertyWriter& properties_;
    const ChangeMask& owed_;
    SendScratch& scratch_;
    std::size_t array_steps_left_;
    RunLengthMeter meter_;
    std::size_t value_bits_ = 0;
    std::size_t array_steps_ = 0;  // of what is measured
    std::uint32_t first_ = 0;
};

/// Cuts one array between elements.
class ArrayCutter {
  public:
    ArrayCutter(PropertyWriter& properties, ChangeMask& part, RepHandle handle, BitWriter& writer)
        : properties_(properties), part_(part), handle_(handle), writer_(writer) {
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
    ArrayCutter cutter(properties, context.scratch.part, begin.handle, writer);
    const std::uint32_t end = cutter.write(static_cast<std::uint32_t>(begin.element), array.count);
    part.is_any = end > begin.element;
    part.places.begin = begin.element;
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
    cutter.collect_carried_deletions(*written, position, context.scratch.carried);
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

[[nodiscard]] SendResult send_array_part(ChangelistState& state, PropertyWriter& properties,
                                         const OwedVersions& position, const ChangeMask& owed,
                                         RepCursor& begin, RepRange& range, BitWriter& writer,
                                         SendContext& context) {
    const RepHandle handle = begin.handle;
    const std::size_t begin_bytes = writer.byte_count();
    const ArrayPart part = cut_value(state, properties, position, begin, writer, context);
    begin = {RepHandle{handle.value + 1}, 0};
    range = RepRange::of(handle);
    if (!part.is_any) {
        return SendResult::ValueTooLarge;
    }
    context.scratch.array_steps =
        array_steps_of(state, position, handle, (writer.byte_count() - begin_bytes) * 8, true);
    range.element_begin = part.places.begin;
    range.element_end = part.places.end;
    if (part.next) {
        begin = {handle, *part.next};
    }
    collect_carried(position, state.version(), range, context.scratch.carried,
                    state.layout().has_keyed_arrays());
    ++context.counters.properties_sent;
    count_sent_values(context.scratch.part, context);
    const bool is_last =
        begin.element == 0 && owed.next(begin.handle.value - 1) == owed.bit_count();
    return is_last ? SendResult::Whole : SendResult::Part;
}

/// Plain leaves whose bits stand side by side in the set, and in the shadow.
struct PlainRow {
    std::uint32_t begin_bit = 0;
    std::uint32_t end_bit = 0;

    [[nodiscard]] std::uint32_t value_count() const noexcept { return end_bit - begin_bit; }
    /// As a set over so many handles.
    [[nodiscard]] BitRegister code(std::uint32_t bit_count) const noexcept {
        return single_run_code(begin_bit, value_count(), bit_count);
    }
};

/// A block of one row. False: there may be no room for it, and nothing was done.
[[nodiscard]] inline bool write_plain_row(const ChangelistState& state, PlainRow row,
                                          BitRegister code, BitWriter& writer) {
    const RepLayout& layout = state.layout();
    const ShadowOffset begin =
        layout.plain_leaf(layout.root(), RepHandle{row.begin_bit + 1}).shadow_begin;
    const ShadowOffset end = layout.plain_leaf(layout.root(), RepHandle{row.end_bit}).shadow_end;
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

/// Whether this set, not empty and of at most 64 handles, is such a row.
[[nodiscard]] inline bool find_plain_row(const RepLayout& layout, std::uint64_t set,
                                         PlainRow& row) noexcept {
    row.begin_bit = static_cast<std::uint32_t>(std::countr_zero(set));
    const std::uint64_t run = set >> row.begin_bit;
    row.end_bit = row.begin_bit + static_cast<std::uint32_t>(std::countr_one(run));
    return (run & (run + 1)) == 0 &&
           layout.plain_leaf(layout.root(), RepHandle{row.begin_bit + 1}).row_end > row.end_bit;
}

// Apart, and not inline, as it takes more registers than a plain row.
[[nodiscard, gnu::noinline]] SendResult send_any(ChangelistState& state,
                                                 const OwedVersions& position,
                                                 const ChangeMask& owed, BitWriter& writer,
                                                 SendContext& context) {
    begin_send(context.scratch);
    const BitWriter::Mark start = writer.mark();
    const std::size_t begin_bytes = writer.byte_count();
    PropertyWriter properties(state, position, context);
    write_block(properties, owed, writer, context);
    SendResult result = SendResult::Whole;
    if (!writer.overflowed() && !context.scratch.left_out.empty()) {
        writer.rewind(start);
        result = write_without_failed(state.layout(), properties, owed, writer, context);
    }
    if (writer.overflowed()) {
        writer.rewind(start);
        return SendResult::DoesNotFit;
    }
    if (result == SendResult::Nothing) {
        return result;
    }
    context.scratch.array_steps =
        array_steps_of_block(state, position, owed, writer.byte_count() - begin_bytes);
    if (context.scratch.array_steps > context.array_steps_left) {
        writer.rewind(start);
        return SendResult::DoesNotFit;
    }
    return result;
}

}  // namespace

// Most sets, where little changes, are one row of plain leaves, and get there by the shortest way.
// All others, and those that are counted by type, go by PropertyWriter, to the same bits; so does
// the one behind a send with deltas, whose states must be released (forget_deltas).
SendResult send_properties(ChangelistState& state, const OwedVersions& position,
                           const ChangeMask& owed, BitWriter& writer, SendContext& context) {
    REPLAYOUT_ASSERT(owed.any());
    SendScratch& scratch = context.scratch;
    const std::uint32_t bit_count = owed.bit_count();
    if (bit_count > small_set_bits_max || context.type_counters != nullptr ||
        !scratch.deltas.empty() || !scratch.unchanged.empty()) {
        return send_any(state, position, owed, writer, context);
    }
    PlainRow row;
    if (!find_plain_row(state.layout(), owed.words().front(), row) ||
        !write_plain_row(state, row, row.code(bit_count), writer)) {
        return send_any(state, position, owed, writer, context);
    }
    count_plain_values(state, row.begin_bit, row.end_bit, context);
    context.counters.properties_sent += row.value_count();
    reset_findings(scratch);
    return SendResult::Whole;
}

RowBlock::RowBlock(const RepLayout& layout, std::uint64_t handles) noexcept
    : layout_(&layout), handles_(handles) {
    REPLAYOUT_ASSERT(handles != 0 && layout.handle_count() <= small_set_bits_max);
    PlainRow row;
    if (!find_plain_row(layout, handles, row)) {
        return;
    }
    const BitRegister code = row.code(layout.handle_count());
    code_ = code.bits;
    code_bits_ = code.count;
    begin_ = layout.plain_leaf(layout.root(), RepHandle{row.begin_bit + 1}).shadow_begin;
    value_bytes_ =
        layout.plain_leaf(layout.root(), RepHandle{row.end_bit}).shadow_end.value - begin_.value;
    value_count_ = row.value_count();
    byte_count_ = (code_bits_ + 7) / 8 + value_bytes_;
}

void RowBlock::shift_values(const std::byte* source, std::byte* target) const noexcept {
    const std::uint32_t shift = code_bits_ % 8;
    std::uint64_t carry = code_ >> (code_bits_ - shift);
    std::size_t left = value_bytes_;
    for (; left >= 8; left -= 8, source += 8, target += 8) {
        const std::uint64_t word = detail::load_little_endian(source);
        detail::store_little_endian(target, carry | (word << shift));
        carry = word >> (64 - shift);
    }
    detail::store_little_endian(target, carry | (detail::load_short(source, left) << shift));
}

SendResult send_part(ChangelistState& state, const OwedVersions& position, const ChangeMask& owed,
                     RepCursor& begin, RepRange& range, BitWriter& writer, SendContext& context) {
    begin_send(context.scratch);
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
        return SendResult::Nothing;
    }
    if (bit == first) {
        const RepGroup* group =
            state.layout().find_group(state.layout().root(), RepHandle{first + 1});
        if (group != nullptr) {
            range = {group->handle_begin, group->handle_end};
            begin = {RepHandle{group->handle_end}, 0};
            return SendResult::ValueTooLarge;
        }
        begin = {RepHandle{first + 1}, 0};
        return send_array_part(state, properties, position, owed, begin, range, writer, context);
    }
    write_block(properties, context.scratch.part, writer, context);
    REPLAYOUT_ASSERT(!writer.overflowed());
    const bool is_last = bit == owed.bit_count();
    range = {first + 1, is_last ? RepRange::no_handle_end : bit + 1};
    collect_carried(position, state.version(), range, context.scratch.carried,
                    state.layout().has_keyed_arrays());
    begin = {RepHandle{bit + 1}, 0};
    return is_last ? SendResult::Whole : SendResult::Part;
}

std::size_t measure_property(ChangelistState& state, const OwedVersions& position, RepHandle handle,
                             SendContext& context) {
    return PropertyWriter(state, position, context).measure(handle);
}

std::size_t measure_block(ChangelistState& state, const OwedVersions& position,
                          const ChangeMask& owed, SendContext& context) {
    PropertyWriter properties(state, position, context);
    std::size_t bits = change_mask_bits(owed, EmptySet::Impossible);
    for (std::uint32_t bit = owed.next(0); bit < owed.bit_count(); bit = owed.next(bit + 1)) {
        bits += properties.measure(RepHandle{bit + 1});
    }
    return (bits + 7) / 8;
}

}  // namespace replayout
