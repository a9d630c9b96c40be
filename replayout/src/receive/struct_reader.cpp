// SPDX-License-Identifier: MIT
#include "struct_reader.h"

#include <replayout/net_archive.h>
#include <replayout/net_delta.h>
#include <replayout/reflection/printable.h>

#include "struct_value.h"
#include "value_path.h"

#include <algorithm>
#include <string>
#include <utility>

namespace replayout {

namespace {

/// What stands before the bits of a delta.
struct DeltaHeader {
    Version from = 0;
    Version to = 0;
    std::size_t bit_count = 0;
};
/// Fails on what no sender writes; then there are no bits.
[[nodiscard]] DeltaHeader read_delta_header(BitReader& reader) noexcept {
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

}  // namespace

/// The value at `memory` stays what it was where `write` answers false. Returns whether it changed.
template <class Write>
bool StructReader::change(const RepLayoutCmd& cmd, std::byte* memory, MemoryResource* resource,
                          const Write& write) {
    const Type& type = *cmd.property->struct_type;
    const ErasedValue previous(type.ops(), resource);
    copy_struct(type, previous.get(), memory);
    if (!write()) {
        copy_struct(type, memory, previous.get());
        return false;
    }
    return !structs_same(layout_, cmd, memory, previous.get());
}

bool StructReader::read(const RepLayoutCmd& cmd, const RepPath& path, BitReader& reader,
                        void* memory) {
    const Type& type = *cmd.property->struct_type;
    Vector<NetGUID>& guids = parts_.guids;
    guids.clear();
    NetArchive archive(reader, &guids);
    bool ok = true;
    const bool is_mapped = type.traits().net_serialize(memory, archive, &context_.package_map, ok);
    if (!ok) {
        ++context_.values_failed;
        std::string text = describe_struct_failure(cmd, value_path(layout_, path), "reading");
        if (context_.failure != nullptr) {
            *context_.failure = std::move(text);
        } else {
            log(LogLevel::Error, printable(text));
        }
        return false;
    }
    context_.values_unmapped += is_mapped ? 0 : 1;
    return !reader.failed();
}

void StructReader::check(const RepLayoutCmd& cmd, const RepPath& path, BitReader& reader) {
    const std::uint64_t unmapped = context_.values_unmapped;
    const std::size_t begin = reader.position_bits();
    const ErasedValue incoming(cmd.property->struct_type->ops(), &parts_.values);
    const bool is_taken = read(cmd, path, reader, incoming.get());
    const auto bit_count = static_cast<std::uint32_t>(reader.position_bits() - begin);
    parts_.struct_lengths.add(bit_count);
    if (!is_taken) {
        reader.fail();
    } else if (!parts_.guids.empty()) {
        reader.spend_allocation((std::size_t{bit_count} + 7) / 8);
    }
    context_.values_unmapped = unmapped;  // counted when it is applied
}

bool StructReader::keep(const RepPath& path, const BitReader& begin, std::uint32_t bit_count,
                        ReceivingRepState& state) {
    Vector<NetGUID>& guids = parts_.guids;
    std::sort(guids.begin(), guids.end());
    guids.erase(std::unique(guids.begin(), guids.end()), guids.end());
    if (!state.set_value(path, {guids.data(), guids.size()}, begin, bit_count,
                         {context_.references_max, context_.kept_bytes_max}, context_.dropped)) {
        return false;
    }
    if (context_.named != nullptr) {
        context_.named->insert(context_.named->end(), guids.begin(), guids.end());
    }
    return true;
}

bool StructReader::apply(const RepLayoutCmd& cmd, BitReader& reader, std::byte* memory,
                         const RepPath& path, ReceivingRepState& state) {
    const BitReader begin = reader;
    const std::uint32_t bit_count = parts_.struct_lengths.take_next();
    // The new value is read in place, as in Unreal, so a serializer may leave members that it does
    // not send as they are.
    return change(cmd, memory, &parts_.values, [&] {
        // check() read the same bits into a fresh value. A serializer that now refuses them, or
        // reads more or fewer, depends on what the value held. The values after it must not suffer.
        const bool is_taken = read(cmd, path, reader, memory) &&
                              reader.position_bits() == begin.position_bits() + bit_count;
        reader = begin;
        reader.skip_bits(bit_count);
        // Without its bits nobody could set its references to null when their targets go.
        const bool is_kept = is_taken && keep(path, begin, bit_count, state);
        context_.has_too_many_references = context_.has_too_many_references || is_taken != is_kept;
        return is_kept;
    });
}

bool StructReader::apply_again(const RepLayoutCmd& cmd, std::byte* memory, const RepPath& path,
                               const ReceivingRepState::SerializedValue& value) {
    BitReader reader({value.bytes.data(), value.bytes.size()}, 0, value.bit_count, nullptr);
    return change(cmd, memory, &parts_.values, [&] { return read(cmd, path, reader, memory); });
}

bool StructReader::read_delta(const RepLayoutCmd& cmd, BitReader reader, std::size_t bit_count,
                              void* memory) {
    const std::size_t end = reader.position_bits() + bit_count;
    NetArchive archive(reader);
    NetDeltaInfo info(archive, context_.package_map);
    const bool is_taken = cmd.property->struct_type->traits().net_delta_serialize(memory, info) &&
                          !reader.failed() && reader.position_bits() == end;
    context_.values_failed += is_taken ? 0 : 1;
    return is_taken;
}

void StructReader::check_delta(const RepLayoutCmd& cmd, BitReader& reader, const std::byte* present,
                               const ReceivingRepState* state) {
    const DeltaHeader header = read_delta_header(reader);
    if (reader.failed()) {
        return;
    }
    const RepHandle handle{cmd.relative_handle};
    if (present != nullptr && header.from == state->delta_version(handle)) {
        const Type& type = *cmd.property->struct_type;
        // It is copied when checked and when applied. What it holds beyond its own bytes only the
        // struct knows (NetArchive::spend).
        if (!reader.spend_steps(1 + type.size() / 8)) {
            return;
        }
        const ErasedValue copy(type.ops(), context_.scratch.resource());
        copy_struct(type, copy.get(),
                    state->is_delta_carried_over(handle) ? archetype_of(cmd) : present);
        if (!read_delta(cmd, reader, header.bit_count, copy.get())) {
            reader.fail();
            return;
        }
    }
    reader.skip_bits(header.bit_count);
}

bool StructReader::apply_delta(const RepLayoutCmd& cmd, BitReader& reader, std::byte* memory,
                               ReceivingRepState& state) {
    const DeltaHeader header = read_delta_header(reader);
    const RepHandle handle{cmd.relative_handle};
    const BitReader bits = reader;
    reader.skip_bits(header.bit_count);
    if (memory == nullptr || reader.failed() || header.from != state.delta_version(handle)) {
        return false;
    }
    return change(cmd, memory, context_.scratch.resource(), [&] {
        if (state.is_delta_carried_over(handle)) {
            copy_struct(*cmd.property->struct_type, memory, archetype_of(cmd));
        }
        state.set_delta_version(handle, header.to);
        // It took the same bits a moment ago, into an equal value. A function that now refuses them
        // looks at something else; the value stays what it was.
        return read_delta(cmd, bits, header.bit_count, memory);
    });
}

}  // namespace replayout
