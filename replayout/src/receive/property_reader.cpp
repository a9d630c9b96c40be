// SPDX-License-Identifier: MIT
#include "property_reader.h"

#include <replayout/net_archive.h>
#include <replayout/quantise.h>
#include <replayout/shadow_state.h>
#include <replayout/utf8.h>

#include "delta_reader.h"
#include "native_value.h"
#include "notify_queue.h"
#include "struct_reader.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace replayout {

namespace {

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

}  // namespace

bool PropertyReader::check_block() {
    REPLAYOUT_ASSERT(is_checking());
    StructReader::begin_check(context_.scratch);
    read_block();
    if (context_.must_fill_reader && reader_.bits_left() != 0) {
        reader_.fail();
    }
    return !reader_.failed();
}

bool PropertyReader::apply_block() {
    REPLAYOUT_ASSERT(!is_checking());
    StructReader::begin_apply(context_.scratch);
    read_block();
    return !reader_.failed();
}

void PropertyReader::read_block() {
    ChangeMask& handles = context_.scratch.handles_;
    read_change_mask(reader_, handles, layout_.handle_count(), EmptySet::Impossible);
    const bool is_part =
        is_checking() && (context_.more_parts_follow || context_.scratch.is_update_under_way());
    bool is_first = true;
    for (std::uint32_t bit = handles.next(0); bit < handles.bit_count() && !reader_.failed();
         bit = handles.next(bit + 1)) {
        const CmdIndex index = layout_.cmd_of(layout_.root(), RepHandle{bit + 1});
        const ParentIndex parent = layout_.cmd(index).parent_index;
        const bool is_written = !is_checking() && !is_skipped(layout_.cmd(index));
        Place place;
        place.memory = object_;
        place.present = present_;
        place.path.handles[0] = bit + 1;
        if (is_written) {
            notifies_->before_write(parent);
        }
        if (is_part) {
            span_ = {};
            span_.handle = bit + 1;
        }
        if (read_value(index, place) && is_written) {
            notifies_->mark_changed(parent);
        }
        if (is_first && is_part && context_.scratch.is_update_under_way()) {
            must_end_update_ = must_end_update_ || !span_.follows(context_.scratch.last_span_);
        }
        is_first = false;
    }
    reader_.finish_byte();
}

bool PropertyReader::read_value(CmdIndex index, const Place& place) {
    const RepLayoutCmd& cmd = layout_.cmd(index);
    std::byte* memory =
        is_checking() || is_skipped(cmd) ? nullptr : place.memory + cmd.object_offset.value;
    if (!reader_.spend_steps(1)) {
        return false;
    }
    switch (cmd.type) {
        case RepLayoutCmdType::String:
            return read_string(cmd, memory);
        case RepLayoutCmdType::Object:
            return read_object(cmd, place, memory);
        case RepLayoutCmdType::NetSerializeStruct:
            return read_struct(cmd, place, memory);
        case RepLayoutCmdType::NetDeltaStruct:
            return read_delta(cmd, place, memory);
        case RepLayoutCmdType::DynamicArray:
            return read_array(index, place, memory);
        case RepLayoutCmdType::KeyedArray:
            return read_keyed_array(index, place, memory);
        case RepLayoutCmdType::BitBool:
            return read_bit(cmd, memory);
        case RepLayoutCmdType::Quantised:
            return read_quantised_value(cmd, memory);
        default:
            return read_plain(cmd, memory);
    }
}

bool PropertyReader::read_plain(const RepLayoutCmd& cmd, std::byte* memory) {
    const std::uint32_t words = word_count(cmd.type);
    const std::uint32_t word_size = cmd.element_size / words;
    const std::uint32_t bit_count = cmd.type == RepLayoutCmdType::Bool ? 1 : word_size * 8;
    std::byte value[16];
    for (std::uint32_t i = 0; i < words; ++i) {
        store_integer(value + i * word_size, reader_.read_bits(bit_count), word_size);
    }
    if (memory == nullptr || std::memcmp(memory, value, cmd.element_size) == 0) {
        return false;
    }
    std::memcpy(memory, value, cmd.element_size);
    return true;
}

bool PropertyReader::read_bit(const RepLayoutCmd& cmd, std::byte* memory) {
    const bool value = reader_.read_bool();
    const std::byte mask{cmd.property->bit_mask};
    if (memory == nullptr || ((*memory & mask) != std::byte{0}) == value) {
        return false;
    }
    *memory ^= mask;
    return true;
}

bool PropertyReader::read_quantised_value(const RepLayoutCmd& cmd, std::byte* memory) {
    const QuantisedValue incoming = read_quantised(cmd.property->quantisation, reader_);
    if (memory == nullptr) {
        return false;
    }
    std::byte value[16];
    REPLAYOUT_ASSERT(cmd.element_size <= sizeof(value));
    dequantise(*cmd.property, incoming, value);
    if (std::memcmp(memory, value, cmd.element_size) == 0) {
        return false;
    }
    std::memcpy(memory, value, cmd.element_size);
    return true;
}

bool PropertyReader::read_string(const RepLayoutCmd& cmd, std::byte* memory) {
    const std::uint64_t byte_count = reader_.read_packed_uint();
    if (byte_count > layout_.limits().string_bytes_max || byte_count > reader_.bits_left() / 8) {
        reader_.fail();
        return false;
    }
    if (is_checking() && !reader_.spend_allocation(byte_count)) {
        return false;
    }
    Vector<std::byte>& text = context_.scratch.text_;
    if (text.size() < byte_count) {
        text.resize(byte_count);
    }
    reader_.read_bytes({text.data(), byte_count});
    const std::string_view incoming(reinterpret_cast<const char*>(text.data()), byte_count);
    if (memory == nullptr) {
        if (!is_valid_utf8(incoming)) {
            reader_.fail();
        }
        return false;
    }
    const StringOps& ops = cmd.property->string;
    if (ops.view(memory, ops.context) == incoming) {
        return false;
    }
    const bool is_taken = ops.assign(memory, incoming, ops.context);
    context_.values_refused += is_taken ? 0 : 1;
    return is_taken;
}

bool PropertyReader::read_object(const RepLayoutCmd& cmd, const Place& place, std::byte* memory) {
    const NetGUID guid{reader_.read_packed_uint()};
    if (memory == nullptr) {
        return false;
    }
    ObjectHandle target = context_.package_map.object_of(guid);
    const bool is_kept = state_->set_reference(place.path, {guid, !target.is_null()},
                                               context_.references_max, context_.dropped);
    if (!is_kept) {
        target = ObjectHandle{};  // nobody would set it to null when the target goes
    }
    context_.has_too_many_references = context_.has_too_many_references || !is_kept;
    if (context_.named != nullptr && !guid.is_null() && is_kept) {
        context_.named->push_back(guid);
    }
    if (cmd.property->reference.get(memory) == target) {
        return false;
    }
    cmd.property->reference.set(memory, target);
    return true;
}

bool PropertyReader::read_struct(const RepLayoutCmd& cmd, const Place& place, std::byte* memory) {
    StructReader structs(layout_, context_);
    if (is_checking()) {
        structs.check(cmd, place.path, reader_);
        return false;
    }
    if (memory == nullptr) {
        structs.skip(reader_);
        return false;
    }
    return structs.apply(cmd, reader_, memory, place.path, *state_);
}

const void* PropertyReader::archetype_struct(const RepLayoutCmd& cmd) const noexcept {
    const ConstShadowBuffer archetype = std::as_const(layout_.archetype()).buffer();
    return (archetype + cmd.shadow_offset).data();
}

bool PropertyReader::read_delta(const RepLayoutCmd& cmd, const Place& place, std::byte* memory) {
    DeltaReader deltas(layout_, context_);
    if (!is_checking()) {
        return deltas.apply(cmd, reader_, memory,
                            memory == nullptr ? nullptr : archetype_struct(cmd), *state_);
    }
    if (place.present == nullptr || is_skipped(cmd)) {
        deltas.check(cmd, reader_, nullptr, 0);
        return false;
    }
    const RepHandle handle{cmd.relative_handle};
    const std::byte* base = present_state_->is_delta_carried_over(handle)
                                ? static_cast<const std::byte*>(archetype_struct(cmd))
                                : place.present + cmd.object_offset.value;
    deltas.check(cmd, reader_, base, present_state_->delta_version(handle));
    return false;
}

// A sender cannot cut an atomic group, so it may be more than is granted, and goes alone then: only
// its first array asks. Which arrays of a layout that was described are in one is not known here,
// so there that is all of a block.
bool PropertyReader::begin_keyed_array(RepHandle array) {
    if (array.value < unit_end_) {
        return !reader_.failed();
    }
    const RepGroup* group = layout_.find_group(layout_.root(), array);
    unit_end_ = group == nullptr ? array.value + 1u : group->handle_end;
    if (layout_.is_receive_only()) {
        unit_end_ = layout_.handle_count() + 1;
    }
    return reader_.begin_keyed_array();
}

bool PropertyReader::check_count(const RepLayoutCmd& cmd, std::size_t old_count,
                                 std::uint64_t count) {
    if (count > count_max_of(*cmd.property, layout_.limits())) {
        reader_.fail();
        return false;
    }
    const std::uint64_t added = count > old_count && !is_skipping_ ? count - old_count : 0;
    return reader_.spend_allocation(added * cmd.element_size);
}

bool PropertyReader::resize_array(const RepLayoutCmd& cmd, const RepScope& element,
                                  const Place& place, std::byte* array, std::uint32_t count) {
    const ArrayOps& ops = cmd.property->array;
    const std::size_t old_count = ops.count(array);
    if (old_count == count) {
        return false;
    }
    if (count < old_count) {
        RepPath tail = place.path;
        tail.handles[place.depth + 1] = count * element.handle_count + 1;
        state_->truncate(tail, place.depth + 1, context_.dropped);
    }
    ops.resize(array, count);
    return true;
}

bool PropertyReader::read_array(CmdIndex index, const Place& place, std::byte* array) {
    const RepLayoutCmd& cmd = layout_.cmd(index);
    const RepScope& element = layout_.element_scope(index);
    const ArrayOps& ops = cmd.property->array;
    const std::byte* present = place.present == nullptr || is_skipped(cmd)
                                   ? nullptr
                                   : place.present + cmd.object_offset.value;
    const std::size_t present_count = present == nullptr ? 0 : ops.count(present);
    const bool is_optional = cmd.property->kind == PropertyKind::Optional;
    const std::uint64_t count = is_optional ? reader_.read_bits(1) : reader_.read_packed_uint();
    if (is_checking() && !check_count(cmd, present_count, count)) {
        return false;
    }
    const auto element_count = static_cast<std::uint32_t>(count);
    if (place.depth == 0) {
        span_.may_go_on = true;
        span_.array_count = count;
    }
    bool is_changed = array != nullptr && resize_array(cmd, element, place, array, element_count);
    if (element_count == 0) {
        return is_changed;
    }
    ChangeMask& changed = context_.scratch.elements_[place.depth];
    if (is_optional && element.handle_count == 1) {
        changed.reset(1);
        changed.set(0);
    } else {
        read_change_mask(reader_, changed, element_count * element.handle_count,
                         EmptySet::Possible);
    }
    auto* elements = array == nullptr ? nullptr : static_cast<std::byte*>(ops.mutable_data(array));
    const auto* present_elements =
        present_count == 0 ? nullptr : static_cast<const std::byte*>(ops.data(present));
    for (std::uint32_t bit = changed.next(0); bit < changed.bit_count() && !reader_.failed();
         bit = changed.next(bit + 1)) {
        const std::uint32_t i = bit / element.handle_count;
        const std::size_t offset = std::size_t{i} * cmd.element_size;
        const CmdIndex leaf = layout_.cmd_of(element, RepHandle{bit % element.handle_count + 1});
        Place inner = place;
        inner.memory = array == nullptr ? nullptr : elements + offset;
        inner.present = i < present_count ? present_elements + offset : nullptr;
        inner.depth = place.depth + 1;
        inner.path.handles[inner.depth] = bit + 1;
        if (place.depth == 0) {
            span_.add(bit);
        }
        is_changed = read_value(leaf, inner) || is_changed;
    }
    return is_changed;
}

}  // namespace replayout
