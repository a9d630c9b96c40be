// SPDX-License-Identifier: MIT
#include "property_writer.h"

#include <replayout/quantise.h>

#include "native_value.h"

#include <algorithm>
#include <bit>

namespace replayout {

namespace {

constexpr std::size_t value_bytes_initial = 256;

void write_floats(const std::byte* bytes, std::uint32_t count, BitWriter& writer) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
        writer.write_bits(load_integer(bytes + i * 4, 4), 32);
    }
}

[[nodiscard]] QuantisedValue load_integers(const RepLayoutCmd& cmd,
                                           ConstShadowBuffer leaf) noexcept {
    return load_quantised(leaf.data(), quantised_size(cmd.property->quantisation));
}

[[nodiscard]] std::size_t bit_count_in_place(const RepLayoutCmd& cmd,
                                             ConstShadowBuffer leaf) noexcept {
    switch (cmd.type) {
        case RepLayoutCmdType::Bool:
        case RepLayoutCmdType::BitBool:
            return 1;
        case RepLayoutCmdType::Quantised:
            return quantised_bit_count(cmd.property->quantisation, load_integers(cmd, leaf));
        default:
            return std::size_t{cmd.element_size} * 8;
    }
}

}  // namespace

inline void PropertyWriter::count_plain(std::uint32_t begin, std::uint32_t end) {
    if (context_.type_counters != nullptr) {
        count_plain_by_handle(begin, end);
    }
    count_plain_values(state_, begin, end, context_);
}

inline void PropertyWriter::write_run(std::uint32_t begin, std::uint32_t end, BitWriter& writer) {
    const RepScope& root = layout_.root();
    while (begin < end) {
        const RepHandle handle{begin + 1};
        const RepHandle row_end{
            std::min(std::uint32_t{layout_.plain_leaf(root, handle).row_end}, end + 1)};
        if (row_end > handle) {
            write_row(root, state_.shadow(), handle, row_end, writer);
            count_plain(begin, row_end.value - 1);
            begin = row_end.value - 1;
        } else {
            write_value(handle, writer);
            ++begin;
        }
    }
}

// A row ends with its word of the set, too, which shows in nothing that is written or counted.
std::uint32_t PropertyWriter::write_block(const ChangeMask& handles, BitWriter& writer) {
    write_change_mask(writer, handles, EmptySet::Impossible);
    std::uint32_t count = 0;
    std::uint32_t word_begin = 0;
    for (std::uint64_t rest : handles.words()) {
        std::uint32_t bit = word_begin;
        while (rest != 0 && !writer.overflowed()) {
            const auto gap = static_cast<std::uint32_t>(std::countr_zero(rest));
            rest >>= gap;
            const auto length = static_cast<std::uint32_t>(std::countr_one(rest));
            rest = (rest >> (length - 1)) >> 1;
            bit += gap + length;
            write_run(bit - length, bit, writer);
            count += length;
        }
        word_begin += 64;
    }
    writer.finish_byte();
    return count;
}

void PropertyWriter::count_plain_by_handle(std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t bit = begin; bit < end; ++bit) {
        const RepHandle handle{bit + 1};
        const RepLayoutCmd& cmd = layout_.cmd(layout_.cmd_of(layout_.root(), handle));
        const std::size_t bit_count = bit_count_in_place(cmd, state_.shadow() + cmd.shadow_offset);
        note_bits(handle, bit_count);
        PropertyCounters& property = context_.type_counters->of(handle);
        if (!context_.shares_pieces()) {
            ++property.encoded[static_cast<std::size_t>(EncodeReason::SharingOff)];
        } else if (state_.shared().find(handle, state_.last_changed(handle)) != nullptr) {
            ++property.values_reused;
            context_.scratch.copied_bits[bit] = bit_count;
        } else {
            ++property.encoded[static_cast<std::size_t>(reason_of_miss(handle))];
        }
    }
}

EncodeReason PropertyWriter::reason_of_miss(RepHandle handle) const noexcept {
    const std::span<const SharedPiece> pieces = state_.shared().pieces();
    return pieces.empty() || pieces[handle.value - 1].version == 0 ? EncodeReason::FirstUse
                                                                   : EncodeReason::ValueChanged;
}

EncodeReason PropertyWriter::reason_of_array_miss(RepHandle handle) const noexcept {
    EncodeReason reason = EncodeReason::FirstUse;
    for (const SharedArrayPiece& entry : state_.shared().array_pieces()) {
        if (entry.handle == handle && entry.piece.version == state_.last_changed(handle)) {
            return EncodeReason::OtherPosition;
        }
        if (entry.handle == handle) {
            reason = EncodeReason::ValueChanged;
        }
    }
    return reason;
}

void PropertyWriter::count_encoded(RepHandle handle, EncodeReason reason) {
    ++context_.counters.values_encoded;
    if (context_.type_counters != nullptr) {
        ++context_.type_counters->of(handle).encoded[static_cast<std::size_t>(reason)];
    }
}

void PropertyWriter::count_serializer_call() {
    ++context_.counters.serializer_calls;
    if (context_.type_counters != nullptr) {
        ++context_.type_counters->of(handle_).serializer_calls;
    }
}

void PropertyWriter::note_bits(RepHandle handle, std::size_t bit_count, bool is_copied) {
    if (context_.type_counters != nullptr) {
        Vector<std::uint64_t>& bits = context_.scratch.value_bits;
        if (bits.size() < layout_.handle_count()) {
            bits.resize(layout_.handle_count());
            context_.scratch.copied_bits.resize(layout_.handle_count());
        }
        bits[handle.value - 1] = bit_count;
        context_.scratch.copied_bits[handle.value - 1] = is_copied ? bit_count : 0;
    }
}

void PropertyWriter::write_value(RepHandle handle, BitWriter& writer) {
    handle_ = handle;
    const CmdIndex index = layout_.cmd_of(layout_.root(), handle);
    const RepLayoutCmd& cmd = layout_.cmd(index);
    if (is_written_in_place(cmd.type)) {
        encode_leaf(cmd, state_.shadow() + cmd.shadow_offset, writer);
        count_plain(handle.value - 1, handle.value);
        return;
    }
    const bool is_shared =
        has_flag(layout_.cmd(index).flags, RepLayoutCmdFlags::IsSharedSerialization) &&
        is_shared_question(handle, index);
    if (context_.shares_pieces() && is_shared) {
        const std::uint64_t encoded = context_.counters.values_encoded;
        if (const SharedPiece* piece = build_shared_serialization(handle, index)) {
            state_.shared().write(*piece, writer);
            const bool is_copied = encoded == context_.counters.values_encoded;
            note_bits(handle, piece->bit_count, is_copied);
            if (is_delta(index)) {
                note_delta(handle);
            }
        }
        return;
    }
    context_.counters.values_unshared += context_.shares_pieces() ? 1u : 0u;
    count_encoded(handle,
                  context_.shares_pieces() ? EncodeReason::NotShared : EncodeReason::SharingOff);
    const BitWriter::Mark begin = writer.mark();
    const bool had_room = !writer.overflowed();
    has_failed_ = false;
    encode(index, state_.shadow(), writer);
    if (is_shared && !is_delta(index) && had_room && writer.overflowed()) {
        // A value that fails takes no room, as where it is kept to be shared.
        (void)encode_to_scratch(index);
    }
    if (has_failed_ && had_room) {
        writer.rewind(begin);
    }
    note_bits(handle, writer.bit_count() - begin.position_bits);
    if (is_delta(index) && !has_failed_) {
        note_delta(handle);
    }
}

void PropertyWriter::encode_shared(RepHandle handle) {
    handle_ = handle;
    const CmdIndex index = layout_.cmd_of(layout_.root(), handle);
    if (context_.shares_pieces()) {
        if (find_piece(handle, index) == nullptr) {
            (void)build_shared_serialization(handle, index);
        }
        return;
    }
    count_encoded(handle, EncodeReason::SharingOff);
    has_failed_ = false;
    (void)encode_to_scratch(index);
}

std::size_t PropertyWriter::measure(RepHandle handle) {
    const CmdIndex index = layout_.cmd_of(layout_.root(), handle);
    const RepLayoutCmd& cmd = layout_.cmd(index);
    if (is_written_in_place(cmd.type)) {
        return bit_count_in_place(cmd, state_.shadow() + cmd.shadow_offset);
    }
    if (const SharedPiece* piece = find_piece(handle, index)) {
        return piece->bit_count;
    }
    const bool is_shared = has_flag(cmd.flags, RepLayoutCmdFlags::IsSharedSerialization) &&
                           is_shared_question(handle, index);
    if (context_.shares_pieces() && is_shared && has_failed_before(handle, index)) {
        context_.scratch.left_out.push_back(handle);
        return 0;
    }
    count_encoded(handle, EncodeReason::Measured);
    handle_ = handle;
    is_measuring_ = true;
    has_failed_ = false;
    const std::size_t bit_count = encode_to_scratch(index).bit_count();
    is_measuring_ = false;
    return has_failed_ ? 0 : bit_count;
}

void PropertyWriter::write_elements(RepHandle handle, ElementSpan span, BitWriter& writer) {
    const CmdIndex index = layout_.cmd_of(layout_.root(), handle);
    const ConstShadowBuffer leaf = state_.shadow() + layout_.cmd(index).shadow_offset;
    handle_ = handle;
    count_encoded(handle, EncodeReason::Cut);
    const std::size_t begin = writer.bit_count();
    encode_array(index, shadow_value<ShadowArray>(leaf), span, position_, 0, writer);
    note_bits(handle, writer.bit_count() - begin);
}

const SharedPiece* PropertyWriter::build_shared_serialization(RepHandle handle, CmdIndex index) {
    if (const SharedPiece* piece = find_piece(handle, index)) {
        ++context_.counters.values_reused;
        if (context_.type_counters != nullptr) {
            ++context_.type_counters->of(handle).values_reused;
        }
        return piece;
    }
    if (has_failed_before(handle, index)) {
        has_failed_ = true;
        context_.scratch.left_out.push_back(handle);
        return nullptr;
    }
    count_encoded(handle, is_array(index) || is_delta(index) ? reason_of_array_miss(handle)
                                                             : reason_of_miss(handle));
    const Version version = state_.last_changed(handle);
    has_failed_ = false;
    const BitWriter bits = encode_to_scratch(index);
    if (has_failed_) {
        return nullptr;
    }
    ++context_.counters.pieces_built;
    if (context_.type_counters != nullptr) {
        ++context_.type_counters->of(handle).pieces_built;
    }
    return is_array(index) || is_delta(index)
               ? &state_.shared().keep_array(handle, version, question_of(handle, index), bits)
               : &state_.shared().keep(handle, version, bits);
}

bool PropertyWriter::has_failed_before(RepHandle handle, CmdIndex index) const noexcept {
    // Parameters of a call are another value each time, so nothing is remembered of them.
    return state_.shared().has_failures() && !is_delta(index) &&
           layout_.type().kind() != TypeKind::Struct &&
           state_.shared().has_failed(
               handle, state_.last_changed(handle),
               is_array(index) ? question_of(handle, index) : OwedVersions());
}

const SharedPiece* PropertyWriter::find_piece(RepHandle handle, CmdIndex index) const noexcept {
    if (!context_.shares_pieces() || !is_shared_question(handle, index)) {
        return nullptr;
    }
    const Version version = state_.last_changed(handle);
    return is_array(index) || is_delta(index)
               ? state_.shared().find_array(handle, version, question_of(handle, index))
               : state_.shared().find(handle, version);
}

BitWriter PropertyWriter::encode_to_scratch(CmdIndex index) {
    Vector<std::byte>& bytes = context_.scratch.value;
    if (bytes.empty()) {
        bytes.resize(value_bytes_initial);
    }
    for (;;) {
        BitWriter writer({bytes.data(), bytes.size()});
        encode(index, state_.shadow(), writer);
        if (!writer.overflowed()) {
            return writer;
        }
        bytes.resize(bytes.size() * 2);
    }
}

void PropertyWriter::encode(CmdIndex index, ConstShadowBuffer scope_memory, BitWriter& writer) {
    const RepLayoutCmd& cmd = layout_.cmd(index);
    const ConstShadowBuffer leaf = scope_memory + cmd.shadow_offset;
    const auto position = [&]() -> const OwedVersions& {
        return array_position(layout_.root(), RepHandle{cmd.relative_handle});
    };
    if (cmd.type == RepLayoutCmdType::DynamicArray) {
        encode_array(index, shadow_value<ShadowArray>(leaf), ElementSpan(), position(), 0, writer);
    } else if (cmd.type == RepLayoutCmdType::KeyedArray) {
        encode_whole_keyed_array(index, shadow_value<ShadowKeyedArray>(leaf), position(), writer);
    } else {
        encode_leaf(cmd, leaf, writer);
    }
}

void PropertyWriter::encode_leaf(const RepLayoutCmd& cmd, ConstShadowBuffer leaf,
                                 BitWriter& writer) {
    switch (cmd.type) {
        case RepLayoutCmdType::Bool:
        case RepLayoutCmdType::BitBool:
            writer.write_bool(*leaf.data() != std::byte{0});
            return;
        case RepLayoutCmdType::Bits8:
        case RepLayoutCmdType::Bits16:
        case RepLayoutCmdType::Bits32:
        case RepLayoutCmdType::Bits64:
            writer.write_bits(load_integer(leaf.data(), cmd.element_size), cmd.element_size * 8);
            return;
        case RepLayoutCmdType::Vector:
            write_floats(leaf.data(), 3, writer);
            return;
        case RepLayoutCmdType::Quat:
            write_floats(leaf.data(), 4, writer);
            return;
        case RepLayoutCmdType::String: {
            const auto& text = shadow_value<PmrString>(leaf);
            writer.write_packed_uint(text.size());
            writer.write_bytes(std::as_bytes(std::span(text.data(), text.size())));
            return;
        }
        case RepLayoutCmdType::Object:
            writer.write_packed_uint(shadow_value<ShadowReference>(leaf).guid.value);
            return;
        case RepLayoutCmdType::NetSerializeStruct:
            encode_struct(cmd, leaf, writer);
            return;
        case RepLayoutCmdType::NetDeltaStruct:
            encode_delta(cmd, leaf, writer);
            return;
        case RepLayoutCmdType::Quantised:
            write_quantised(cmd.property->quantisation, load_integers(cmd, leaf), writer);
            return;
        case RepLayoutCmdType::DynamicArray:
        case RepLayoutCmdType::KeyedArray:
        case RepLayoutCmdType::Return:
            REPLAYOUT_ASSERT(false);
    }
}

}  // namespace replayout
