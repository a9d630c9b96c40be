// SPDX-License-Identifier: MIT
#include "read_value.h"

#include <replayout/quantise.h>
#include <replayout/shadow_state.h>
#include <replayout/utf8.h>

#include "dynamic_array_reader.h"
#include "keyed_array_reader.h"
#include "native_value.h"
#include "notify_queue.h"
#include "struct_reader.h"

#include <cstring>
#include <string_view>

namespace replayout {

namespace {

// Each returns whether the value in memory changed. `memory` is null where nothing is written.

[[nodiscard]] std::uint32_t word_count(RepLayoutCmdType type) noexcept {
    switch (type) {
        case RepLayoutCmdType::Vector:
            return 3;
        case RepLayoutCmdType::Quat:
            return 4;
        default:
            return 1;
    }
}

bool replace(std::byte* memory, const std::byte* value, std::size_t size) noexcept {
    if (std::memcmp(memory, value, size) == 0) {
        return false;
    }
    std::memcpy(memory, value, size);
    return true;
}

bool read_plain(BitReader& reader, const RepLayoutCmd& cmd, std::byte* memory) {
    const std::uint32_t words = word_count(cmd.type);
    const std::uint32_t word_size = cmd.element_size / words;
    const std::uint32_t bit_count = cmd.type == RepLayoutCmdType::Bool ? 1 : word_size * 8;
    std::byte value[16];
    for (std::uint32_t i = 0; i < words; ++i) {
        store_integer(value + i * word_size, reader.read_bits(bit_count), word_size);
    }
    return memory != nullptr && replace(memory, value, cmd.element_size);
}

bool read_bit(BitReader& reader, const RepLayoutCmd& cmd, std::byte* memory) {
    const bool value = reader.read_bool();
    const std::byte mask{cmd.property->bit_mask};
    if (memory == nullptr || ((*memory & mask) != std::byte{0}) == value) {
        return false;
    }
    *memory ^= mask;
    return true;
}

bool read_quantised_value(BitReader& reader, const RepLayoutCmd& cmd, std::byte* memory) {
    const QuantisedValue incoming = read_quantised(cmd.property->quantisation, reader);
    if (memory == nullptr) {
        return false;
    }
    std::byte value[16];
    REPLAYOUT_ASSERT(cmd.element_size <= sizeof(value));
    dequantise(*cmd.property, incoming, value);
    return replace(memory, value, cmd.element_size);
}

bool read_string(ReadContext& context, const RepLayoutCmd& cmd, std::byte* memory) {
    BitReader& reader = context.reader();
    const std::uint64_t byte_count = reader.read_packed_uint();
    if (byte_count > context.layout().limits().string_bytes_max ||
        byte_count > reader.bits_left() / 8) {
        reader.fail();
        return false;
    }
    if (context.is_checking() && !reader.spend_allocation(byte_count)) {
        return false;
    }
    Vector<std::byte>& text = context.parts().text;
    if (text.size() < byte_count) {
        text.resize(byte_count);
    }
    reader.read_bytes({text.data(), byte_count});
    const std::string_view incoming(reinterpret_cast<const char*>(text.data()), byte_count);
    if (memory == nullptr) {
        if (!is_valid_utf8(incoming)) {
            reader.fail();
        }
        return false;
    }
    const StringOps& ops = cmd.property->string;
    if (ops.view(memory, ops.context) == incoming) {
        return false;
    }
    const bool is_taken = ops.assign(memory, incoming, ops.context);
    context.receiving().values_refused += is_taken ? 0 : 1;
    return is_taken;
}

bool read_object(ReadContext& context, const RepLayoutCmd& cmd, const ReadPosition& position,
                 std::byte* memory) {
    const NetGUID guid{context.reader().read_packed_uint()};
    if (memory == nullptr) {
        return false;
    }
    ReceiveContext& receiving = context.receiving();
    ObjectHandle target = receiving.package_map.object_of(guid);
    const bool is_kept = context.state().set_reference(position.path, {guid, !target.is_null()},
                                                       receiving.references_max, receiving.dropped);
    if (!is_kept) {
        target = ObjectHandle{};  // nobody would set it to null when the target goes
    }
    receiving.has_too_many_references = receiving.has_too_many_references || !is_kept;
    if (receiving.named != nullptr && !guid.is_null() && is_kept) {
        receiving.named->push_back(guid);
    }
    if (cmd.property->reference.get(memory) == target) {
        return false;
    }
    cmd.property->reference.set(memory, target);
    return true;
}

bool read_struct(ReadContext& context, const RepLayoutCmd& cmd, const ReadPosition& position,
                 std::byte* memory) {
    StructReader structs(context.layout(), context.receiving());
    if (context.is_checking()) {
        structs.check(cmd, position.path, context.reader());
        return false;
    }
    if (memory == nullptr) {
        structs.skip(context.reader());
        return false;
    }
    return structs.apply(cmd, context.reader(), memory, position.path, context.state());
}

bool read_delta(ReadContext& context, const RepLayoutCmd& cmd, const ReadPosition& position,
                std::byte* memory) {
    StructReader structs(context.layout(), context.receiving());
    if (!context.is_checking()) {
        return structs.apply_delta(cmd, context.reader(), memory, context.state());
    }
    const bool is_held = position.present != nullptr && !is_skipped(cmd);
    structs.check_delta(cmd, context.reader(),
                        is_held ? position.present + cmd.object_offset.value : nullptr,
                        context.present_state());
    return false;
}

}  // namespace

bool read_value(ReadContext& context, CmdIndex index, const ReadPosition& position) {
    const RepLayoutCmd& cmd = context.layout().cmd(index);
    std::byte* memory = context.is_checking() || is_skipped(cmd)
                            ? nullptr
                            : position.memory + cmd.object_offset.value;
    BitReader& reader = context.reader();
    if (!reader.spend_steps(1)) {
        return false;
    }
    switch (cmd.type) {
        case RepLayoutCmdType::String:
            return read_string(context, cmd, memory);
        case RepLayoutCmdType::Object:
            return read_object(context, cmd, position, memory);
        case RepLayoutCmdType::NetSerializeStruct:
            return read_struct(context, cmd, position, memory);
        case RepLayoutCmdType::NetDeltaStruct:
            return read_delta(context, cmd, position, memory);
        case RepLayoutCmdType::DynamicArray:
            return DynamicArrayReader(context, index, position, memory).read();
        case RepLayoutCmdType::KeyedArray:
            return KeyedArrayReader(context, index, position, memory).read();
        case RepLayoutCmdType::BitBool:
            return read_bit(reader, cmd, memory);
        case RepLayoutCmdType::Quantised:
            return read_quantised_value(reader, cmd, memory);
        default:
            return read_plain(reader, cmd, memory);
    }
}

namespace {

void read_block(ReadContext& context) {
    const RepLayout& layout = context.layout();
    BitReader& reader = context.reader();
    const detail::UpdateUnderWay& update = context.parts().update;
    ChangeMask& handles = context.parts().handles;
    read_change_mask(reader, handles, layout.handle_count(), EmptySet::Impossible);
    const bool is_part =
        context.is_checking() && (context.receiving().more_parts_follow || update.has_begun());
    bool is_first = true;
    for (std::uint32_t bit = handles.next(0); bit < handles.bit_count() && !reader.failed();
         bit = handles.next(bit + 1)) {
        const CmdIndex index = layout.cmd_of(layout.root(), RepHandle{bit + 1});
        const ParentIndex parent = layout.cmd(index).parent_index;
        const bool is_written = !context.is_checking() && !is_skipped(layout.cmd(index));
        ReadPosition position = context.position();
        position.path.handles[0] = bit + 1;
        if (is_written) {
            context.notifies().before_write(parent);
        }
        if (is_part) {
            context.span() = {};
            context.span().handle = bit + 1;
        }
        if (read_value(context, index, position) && is_written) {
            context.notifies().mark_changed(parent);
        }
        if (is_first && is_part && update.has_begun()) {
            context.end_update_before(!context.span().follows(update.last_span()));
        }
        is_first = false;
    }
    reader.finish_byte();
}

}  // namespace

bool check_block(ReadContext& context) {
    REPLAYOUT_ASSERT(context.is_checking());
    BitReader& reader = context.reader();
    context.parts().struct_lengths.begin_check();
    read_block(context);
    if (context.receiving().must_fill_reader && reader.bits_left() != 0) {
        reader.fail();
    }
    return !reader.failed();
}

bool apply_block(ReadContext& context) {
    REPLAYOUT_ASSERT(!context.is_checking());
    context.parts().struct_lengths.begin_apply();
    read_block(context);
    return !context.reader().failed();
}

}  // namespace replayout
