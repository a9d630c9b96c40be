// SPDX-License-Identifier: MIT
#include "dynamic_array_reader.h"

#include "read_value.h"

namespace replayout {

bool DynamicArrayReader::check_count(std::size_t old_count, std::uint64_t count) {
    BitReader& reader = context_.reader();
    if (count > count_max_of(*cmd_.property, context_.layout().limits())) {
        reader.fail();
        return false;
    }
    const std::uint64_t added =
        count > old_count && !context_.is_skipping() ? count - old_count : 0;
    return reader.spend_allocation(added * cmd_.element_size);
}

bool DynamicArrayReader::resize(std::uint32_t count) {
    const std::size_t old_count = ops().count(array_);
    if (old_count == count) {
        return false;
    }
    if (count < old_count) {
        RepPath tail = position_.path;
        tail.handles[position_.depth + 1] = count * element_.handle_count + 1;
        context_.state().truncate(tail, position_.depth + 1, context_.receiving().dropped);
    }
    ops().resize(array_, count);
    return true;
}

inline void DynamicArrayReader::read_set(std::uint32_t count, ChangeMask& changed) {
    if (is_optional() && element_.handle_count == 1) {
        changed.reset(1);
        changed.set(0);
    } else {
        read_change_mask(context_.reader(), changed, count * element_.handle_count,
                         EmptySet::Possible);
    }
}

bool DynamicArrayReader::read() {
    const RepLayout& layout = context_.layout();
    BitReader& reader = context_.reader();
    const std::byte* present = position_.present == nullptr || is_skipped(cmd_)
                                   ? nullptr
                                   : position_.present + cmd_.object_offset.value;
    const std::size_t present_count = present == nullptr ? 0 : ops().count(present);
    const std::uint64_t count = is_optional() ? reader.read_bits(1) : reader.read_packed_uint();
    if (context_.is_checking() && !check_count(present_count, count)) {
        return false;
    }
    const auto element_count = static_cast<std::uint32_t>(count);
    if (position_.depth == 0) {
        context_.span().may_go_on = true;
        context_.span().array_count = count;
    }
    bool is_changed = array_ != nullptr && resize(element_count);
    if (element_count == 0) {
        return is_changed;
    }
    ChangeMask& changed = context_.parts().elements[position_.depth];
    read_set(element_count, changed);
    auto* elements =
        array_ == nullptr ? nullptr : static_cast<std::byte*>(ops().mutable_data(array_));
    const auto* present_elements =
        present_count == 0 ? nullptr : static_cast<const std::byte*>(ops().data(present));
    for (std::uint32_t bit = changed.next(0); bit < changed.bit_count() && !reader.failed();
         bit = changed.next(bit + 1)) {
        const std::uint32_t i = bit / element_.handle_count;
        const std::size_t offset = std::size_t{i} * cmd_.element_size;
        const CmdIndex leaf = layout.cmd_of(element_, RepHandle{bit % element_.handle_count + 1});
        ReadPosition inner = position_;
        inner.memory = array_ == nullptr ? nullptr : elements + offset;
        inner.present = i < present_count ? present_elements + offset : nullptr;
        inner.depth = position_.depth + 1;
        inner.path.handles[inner.depth] = bit + 1;
        if (position_.depth == 0) {
            context_.span().add(bit);
        }
        is_changed = read_value(context_, leaf, inner) || is_changed;
    }
    return is_changed;
}

}  // namespace replayout
