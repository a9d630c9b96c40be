// SPDX-License-Identifier: MIT
#include <replayout/dump.h>

#include <algorithm>
#include <string_view>

namespace replayout {

namespace {

/// Right-aligned, and apart from what is before it.
void append_right(std::string& line, std::string_view text, std::size_t width) {
    line.append(text.size() < width ? width - text.size() : 1, ' ');
    line += text;
}

void append_right(std::string& line, std::uint64_t number, std::size_t width) {
    append_right(line, std::to_string(number), width);
}

[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun) {
    return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

[[nodiscard]] std::string text_of_versions(VersionInterval versions) {
    return "(" + std::to_string(versions.after) + ", " + std::to_string(versions.through) + "]";
}

[[nodiscard]] std::string text_of(const RepRange& range) {
    if (range.handle_end == RepRange::no_handle_end) {
        return "from handle " + std::to_string(range.handle_begin) + " on";
    }
    if (!range.is_single()) {
        return "in handles " + std::to_string(range.handle_begin) + " to " +
               std::to_string(range.handle_end - 1);
    }
    std::string text = "in handle " + std::to_string(range.handle_begin);
    if (range.element_begin != 0 || range.element_end != RepRange::no_element_end) {
        text += " from place " + std::to_string(range.element_begin);
        text += range.element_end == RepRange::no_element_end
                    ? " on"
                    : " to " + std::to_string(range.element_end - 1);
    }
    return text;
}

/// For whom something is kept: every field of the question, so that equal texts are equal
/// questions; of what is kept none has lost_parts.
[[nodiscard]] std::string text_of(const OwedVersions& position) {
    std::string text = "sent up to " + std::to_string(position.sent_version);
    const auto add_lost = [&text](const LostPart& lost) {
        text += ", lost " + text_of_versions(lost.versions);
        text += lost.range.is_whole() ? "" : " " + text_of(lost.range);
    };
    if (position.lost_parts.empty() && !position.lost.is_empty()) {
        add_lost({position.lost, position.lost_range});
    }
    for (const LostPart& lost : position.lost_parts) {
        add_lost(lost);
    }
    if (position.is_exact) {
        text += ", exact";
    }
    const auto add = [&text](std::string_view what, Version version) {
        text += version == 0 ? "" : std::string(what) + std::to_string(version);
    };
    add(", holds up to ", position.held_version);
    add(", joined at ", position.joined_version);
    add(", began anew at ", position.restart_version);
    return text;
}

/// Behind a position: of the conditions that properties have, those that the receiver meets.
[[nodiscard]] std::string text_of(LifetimeConditionSet passing, const RepLayout& layout) {
    if (layout.conditions().is_trivial()) {
        return "";
    }
    std::string names;
    for (std::size_t i = 0; i < lifetime_condition_count; ++i) {
        const auto condition = static_cast<LifetimeCondition>(i);
        if (condition != LifetimeCondition::None && passing.contains(condition)) {
            names += (names.empty() ? "" : " ") + std::string(to_string(condition));
        }
    }
    return ", meets " + (names.empty() ? "no condition" : names);
}

[[nodiscard]] std::size_t bytes_of(const SharedPiece& piece) noexcept {
    return (std::size_t{piece.bit_count} + 7) / 8;
}

[[nodiscard]] std::string hex_text(std::span<const std::byte> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    constexpr std::size_t shown_max = 16;
    std::string text;
    for (const std::byte byte : bytes.first(std::min(bytes.size(), shown_max))) {
        const auto value = std::to_integer<unsigned>(byte);
        text += ' ';
        text += digits[value >> 4];
        text += digits[value & 15];
    }
    return bytes.size() > shown_max ? text + " ..." : text;
}

/// The buffer of `object`, or of nobody in particular, where that is null.
struct SharedBuffer {
    const SharedSerialization& shared;
    const RepLayout& layout;
    const ChangelistState* object;

    [[nodiscard]] std::string_view left_over(const SharedPiece& piece, RepHandle handle) const {
        return object != nullptr && piece.version != object->last_changed(handle) ? " (left over)"
                                                                                  : "";
    }
    [[nodiscard]] std::string_view left_over(const SharedPayload& payload) const {
        return object != nullptr && payload.version != object->version() ? " (left over)" : "";
    }
};

[[nodiscard]] std::string piece_line(const SharedBuffer& buffer, const SharedPiece& piece,
                                     RepHandle handle, std::string_view question) {
    std::string line;
    append_right(line, handle.value, 8);
    append_right(line, piece.version, 9);
    append_right(line, piece.bit_count == 0 ? "-" : std::to_string(piece.bit_count), 7);
    line += "  " + property_path(buffer.layout, handle);
    if (piece.bit_count == 0) {
        line += ", in the shadow" + std::string(buffer.left_over(piece, handle));
    } else {
        line += std::string(question) + std::string(buffer.left_over(piece, handle)) + ":" +
                hex_text(buffer.shared.buffer().subspan(piece.byte_offset, bytes_of(piece)));
    }
    return line + "\n";
}

/// Pieces of values, then those of arrays.
[[nodiscard]] std::string piece_lines(const SharedBuffer& buffer) {
    std::string text;
    const std::span<const SharedPiece> pieces = buffer.shared.pieces();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (pieces[i].version != 0) {
            text += piece_line(buffer, pieces[i], RepHandle{static_cast<std::uint32_t>(i) + 1}, "");
        }
    }
    for (const SharedArrayPiece& entry : buffer.shared.array_pieces()) {
        text += piece_line(buffer, entry.piece, entry.handle, " (" + text_of(entry.owed) + ")");
    }
    return text.empty() ? text : "  handle  version   bits  piece\n" + text;
}

/// The way from a struct to `leaf`, which lies `offset` bytes behind its beginning: ".pose.yaw".
/// False, and nothing appended: it does not lie there.
[[nodiscard]] bool append_member(std::string& path, const Type& type, const Property& leaf,
                                 std::uint32_t offset) {
    if (type.base() != nullptr && offset >= type.base_offset() &&
        append_member(path, *type.base(), leaf, offset - type.base_offset())) {
        return true;
    }
    const std::size_t length = path.size();
    for (const Property& property : type.properties()) {
        if (offset < property.offset ||
            offset >= property.offset + property.size * property.array_dim) {
            continue;
        }
        const std::uint32_t inner = offset - property.offset;
        path += '.' + property.name;
        if (property.array_dim > 1) {
            path += '[' + std::to_string(inner / property.size) + ']';
        }
        if (&property == &leaf ||
            (property.kind == PropertyKind::Struct &&
             append_member(path, *property.struct_type, leaf, inner % property.size))) {
            return true;
        }
        path.resize(length);
    }
    return false;
}

}  // namespace

std::string property_path(const RepLayout& layout, RepHandle handle) {
    const CmdIndex index = layout.cmd_of(layout.root(), handle);
    const RepLayoutCmd& cmd = layout.cmd(index);
    if (has_flag(cmd.flags, RepLayoutCmdFlags::IsSkipped)) {
        return std::string(layout.skipped_name(index));
    }
    const RepParentCmd& parent = layout.parents()[cmd.parent_index.value];
    std::string path = parent.property->name;
    if (parent.property->array_dim > 1) {
        path += '[' + std::to_string(parent.array_index) + ']';
    }
    if (cmd.property != parent.property) {
        const bool is_found = append_member(path, *parent.property->struct_type, *cmd.property,
                                            cmd.object_offset.value - parent.object_offset.value);
        REPLAYOUT_ASSERT(is_found);
    }
    return path;
}

std::string dump(const ChangeMask& handles, const RepLayout& layout) {
    REPLAYOUT_ASSERT(handles.bit_count() == layout.handle_count());
    std::string text;
    for (std::uint32_t bit = handles.next(0); bit < handles.bit_count();
         bit = handles.next(bit + 1)) {
        text += (text.empty() ? "" : ", ") + property_path(layout, RepHandle{bit + 1});
    }
    return text.empty() ? "nothing" : text;
}

std::string dump(const ChangelistHistory& history, const RepLayout& layout) {
    std::string text = "history of " + std::string(layout.type().name()) + ", ";
    text += std::to_string(history.count()) + " of " +
            std::to_string(ChangelistHistory::count_max) + " entries\n";
    for (std::uint32_t i = 0; i < history.count(); ++i) {
        ChangeMask changed;
        changed.reset(layout.handle_count());
        for (std::uint32_t bit = 0; bit < layout.handle_count(); ++bit) {
            if (history.test(i, RepHandle{bit + 1})) {
                changed.set(bit);
            }
        }
        // Versions begin at 1 and each has an entry of its own until the oldest ones fold.
        const bool is_folded = i == 0 && history.version_at(0) > 1;
        text += is_folded ? "  up to version " : "  version ";
        text += std::to_string(history.version_at(i)) + ": " + dump(changed, layout) + "\n";
    }
    return text;
}

std::string dump(const ChangelistState& state) {
    const RepLayout& layout = state.layout();
    std::string text = "object of " + std::string(layout.type().name()) + " at version " +
                       std::to_string(state.version()) + "\n";
    text += "  handle  changed  property\n";
    for (std::uint32_t handle = 1; handle <= layout.handle_count(); ++handle) {
        const Version last_changed = state.last_changed(RepHandle{handle});
        append_right(text, handle, 8);
        append_right(text, last_changed == 0 ? "-" : std::to_string(last_changed), 9);
        text += "  " + property_path(layout, RepHandle{handle}) + " = " +
                value_text(layout, RepHandle{handle}, state.shadow()) + "\n";
    }
    return text;
}

namespace {

[[nodiscard]] std::string text_of(const SharedBuffer& buffer) {
    const SharedSerialization& shared = buffer.shared;
    const RepLayout& layout = buffer.layout;
    std::uint64_t payload_count = 0;
    std::uint64_t payload_bytes = 0;
    std::string payloads;
    for (const SharedPayload& payload : shared.payloads()) {
        if (payload.version == 0) {
            continue;
        }
        ++payload_count;
        payload_bytes += payload.bytes.size();
        payloads += "  payload of version " + std::to_string(payload.version) + " (" +
                    text_of(payload.position) + text_of(payload.passing, layout) + "), " +
                    counted(payload.property_count, "value") + ", " +
                    counted(payload.bytes.size(), "byte") + std::string(buffer.left_over(payload)) +
                    ":" + hex_text({payload.bytes.data(), payload.bytes.size()}) + "\n";
    }
    const std::string pieces = piece_lines(buffer);
    const auto lines = static_cast<std::uint64_t>(std::count(pieces.begin(), pieces.end(), '\n'));
    std::uint64_t piece_bytes = 0;
    for (const SharedPiece& piece : shared.pieces()) {
        piece_bytes += piece.version != 0 ? bytes_of(piece) : 0;
    }
    for (const SharedArrayPiece& entry : shared.array_pieces()) {
        piece_bytes += bytes_of(entry.piece);
    }
    return "shared buffer of " + std::string(layout.type().name()) + ", " +
           counted(lines == 0 ? 0 : lines - 1, "piece") + " with " + counted(piece_bytes, "byte") +
           ", " + counted(payload_count, "payload") + " with " + counted(payload_bytes, "byte") +
           "\n" + pieces + payloads;
}

}  // namespace

std::string dump(const SharedSerialization& shared, const RepLayout& layout) {
    return text_of(SharedBuffer{shared, layout, nullptr});
}

std::string dump_shared(const ChangelistState& state) {
    return text_of(SharedBuffer{state.shared(), state.layout(), &state});
}

std::string dump(const ConnectionShadow& receiver) {
    const RepLayout& layout = receiver.object().layout();
    ChangeMask owed;
    owed.reset(layout.handle_count());
    for (std::uint32_t handle = 1; handle <= layout.handle_count(); ++handle) {
        if (receiver.owes(RepHandle{handle})) {
            owed.set(handle - 1);
        }
    }
    OwedVersions question = receiver.position();
    question.is_exact = question.is_exact && receiver.object().is_any_back(question.sent_version);
    return "receiver of " + std::string(layout.type().name()) + " (" + text_of(question) +
           text_of(receiver.passing() & layout.conditions(), layout) + ")" +
           (receiver.is_exact() ? ", exact" : "") + ", owed: " + dump(owed, layout) + "\n";
}

std::string dump(const TypeCounters& counters) {
    const RepLayout& layout = *counters.layout;
    std::string text = "counters of " + std::string(layout.type().name()) + ": " +
                       counted(counters.blocks_sent, "block") + " with " +
                       counted(counters.block_bytes_sent, "byte") + ", " +
                       counted(counters.payloads_reused, "block") + " of them copied whole (" +
                       counted(counters.payload_bytes_reused, "byte") + ")";
    for (std::size_t miss = 0; miss < block_miss_count; ++miss) {
        if (counters.block_misses[miss] > 0) {
            text += ", " + std::string(to_string(static_cast<BlockMiss>(miss))) + " " +
                    std::to_string(counters.block_misses[miss]);
        }
    }
    text += "\n";
    text += "      sent bits alone   in blocks   reused    built  encoded  property, and why\n";
    for (std::uint32_t handle = 1; handle <= layout.handle_count(); ++handle) {
        const PropertyCounters& property = counters.properties[handle - 1];
        append_right(text, property.values_sent, 10);
        append_right(text, property.bits_sent, 11);
        append_right(text, property.payload_reuses, 12);
        append_right(text, property.values_reused, 9);
        append_right(text, property.pieces_built, 9);
        append_right(text, property.values_encoded(), 9);
        text += "  " + property_path(layout, RepHandle{handle});
        for (std::size_t reason = 0; reason < encode_reason_count; ++reason) {
            if (property.encoded[reason] > 0) {
                text += ", " + std::string(to_string(static_cast<EncodeReason>(reason))) + " " +
                        std::to_string(property.encoded[reason]);
            }
        }
        text += "\n";
    }
    return text;
}

}  // namespace replayout
