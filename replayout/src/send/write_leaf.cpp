// SPDX-License-Identifier: MIT
#include "write_leaf.h"

#include "native_value.h"
#include "struct_writer.h"

#include <span>

namespace replayout {

namespace {

void write_floats(const std::byte* bytes, std::uint32_t count, BitWriter& writer) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
        writer.write_bits(load_integer(bytes + i * 4, 4), 32);
    }
}

}  // namespace

void write_leaf(WriteContext& context, const RepLayoutCmd& cmd, ConstShadowBuffer leaf,
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
        case RepLayoutCmdType::Quat:
            write_floats(leaf.data(), cmd.element_size / 4, writer);
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
            StructWriter(context, cmd, leaf).write(writer);
            return;
        case RepLayoutCmdType::NetDeltaStruct:
            StructWriter(context, cmd, leaf).write_delta(writer);
            return;
        case RepLayoutCmdType::Quantised:
            write_quantised(cmd.property->quantisation, load_quantised_leaf(cmd, leaf), writer);
            return;
        case RepLayoutCmdType::DynamicArray:
        case RepLayoutCmdType::KeyedArray:
        case RepLayoutCmdType::Return:
            REPLAYOUT_ASSERT(false);
    }
}

}  // namespace replayout
