// SPDX-License-Identifier: MIT
#include "keyed_array_reader.h"

#include "keyed_array_finisher.h"
#include "keyed_array_steps.h"
#include "read_value.h"

#include <algorithm>
#include <span>
#include <utility>

namespace replayout {

namespace {

[[nodiscard]] std::int32_t from_zigzag(std::uint32_t value) noexcept {
    return static_cast<std::int32_t>((value >> 1) ^ ((value & 1) != 0 ? 0xFFFF'FFFFu : 0u));
}

}  // namespace

inline bool KeyedArrayReader::is_going(std::uint64_t element_key) const noexcept {
    const detail::KeyedChange* earlier =
        is_going_on_ ? changes().find_earlier(index_, element_key) : nullptr;
    return earlier != nullptr && earlier->change == ElementChange::Removed;
}

void KeyedArrayReader::read_restart() {
    if (!reader_.read_bool()) {
        return;
    }
    restart_version_ = reader_.read_packed_uint32();
    if (restart_version_ == 0) {
        reader_.fail();
        return;
    }
    // There is no state of what is passed over.
    const ReceivingRepState* state =
        array_ == nullptr ? context_.present_state() : &context_.state();
    const KeyedElements* known = state == nullptr ? nullptr : state->find_keyed_elements(handle());
    is_beginning_anew_ = known == nullptr || known->restart_version() != restart_version_;
}

void KeyedArrayReader::read_removed_keys() {
    parts_.named_keys.clear();
    const std::uint64_t count = is_full_set_ ? 0 : reader_.read_packed_uint();
    KeyDecoder keys(reader_, key());
    for (std::uint64_t i = 0; i < count && !reader_.failed(); ++i) {
        parts_.named_keys.push_back(keys.read());
    }
}

void KeyedArrayReader::find_present(std::size_t key_count) {
    const std::byte* array = array_;
    if (array == nullptr && position_.present != nullptr && !is_skipped(cmd_)) {
        array = position_.present + cmd_.object_offset.value;
    }
    present_.look_up(array, key_count, is_full_set_);
    if (array != nullptr && is_full_set_) {
        present_.drop_doubles(array_);
    }
}

inline void KeyedArrayReader::take_away(std::uint64_t element_key) {
    if (!is_going(element_key)) {
        ++removed_;
        note(ElementChange::Removed, element_key);
        // One set of deletions at a time, or a peer could let the array grow without end.
        context_.end_update_before(is_going_on_);
    }
}

void KeyedArrayReader::take_removed() {
    parts_.gone_keys.clear();
    for (const std::uint64_t gone : parts_.named_keys) {
        if (present_.find(gone) == PresentElements::no_index) {
            parts_.gone_keys.push_back(gone);
        } else {
            take_away(gone);
        }
    }
    forget_gone();
}

void KeyedArrayReader::take_unlisted_before(std::optional<std::uint64_t> element_key) {
    const std::span<const detail::ElementByKey> elements = present_.sorted();
    for (; next_ < elements.size() && (!element_key || elements[next_].key < *element_key);
         ++next_) {
        if (speaks_of(elements[next_].key)) {
            take_away(elements[next_].key);
        }
    }
    if (next_ < elements.size() && element_key && elements[next_].key == *element_key) {
        ++next_;
    }
}

inline bool KeyedArrayReader::take_named(std::uint64_t element_key) {
    auto& named = parts_.named_keys;
    if (is_full_set_ ? !full_range_.contains(element_key)
                     : std::binary_search(named.begin(), named.end(), element_key)) {
        reader_.fail();
        return false;
    }
    if (is_full_set_) {
        take_unlisted_before(element_key);
        named.push_back(element_key);
    }
    return true;
}

void KeyedArrayReader::forget_unlisted() {
    const KeyedElements* known =
        array_ == nullptr ? nullptr : context_.state().find_keyed_elements(handle());
    if (known == nullptr) {
        return;
    }
    const auto& listed = parts_.named_keys;
    parts_.gone_keys.clear();
    for (const KeyedElements::Element& element : known->elements()) {
        if (speaks_of(element.key) && present_.find(element.key) == PresentElements::no_index &&
            !std::binary_search(listed.begin(), listed.end(), element.key)) {
            parts_.gone_keys.push_back(element.key);
        }
    }
    forget_gone();
}

void KeyedArrayReader::forget_gone() {
    const auto& gone = parts_.gone_keys;
    if (array_ != nullptr && !gone.empty()) {
        context_.state().forget_keyed_elements(handle(), {gone.data(), gone.size()},
                                               element_.handle_count, context_.receiving().dropped);
    }
}

void KeyedArrayReader::check_end(std::size_t listed_count) {
    const std::size_t count = present_.count() + added_;
    const bool is_part = is_full_set_ && !full_range_.is_whole();
    const std::size_t count_max_after = count_max() * (is_part ? full_set_parts_factor : 1u);
    // With those among what is going that the game took away meanwhile, so an array may stay larger
    // by these: to tell them apart all its elements would be looked through. Counted only where it
    // matters, as that takes a look at all that earlier parts changed.
    const auto going = [&] {
        return is_going_on_ ? changes().count_earlier_removed(index_) : std::size_t{0};
    };
    if (added_ > 0 && count - removed_ > count_max_after &&
        count - removed_ > count_max_after + going()) {
        reader_.fail();
    }
    const std::size_t charged = present_.charged_count() + added_;
    reader_.spend_array_steps(change_steps(std::min(added_ + removed_, charged)));
    const bool is_rearranged = added_ > 0 || removed_ > 0 || has_ranks_;
    if (is_rearranged && key().order == ArrayOrder::Kept) {
        // All that a full set lists are in named_keys.
        const std::size_t named_count = is_full_set_ ? removed_ : parts_.named_keys.size();
        reader_.spend_array_steps(merge_steps(charged, listed_count + named_count) +
                                  move_steps(context_.layout(), element_, charged));
    } else if (is_rearranged || listed_count > 0) {
        reader_.spend_array_steps(tell_steps(charged));
    }
    context_.add_held_steps(
        held_steps(count, listed_count + removed_, key().order == ArrayOrder::Kept, is_going_on_));
}

inline KeyedElements::Element& KeyedArrayReader::known(std::uint64_t element_key) {
    const ShadowKeyedArray& archetype = archetype_array(context_.layout(), cmd_);
    const std::uint32_t found = archetype.find(element_key);
    const std::int64_t rank = found < archetype.count() ? archetype.items[found].rank : 0;
    return known().at(element_key, rank, parts_.made_elements);
}

inline bool KeyedArrayReader::read_rank(std::uint64_t element_key) {
    if (key().order != ArrayOrder::Kept || !reader_.read_bool()) {
        return false;
    }
    has_ranks_ = true;
    const std::int32_t rank = from_zigzag(reader_.read_packed_uint32());
    if (array_ == nullptr || reader_.failed()) {
        return false;
    }
    return std::exchange(known(element_key).rank, rank) != rank;
}

inline std::byte* KeyedArrayReader::prepare(std::uint32_t index, std::uint64_t element_key,
                                            bool is_present) {
    if (!is_present) {
        ops().resize(array_, std::size_t{index} + 1);
    }
    auto* element = static_cast<std::byte*>(ops().mutable_data(array_)) +
                    std::size_t{index} * cmd_.element_size;
    if (!is_present) {
        set_key_of_element(key(), element, element_key);
    }
    return element;
}

inline bool KeyedArrayReader::read_leaves(const ChangeMask& leaves, std::uint32_t first_handle,
                                          ReadPosition& position) {
    bool is_changed = false;
    for (std::uint32_t bit = leaves.next(0); bit < leaves.bit_count() && !reader_.failed();
         bit = leaves.next(bit + 1)) {
        position.path.handles[1] = first_handle + bit;
        const CmdIndex leaf = context_.layout().cmd_of(element_, RepHandle{bit + 1});
        is_changed = read_value(context_, leaf, position) || is_changed;
    }
    return is_changed;
}

inline void KeyedArrayReader::read_element(std::uint64_t element_key) {
    const std::size_t found = present_.find(element_key);
    const bool is_there = found != PresentElements::no_index;
    const bool is_present = is_there && !is_going(element_key);
    // If it is going, this is another element with the same key, so the one before must go first;
    // though the game took that away, it is still to go.
    context_.end_update_before(is_going(element_key));
    const auto index = static_cast<std::uint32_t>(is_present ? found : present_.count() + added_);
    if (!is_present) {
        ++added_;
        if (array_ == nullptr && !context_.is_skipping() &&
            !reader_.spend_allocation(cmd_.element_size)) {
            return;
        }
    }
    const bool is_moved = read_rank(element_key);
    ChangeMask& leaves = parts_.elements[0];
    read_change_mask(reader_, leaves, element_.handle_count, EmptySet::Possible);
    if (reader_.failed()) {
        return;
    }
    ReadPosition inner = position_;
    inner.depth = 1;
    if (array_ == nullptr) {
        inner.memory = nullptr;
        inner.present = is_present ? present_.at(index) : nullptr;
    } else {
        inner.memory = prepare(index, element_key, is_present);
    }
    const std::uint32_t first =
        array_ == nullptr ? 1 : known(element_key).slot * element_.handle_count + 1;
    const bool is_changed = read_leaves(leaves, first, inner);
    is_changed_ = is_changed_ || is_changed;
    if (!is_present) {
        note(ElementChange::Added, element_key);
    } else if (is_moved) {
        note(ElementChange::Moved, element_key);
    } else if (is_changed) {
        note(ElementChange::Changed, element_key);
    }
}

inline void KeyedArrayReader::read_elements(std::uint64_t count) {
    KeyDecoder keys(reader_, key());
    parts_.made_elements.clear();
    for (std::uint64_t i = 0; i < count && !reader_.failed(); ++i) {
        const std::uint64_t element_key = keys.read();
        context_.span().add(element_key);
        if (!reader_.failed() && take_named(element_key)) {
            read_element(element_key);
        }
    }
    if (!parts_.made_elements.empty()) {
        known().merge(parts_.made_elements);
    }
}

bool KeyedArrayReader::read() {
    if (!context_.begin_keyed_array(handle())) {
        return false;
    }
    is_full_set_ = reader_.read_bool();
    if (is_full_set_) {
        read_restart();
        KeyDecoder keys(reader_, key());
        if (reader_.read_bool()) {
            full_range_.begin = keys.read();
        }
        if (reader_.read_bool()) {
            full_range_.end = keys.read();
        }
    }
    read_removed_keys();
    context_.span().may_go_on =
        is_full_set_ ? full_range_.begin.has_value() : parts_.named_keys.empty();
    const std::uint64_t count = reader_.read_packed_uint();
    if (count > count_max()) {
        reader_.fail();
    }
    if (reader_.failed()) {
        return false;
    }
    find_present(parts_.named_keys.size() + static_cast<std::size_t>(count));
    take_removed();
    read_elements(count);
    if (!reader_.failed() && is_full_set_) {
        take_unlisted_before(std::nullopt);
        forget_unlisted();
        if (array_ != nullptr && is_beginning_anew_) {
            known().set_restart_version(restart_version_);
        }
    }
    if (context_.is_checking() && !reader_.failed()) {
        check_end(static_cast<std::size_t>(count));
    }
    return is_changed_;
}

}  // namespace replayout
