// SPDX-License-Identifier: MIT
#include "struct_reader.h"

#include <replayout/net_archive.h>
#include <replayout/reflection/printable.h>

#include "struct_value.h"
#include "value_path.h"

#include <algorithm>
#include <string>
#include <utility>

namespace replayout {

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
    const Type& type = *cmd.property->struct_type;
    const BitReader begin = reader;
    const std::uint32_t bit_count = parts_.struct_lengths.take_next();
    // The previous value, to tell whether it changes; the new one is read in place, as in Unreal,
    // so a serializer may leave members that it does not send as they are.
    const ErasedValue previous(type.ops(), &parts_.values);
    copy_struct(type, previous.get(), memory);
    // It was read before, into a fresh value. One that now refuses the same bits, or reads more or
    // fewer of them, looks at what it held; it must not lead the values behind it astray.
    const bool is_taken = read(cmd, path, reader, memory) &&
                          reader.position_bits() == begin.position_bits() + bit_count;
    reader = begin;
    reader.skip_bits(bit_count);
    const bool is_kept = is_taken && keep(path, begin, bit_count, state);
    context_.has_too_many_references = context_.has_too_many_references || is_taken != is_kept;
    if (!is_kept) {
        // Without its bits nobody could set its references to null when their targets go.
        copy_struct(type, memory, previous.get());
        return false;
    }
    return !structs_same(layout_, cmd, memory, previous.get());
}

bool StructReader::apply_again(const RepLayoutCmd& cmd, std::byte* memory, const RepPath& path,
                               const ReceivingRepState::SerializedValue& value) {
    const Type& type = *cmd.property->struct_type;
    const ErasedValue previous(type.ops(), &parts_.values);
    copy_struct(type, previous.get(), memory);
    BitReader reader({value.bytes.data(), value.bytes.size()}, 0, value.bit_count, nullptr);
    if (!read(cmd, path, reader, memory)) {
        copy_struct(type, memory, previous.get());
        return false;
    }
    return !structs_same(layout_, cmd, memory, previous.get());
}

}  // namespace replayout
