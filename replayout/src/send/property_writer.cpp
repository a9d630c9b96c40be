// SPDX-License-Identifier: MIT
#include "property_writer.h"

#include "dynamic_array_writer.h"
#include "struct_writer.h"
#include "write_leaf.h"

#include <algorithm>
#include <bit>

namespace replayout {

namespace {

constexpr std::size_t value_bytes_initial = 256;

}  // namespace

inline void PropertyWriter::count_plain(std::uint32_t begin, std::uint32_t end) {
    if (context_.sending().type_counters != nullptr) {
        count_plain_by_handle(begin, end);
    }
    count_plain_values(context_.state(), begin, end, context_.sending());
}

inline void PropertyWriter::write_run(std::uint32_t begin, std::uint32_t end, BitWriter& writer) {
    const RepLayout& layout = context_.layout();
    const RepScope& root = layout.root();
    while (begin < end) {
        const RepHandle handle{begin + 1};
        const RepHandle run_end{
            std::min(std::uint32_t{layout.plain_leaf(root, handle).run_end}, end + 1)};
        if (run_end > handle) {
            write_plain_leaves(layout, root, context_.state().shadow(), handle, run_end, writer);
            count_plain(begin, run_end.value - 1);
            begin = run_end.value - 1;
        } else {
            write_value(handle, writer);
            ++begin;
        }
    }
}

// A run ends with its word of the set, too, which shows in nothing that is written or counted.
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
    const RepLayout& layout = context_.layout();
    const ChangelistState& state = context_.state();
    SendContext& sending = context_.sending();
    for (std::uint32_t bit = begin; bit < end; ++bit) {
        const RepHandle handle{bit + 1};
        const RepLayoutCmd& cmd = layout.cmd(layout.cmd_of(layout.root(), handle));
        PropertyCounters& property = sending.type_counters->of(handle);
        bool is_copied = false;
        if (!sending.shares_pieces()) {
            ++property.encoded[static_cast<std::size_t>(EncodeReason::SharingOff)];
        } else if (state.shared().find(handle, state.last_changed(handle)) != nullptr) {
            ++property.values_reused;
            is_copied = true;
        } else {
            ++property.encoded[static_cast<std::size_t>(pieces().reason_of_miss(handle, cmd))];
        }
        context_.note_bits(handle, bit_count_in_place(cmd, state.shadow() + cmd.shadow_offset),
                           is_copied);
    }
}

inline void PropertyWriter::write_unshared(RepHandle handle, const RepLayoutCmd& cmd,
                                           CmdIndex index, bool may_be_kept, BitWriter& writer) {
    SendContext& sending = context_.sending();
    sending.counters.values_unshared += sending.shares_pieces() ? 1u : 0u;
    context_.count_encoded(
        handle, sending.shares_pieces() ? EncodeReason::NotShared : EncodeReason::SharingOff);
    const BitWriter::Mark begin = writer.mark();
    const bool had_room = !writer.overflowed();
    encode(index, writer);
    if (may_be_kept && !is_delta(cmd.type) && had_room && writer.overflowed()) {
        // A value that fails takes no room, as where it is kept to be shared.
        (void)encode_to_scratch(index);
    }
    if (context_.has_failed() && had_room) {
        writer.rewind(begin);
    }
    context_.note_bits(handle, writer.bit_count() - begin.position_bits);
    if (is_delta(cmd.type) && !context_.has_failed()) {
        const ConstShadowBuffer leaf = context_.state().shadow() + cmd.shadow_offset;
        StructWriter(context_, cmd, leaf).note_delta_sent();
    }
}

void PropertyWriter::write_value(RepHandle handle, BitWriter& writer) {
    const RepLayout& layout = context_.layout();
    const CmdIndex index = layout.cmd_of(layout.root(), handle);
    const RepLayoutCmd& cmd = layout.cmd(index);
    const ConstShadowBuffer leaf = context_.state().shadow() + cmd.shadow_offset;
    if (is_written_in_place(cmd.type)) {
        write_leaf(context_, cmd, leaf, writer);
        count_plain(handle.value - 1, handle.value);
        return;
    }
    context_.begin_value(handle);
    const bool is_shared = pieces().may_keep(handle, cmd);
    SendContext& sending = context_.sending();
    if (!sending.shares_pieces() || !is_shared) {
        write_unshared(handle, cmd, index, is_shared, writer);
        return;
    }
    const std::uint64_t encoded = sending.counters.values_encoded;
    if (const SharedPiece* piece = build_shared_serialization(handle, index)) {
        context_.state().shared().write(*piece, writer);
        const bool is_copied = encoded == sending.counters.values_encoded;
        context_.note_bits(handle, piece->bit_count, is_copied);
        if (is_delta(cmd.type)) {
            StructWriter(context_, cmd, leaf).note_delta_sent();
        }
    }
}

void PropertyWriter::encode_shared(RepHandle handle) {
    context_.begin_value(handle);
    const RepLayout& layout = context_.layout();
    const CmdIndex index = layout.cmd_of(layout.root(), handle);
    if (context_.sending().shares_pieces()) {
        if (pieces().find(handle, layout.cmd(index)) == nullptr) {
            (void)build_shared_serialization(handle, index);
        }
        return;
    }
    context_.count_encoded(handle, EncodeReason::SharingOff);
    (void)encode_to_scratch(index);
}

std::size_t PropertyWriter::measure(RepHandle handle) {
    const RepLayout& layout = context_.layout();
    const CmdIndex index = layout.cmd_of(layout.root(), handle);
    const RepLayoutCmd& cmd = layout.cmd(index);
    if (is_written_in_place(cmd.type)) {
        return bit_count_in_place(cmd, context_.state().shadow() + cmd.shadow_offset);
    }
    if (const SharedPiece* piece = pieces().find(handle, cmd)) {
        return piece->bit_count;
    }
    if (context_.sending().shares_pieces() && pieces().may_keep(handle, cmd) &&
        pieces().has_failed(handle, cmd)) {
        context_.findings().left_out.push_back(handle);
        return 0;
    }
    context_.count_encoded(handle, EncodeReason::Measured);
    context_.begin_value(handle);
    context_.set_measuring(true);
    const std::size_t bit_count = encode_to_scratch(index).bit_count();
    context_.set_measuring(false);
    return context_.has_failed() ? 0 : bit_count;
}

void PropertyWriter::write_elements(RepHandle handle, ElementSpan span, BitWriter& writer) {
    const RepLayout& layout = context_.layout();
    const CmdIndex index = layout.cmd_of(layout.root(), handle);
    const ConstShadowBuffer leaf = context_.state().shadow() + layout.cmd(index).shadow_offset;
    context_.begin_value(handle);
    context_.count_encoded(handle, EncodeReason::Cut);
    const std::size_t begin = writer.bit_count();
    write_dynamic_array(context_, index, shadow_value<ShadowArray>(leaf), context_.position(), 0,
                        span, writer);
    context_.findings().values.clear();  // where more was tried before, it did not fit
    context_.note_bits(handle, writer.bit_count() - begin);
}

KeyedArrayWriter PropertyWriter::keyed_array(RepHandle handle) {
    const RepLayout& layout = context_.layout();
    const CmdIndex index = layout.cmd_of(layout.root(), handle);
    const ConstShadowBuffer leaf = context_.state().shadow() + layout.cmd(index).shadow_offset;
    return {context_, index, shadow_value<ShadowKeyedArray>(leaf), context_.position()};
}

const SharedPiece* PropertyWriter::build_shared_serialization(RepHandle handle, CmdIndex index) {
    const RepLayoutCmd& cmd = context_.layout().cmd(index);
    if (const SharedPiece* piece = pieces().find(handle, cmd)) {
        context_.count_reused(handle);
        return piece;
    }
    if (pieces().has_failed(handle, cmd)) {
        context_.note_failed();
        context_.findings().left_out.push_back(handle);
        return nullptr;
    }
    context_.count_encoded(handle, pieces().reason_of_miss(handle, cmd));
    const BitWriter bits = encode_to_scratch(index);
    if (context_.has_failed()) {
        return nullptr;
    }
    context_.count_piece_built(handle);
    return &pieces().keep(handle, cmd, bits);
}

BitWriter PropertyWriter::encode_to_scratch(CmdIndex index) {
    Vector<std::byte>& bytes = context_.scratch().value;
    if (bytes.empty()) {
        bytes.resize(value_bytes_initial);
    }
    for (;;) {
        BitWriter writer({bytes.data(), bytes.size()});
        encode(index, writer);
        if (!writer.overflowed()) {
            return writer;
        }
        bytes.resize(bytes.size() * 2);
    }
}

void PropertyWriter::encode(CmdIndex index, BitWriter& writer) {
    const RepLayout& layout = context_.layout();
    const RepLayoutCmd& cmd = layout.cmd(index);
    const ConstShadowBuffer leaf = context_.state().shadow() + cmd.shadow_offset;
    const auto position = [&]() -> const OwedVersions& {
        return context_.array_position(layout.root(), RepHandle{cmd.relative_handle});
    };
    if (cmd.type == RepLayoutCmdType::DynamicArray) {
        write_dynamic_array(context_, index, shadow_value<ShadowArray>(leaf), position(), 0, {},
                            writer);
    } else if (cmd.type == RepLayoutCmdType::KeyedArray) {
        KeyedArrayWriter(context_, index, shadow_value<ShadowKeyedArray>(leaf), position())
            .write_whole(writer);
    } else {
        write_leaf(context_, cmd, leaf, writer);
    }
}

}  // namespace replayout
