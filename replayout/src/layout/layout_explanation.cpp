// SPDX-License-Identifier: MIT
#include "layout_explanation.h"

#include <replayout/bit_reader.h>
#include <replayout/bit_writer.h>
#include <replayout/layout_description.h>

#include <algorithm>
#include <utility>

namespace replayout {

namespace {

// Those that enter the fingerprint.
constexpr FunctionFlags explained_flags = FunctionFlags::Server | FunctionFlags::Client |
                                          FunctionFlags::Multicast | FunctionFlags::Reliable |
                                          FunctionFlags::Remote;

[[nodiscard]] PropertyKind explained_kind(const Property& property) noexcept {
    return property.kind == PropertyKind::BitBool ? PropertyKind::Bool : property.kind;
}

[[nodiscard]] bool is_explained(const RepLayoutCmd& cmd) noexcept {
    return cmd.type != RepLayoutCmdType::Return;
}

void write_explanation(const RepLayout& layout, BitWriter& writer) {
    const auto cmds = layout.cmds();
    writer.write_packed_uint(
        static_cast<std::uint64_t>(std::count_if(cmds.begin(), cmds.end(), is_explained)));
    for (const RepLayoutCmd& cmd : cmds) {
        if (is_explained(cmd)) {
            writer.write_bits(static_cast<std::uint64_t>(explained_kind(*cmd.property)), 8);
        }
    }
    writer.write_packed_uint(layout.functions().size());
    for (const RepFunction& function : layout.functions()) {
        write_described_text(writer, function.function->name);
        writer.write_bits(static_cast<std::uint64_t>(function.function->flags) &
                              static_cast<std::uint64_t>(explained_flags),
                          8);
        writer.write_bits(function.parameters == nullptr
                              ? 0
                              : static_cast<std::uint32_t>(function.parameters->fingerprint().low),
                          32);
    }
    write_layout_description(layout, writer);
}

[[nodiscard]] Error malformed_explanation() {
    return {ErrorCode::MalformedDescription, "explanation of a layout: malformed"};
}

}  // namespace

Vector<std::byte> explain_layout(const RepLayout& layout, MemoryResource* resource) {
    constexpr std::size_t bytes_initial = 2'048;
    Vector<std::byte> bytes{Allocator<std::byte>(resource)};
    REPLAYOUT_EXPECT(!layout.is_receive_only(), bytes,
                     "explain_layout: the layout of a \"%s\" is only read with: explain the one of "
                     "create()",
                     std::string(layout.name()).c_str());
    for (bytes.resize(bytes_initial);; bytes.resize(bytes.size() * 2)) {
        BitWriter writer({bytes.data(), bytes.size()});
        write_explanation(layout, writer);
        if (!writer.overflowed()) {
            bytes.resize(writer.byte_count());
            return bytes;
        }
    }
}

Result<LayoutExplanation> read_layout_explanation(std::span<const std::byte> explanation) {
    BitReader reader(explanation);
    LayoutExplanation read;
    const std::uint64_t leaf_count = reader.read_packed_uint();
    const std::span<const std::byte> kinds = reader.take_bytes(
        static_cast<std::size_t>(std::min<std::uint64_t>(leaf_count, reader.bits_left() / 8)));
    // A function takes six bytes at least, so what is kept is no more than a few times the bytes.
    const std::uint64_t function_count = reader.read_packed_uint();
    for (std::uint64_t i = 0; i < function_count && !reader.failed(); ++i) {
        ExplainedFunction function;
        function.name = read_described_text(reader);
        function.flags = static_cast<std::uint8_t>(reader.read_bits(8));
        function.parameters = static_cast<std::uint32_t>(reader.read_bits(32));
        read.functions.push_back(function);
    }
    if (reader.failed()) {
        return malformed_explanation();
    }
    Result<LayoutDescription> description =
        read_layout_description(explanation.last(reader.bits_left() / 8));
    if (!description) {
        return description.error();
    }
    read.description = *std::move(description);
    std::size_t next = 0;
    for (const DescribedCmd& cmd : read.description.cmds) {
        const bool has_kind = cmd.form != LeafForm::End;
        if (has_kind && next == kinds.size()) {
            return malformed_explanation();
        }
        read.kinds.push_back(has_kind ? std::to_integer<std::uint8_t>(kinds[next++])
                                      : std::uint8_t{0});
    }
    if (next != leaf_count) {
        return malformed_explanation();
    }
    return read;
}

Result<std::string_view> explained_name(std::span<const std::byte> explanation) {
    const Result<LayoutExplanation> read = read_layout_explanation(explanation);
    if (!read) {
        return read.error();
    }
    return read->description.name;
}

}  // namespace replayout
