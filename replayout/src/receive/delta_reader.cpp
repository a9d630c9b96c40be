// SPDX-License-Identifier: MIT
#include "delta_reader.h"

#include <replayout/net_delta.h>

#include "struct_value.h"

namespace replayout {

DeltaHeader read_delta_header(BitReader& reader) noexcept {
    DeltaHeader header;
    header.to = reader.read_packed_uint32();
    const std::uint32_t distance = reader.read_packed_uint32();
    const std::uint64_t bit_count = reader.read_packed_uint();
    if (reader.failed() || distance == 0 || distance > header.to ||
        bit_count > reader.bits_left()) {
        reader.fail();
        return {};
    }
    header.from = header.to - distance;
    header.bit_count = static_cast<std::size_t>(bit_count);
    return header;
}

bool DeltaReader::read(const RepLayoutCmd& cmd, BitReader reader, std::size_t bit_count,
                       void* memory) {
    const std::size_t end = reader.position_bits() + bit_count;
    NetArchive archive(reader);
    NetDeltaInfo info(archive, context_.package_map);
    const bool is_taken = cmd.property->struct_type->traits().net_delta_serialize(memory, info);
    return is_taken && !reader.failed() && reader.position_bits() == end;
}

void DeltaReader::check(const RepLayoutCmd& cmd, BitReader& reader, const std::byte* present,
                        Version held) {
    const DeltaHeader header = read_delta_header(reader);
    if (reader.failed()) {
        return;
    }
    if (present != nullptr && header.from == held) {
        const Type& type = *cmd.property->struct_type;
        // It is copied when checked and when applied. What it holds beyond its own bytes only the
        // struct knows (NetArchive::spend).
        if (!reader.spend_steps(1 + type.size() / 8)) {
            return;
        }
        const ErasedValue copy(type.ops(), context_.scratch.resource());
        copy_struct(type, copy.get(), present);
        if (!read(cmd, reader, header.bit_count, copy.get())) {
            ++context_.values_failed;
            reader.fail();
            return;
        }
    }
    reader.skip_bits(header.bit_count);
}

bool DeltaReader::apply(const RepLayoutCmd& cmd, BitReader& reader, std::byte* memory,
                        const void* archetype, ReceivingRepState& state) {
    const DeltaHeader header = read_delta_header(reader);
    const RepHandle handle{cmd.relative_handle};
    const BitReader bits = reader;
    reader.skip_bits(header.bit_count);
    if (memory == nullptr || reader.failed() || header.from != state.delta_version(handle)) {
        return false;
    }
    const Type& type = *cmd.property->struct_type;
    const ErasedValue previous(type.ops(), context_.scratch.resource());
    copy_struct(type, previous.get(), memory);
    if (state.is_delta_carried_over(handle)) {
        copy_struct(type, memory, archetype);
    }
    state.set_delta_version(handle, header.to);
    // It took the same bits a moment ago, into an equal value. A function that now refuses them
    // looks at something else; the value stays what it was.
    if (!read(cmd, bits, header.bit_count, memory)) {
        ++context_.values_failed;
        copy_struct(type, memory, previous.get());
        return false;
    }
    return !structs_same(layout_, cmd, memory, previous.get());
}

}  // namespace replayout
