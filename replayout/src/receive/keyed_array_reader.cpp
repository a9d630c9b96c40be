// SPDX-License-Identifier: MIT
#include "keyed_array_reader.h"

#include <replayout/keyed_array.h>
#include <replayout/shadow_state.h>

#include "keyed_array_steps.h"
#include "notify_queue.h"
#include "property_reader.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

namespace replayout {

namespace {

[[nodiscard]] std::uint64_t greatest_key(const ArrayKey& key) noexcept {
    return key.size == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (key.size * 8)) - 1;
}

/// Ascending keys, see KeyWriter. What does not ascend, or exceeds the key's width, fails.
class KeyDecoder {
  public:
    KeyDecoder(BitReader& reader, const ArrayKey& key) noexcept
        : reader_(reader), greatest_(greatest_key(key)) {}

    [[nodiscard]] std::uint64_t read() noexcept {
        const std::uint64_t value = reader_.read_packed_uint();
        const std::uint64_t room = is_first_ ? greatest_ : greatest_ - last_;
        // The gap is one less than the distance, so it must stay below what is left.
        if (!reader_.spend_steps(1) || value > room || (!is_first_ && value == room)) {
            reader_.fail();
            return 0;
        }
        last_ = is_first_ ? value : last_ + value + 1;
        is_first_ = false;
        return last_;
    }

  private:
    BitReader& reader_;
    std::uint64_t greatest_;
    std::uint64_t last_ = 0;
    bool is_first_ = true;
};

[[nodiscard]] std::int32_t from_zigzag(std::uint32_t value) noexcept {
    return static_cast<std::int32_t>((value >> 1) ^ ((value & 1) != 0 ? 0xFFFF'FFFFu : 0u));
}

}  // namespace

/// One keyed array of a block, checked or applied.
class KeyedArrayReader {
  public:
    /// `array` null: to check, or to pass over.
    KeyedArrayReader(PropertyReader& properties, CmdIndex index, const PropertyReader::Place& place,
                     std::byte* array)
        : properties_(properties),
          reader_(properties.reader_),
          scratch_(properties.context_.scratch),
          index_(index),
          cmd_(properties.layout_.cmd(index)),
          element_(properties.layout_.element_scope(index)),
          place_(place),
          array_(array),
          is_going_on_(!properties.is_skipping_ && scratch_.has_earlier_change(index)) {}

    /// Returns whether anything changed.
    bool read() {
        if (!properties_.begin_keyed_array(RepHandle{cmd_.relative_handle})) {
            return false;
        }
        is_full_set_ = reader_.read_bool();
        if (is_full_set_) {
            read_restart();
            read_key_range();
        }
        read_removed_keys();
        properties_.span_.may_go_on =
            is_full_set_ ? full_range_.begin.has_value() : scratch_.named_keys_.empty();
        const std::uint64_t count = reader_.read_packed_uint();
        if (count > count_max()) {
            reader_.fail();
        }
        if (reader_.failed()) {
            return false;
        }
        find_places(scratch_.named_keys_.size() + static_cast<std::size_t>(count));
        take_removed();
        KeyDecoder keys(reader_, key());
        scratch_.made_elements_.clear();
        for (std::uint64_t i = 0; i < count && !reader_.failed(); ++i) {
            const std::uint64_t element_key = keys.read();
            properties_.span_.add(element_key);
            if (!reader_.failed() && take_named(element_key)) {
                read_element(element_key);
            }
        }
        if (!scratch_.made_elements_.empty()) {
            known().merge(scratch_.made_elements_);
        }
        if (!reader_.failed() && is_full_set_) {
            take_unlisted_before(std::nullopt);
            forget_unlisted();
            keep_restart();
        }
        if (properties_.is_checking() && !reader_.failed()) {
            check_end(static_cast<std::size_t>(count));
        }
        return is_changed_;
    }

  private:
    /// The keys that a full set speaks of: behind `begin`, up to and with `end`; none: without
    /// bound.
    struct KeyRange {
        std::optional<std::uint64_t> begin;
        std::optional<std::uint64_t> end;

        [[nodiscard]] bool contains(std::uint64_t key) const noexcept {
            return (!begin || key > *begin) && (!end || key <= *end);
        }
        [[nodiscard]] bool is_whole() const noexcept { return !begin && !end; }
    };

    using ElementChange = ReceiveScratch::ElementChange;

    [[nodiscard]] const ArrayOps& ops() const noexcept { return cmd_.property->array; }
    [[nodiscard]] const ArrayKey& key() const noexcept { return cmd_.property->array_key; }
    [[nodiscard]] std::uint32_t count_max() const noexcept {
        return properties_.layout_.limits().array_count_max;
    }
    /// Elements that there may be when the block is applied.
    [[nodiscard]] std::size_t count_max_after() const noexcept {
        const bool is_part = is_full_set_ && !full_range_.is_whole();
        return is_part ? count_max() * full_set_parts_factor : count_max();
    }

    /// An earlier part of the update took it away; it goes when the update ends.
    [[nodiscard]] bool is_going(std::uint64_t element_key) const noexcept {
        const ReceiveScratch::KeyedChange* earlier =
            is_going_on_ ? scratch_.find_earlier_change(index_, element_key) : nullptr;
        return earlier != nullptr && earlier->change == ElementChange::Removed;
    }
    /// With those among them that the game took away meanwhile, so an array may stay larger by
    /// these: to tell them apart all its elements would be looked through.
    [[nodiscard]] std::size_t going_count() const noexcept {
        if (!is_going_on_) {
            return 0;
        }
        const auto end = scratch_.keyed_changes_.begin() +
                         static_cast<std::ptrdiff_t>(scratch_.earlier_change_count_);
        auto entry = std::lower_bound(
            scratch_.keyed_changes_.begin(), end, index_,
            [](const auto& change, CmdIndex wanted) { return change.array < wanted; });
        std::size_t count = 0;
        for (; entry != end && entry->array == index_; ++entry) {
            count += entry->change == ElementChange::Removed ? 1u : 0u;
        }
        return count;
    }

    /// Makes ready to find `key_count` of the elements that the object has.
    void find_places(std::size_t key_count) {
        if (array_ != nullptr) {
            present_ = array_;
        } else if (place_.present != nullptr && !PropertyReader::is_skipped(cmd_)) {
            present_ = place_.present + cmd_.object_offset.value;
        }
        if (present_ == nullptr) {
            scratch_.places_.clear();
            return;
        }
        present_count_ = ops().count(present_);
        // Of an update that goes on, too: a sender does not know whether its receiver still has
        // one, so that must cost no more than what it counted on.
        is_sorted_ = is_full_set_ || is_worth_sorting(present_count_, key_count);
        const std::size_t known_count = properties_.is_checking() ? count_known() : 0;
        const std::size_t forgettable_count = is_full_set_ ? known_count : 0;
        charged_count_ = std::min(present_count_, known_count + archetype_count());
        reader_.spend_array_steps(1 + (is_sorted_ ? sort_steps(charged_count_ + forgettable_count)
                                                  : search_steps(charged_count_, key_count)));
        if (is_sorted_) {
            scratch_.collect_places(cmd_, present_);
        }
        if (is_full_set_) {
            drop_doubles();
        }
    }

    /// That the sender has named, and a full set can make forget.
    [[nodiscard]] std::size_t count_known() const noexcept {
        const KeyedElements* known =
            properties_.present_state_->find_keyed_elements(RepHandle{cmd_.relative_handle});
        return known == nullptr ? 0 : known->elements().size();
    }
    [[nodiscard]] std::size_t archetype_count() const noexcept {
        const RepLayout& layout = properties_.layout_;
        return shadow_value<ShadowKeyedArray>(std::as_const(layout.archetype()).buffer() +
                                              cmd_.shadow_offset)
            .count();
    }

    /// A full set says what there is: where the game has given two elements one key, the first
    /// stays.
    void drop_doubles() {
        auto& places = scratch_.places_;
        const auto is_double = [](const auto& left, const auto& right) {
            return left.key == right.key;
        };
        if (std::adjacent_find(places.begin(), places.end(), is_double) == places.end()) {
            return;
        }
        if (array_ == nullptr) {
            places.erase(std::unique(places.begin(), places.end(), is_double), places.end());
            present_count_ = places.size();
            return;
        }
        auto& doubles = scratch_.element_indices_;
        doubles.clear();
        for (std::size_t i = 1; i < places.size(); ++i) {
            if (is_double(places[i - 1], places[i])) {
                doubles.push_back(places[i].index);
                note(ElementChange::Moved, places[i].key);  // what stays may get another place
            }
        }
        // The last element takes the place of one that goes; from behind, none of those is to go.
        std::sort(doubles.begin(), doubles.end(), std::greater<>());
        for (const std::uint32_t index : doubles) {
            --present_count_;
            if (index != present_count_) {
                ops().swap_elements(array_, index, present_count_);
            }
        }
        ops().resize(array_, present_count_);
        scratch_.collect_places(cmd_, array_);
    }

    static constexpr std::size_t no_place = ~std::size_t{0};

    /// The place of an element that was there before the block; no_place: it was not.
    [[nodiscard]] std::size_t find_place(std::uint64_t element_key) const noexcept {
        if (is_sorted_) {
            const auto& places = scratch_.places_;
            const auto found = std::lower_bound(
                places.begin(), places.end(), element_key,
                [](const auto& place, std::uint64_t wanted) { return place.key < wanted; });
            return found == places.end() || found->key != element_key ? no_place : found->index;
        }
        for (std::size_t i = 0; i < present_count_; ++i) {
            if (key_of_element(key(), element_at(i)) == element_key) {
                return i;
            }
        }
        return no_place;
    }
    [[nodiscard]] const std::byte* element_at(std::size_t index) const noexcept {
        return static_cast<const std::byte*>(ops().data(present_)) + index * cmd_.element_size;
    }

    /// All that there is goes with the first full set that says so.
    void read_restart() {
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
            array_ == nullptr ? properties_.present_state_ : properties_.state_;
        const KeyedElements* known =
            state == nullptr ? nullptr
                             : state->find_keyed_elements(RepHandle{cmd_.relative_handle});
        is_beginning_anew_ = known == nullptr || known->restart_version() != restart_version_;
    }
    void keep_restart() {
        if (array_ != nullptr && is_beginning_anew_) {
            known().set_restart_version(restart_version_);
        }
    }
    /// What is not listed goes, if it has such a key.
    [[nodiscard]] bool speaks_of(std::uint64_t element_key) const noexcept {
        return is_beginning_anew_ || full_range_.contains(element_key);
    }

    void read_key_range() {
        KeyDecoder keys(reader_, key());
        if (reader_.read_bool()) {
            full_range_.begin = keys.read();
        }
        if (reader_.read_bool()) {
            full_range_.end = keys.read();
        }
    }

    void read_removed_keys() {
        scratch_.named_keys_.clear();
        const std::uint64_t count = is_full_set_ ? 0 : reader_.read_packed_uint();
        KeyDecoder keys(reader_, key());
        for (std::uint64_t i = 0; i < count && !reader_.failed(); ++i) {
            scratch_.named_keys_.push_back(keys.read());
        }
    }

    void take_removed() {
        scratch_.gone_keys_.clear();
        for (const std::uint64_t gone : scratch_.named_keys_) {
            if (find_place(gone) == no_place) {
                scratch_.gone_keys_.push_back(gone);
            } else {
                take_away(gone);
            }
        }
        forget_gone();
    }

    /// The block goes on to the element of that key. False, and failed: it cannot be here.
    [[nodiscard]] bool take_named(std::uint64_t element_key) {
        auto& named = scratch_.named_keys_;
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

    /// Goes on through what is present to the elements of `element_key`, or to the end.
    void take_unlisted_before(std::optional<std::uint64_t> element_key) {
        const auto& places = scratch_.places_;
        for (; next_place_ < places.size() &&
               (!element_key || places[next_place_].key < *element_key);
             ++next_place_) {
            if (speaks_of(places[next_place_].key)) {
                take_away(places[next_place_].key);
            }
        }
        if (next_place_ < places.size() && element_key && places[next_place_].key == *element_key) {
            ++next_place_;
        }
    }

    /// What the game took away, and a full set does not list.
    void forget_unlisted() {
        const KeyedElements* known =
            array_ == nullptr
                ? nullptr
                : properties_.state_->find_keyed_elements(RepHandle{cmd_.relative_handle});
        if (known == nullptr) {
            return;
        }
        const auto& listed = scratch_.named_keys_;
        scratch_.gone_keys_.clear();
        for (const KeyedElements::Element& element : known->elements()) {
            if (speaks_of(element.key) && find_place(element.key) == no_place &&
                !std::binary_search(listed.begin(), listed.end(), element.key)) {
                scratch_.gone_keys_.push_back(element.key);
            }
        }
        forget_gone();
    }

    /// It goes when the update ends.
    void take_away(std::uint64_t element_key) {
        if (!is_going(element_key)) {
            ++removed_;
            note(ElementChange::Removed, element_key);
            // One row of deletions at a time, or a peer could let the array grow without end.
            properties_.must_end_update_ = properties_.must_end_update_ || is_going_on_;
        }
    }

    /// What is known of gone_keys_.
    void forget_gone() {
        const auto& gone = scratch_.gone_keys_;
        if (array_ != nullptr && !gone.empty()) {
            properties_.state_->forget_keyed_elements(
                RepHandle{cmd_.relative_handle}, {gone.data(), gone.size()}, element_.handle_count,
                properties_.context_.dropped);
        }
    }

    /// Only when checking: what is applied was checked, though a hook may have changed the array
    /// since.
    void check_end(std::size_t listed_count) {
        const std::size_t count = present_count_ + added_;
        if (added_ > 0 && count - removed_ > count_max_after() &&
            count - removed_ > count_max_after() + going_count()) {
            reader_.fail();
        }
        const std::size_t charged = charged_count_ + added_;
        reader_.spend_array_steps(change_steps(std::min(added_ + removed_, charged)));
        const bool is_rearranged = added_ > 0 || removed_ > 0 || has_ranks_;
        if (is_rearranged && key().order == ArrayOrder::Kept) {
            // Of a full set all that are listed are in named_keys_.
            const std::size_t named_count = is_full_set_ ? removed_ : scratch_.named_keys_.size();
            reader_.spend_array_steps(merge_steps(charged, listed_count + named_count) +
                                      move_steps(properties_.layout_, element_, charged));
        } else if (is_rearranged || listed_count > 0) {
            reader_.spend_array_steps(tell_steps(charged));
        }
        properties_.held_steps_ += held_steps(count, listed_count + removed_,
                                              key().order == ArrayOrder::Kept, is_going_on_);
    }

    void read_element(std::uint64_t element_key) {
        const std::size_t place = find_place(element_key);
        const bool is_there = place != no_place;
        const bool is_present = is_there && !is_going(element_key);
        if (is_going(element_key)) {
            // It is another one with the same key, so the one before must go first; though the game
            // took that away, it is still to go.
            properties_.must_end_update_ = true;
        }
        const auto index = static_cast<std::uint32_t>(is_present ? place : present_count_ + added_);
        const bool is_skipping = properties_.is_skipping_;
        if (!is_present) {
            ++added_;
            if (array_ == nullptr && !is_skipping && !reader_.spend_allocation(cmd_.element_size)) {
                return;
            }
        }
        const bool is_moved = read_rank(element_key);
        bool is_changed = false;
        ChangeMask& leaves = scratch_.elements_[0];
        read_change_mask(reader_, leaves, element_.handle_count, EmptySet::Possible);
        if (reader_.failed()) {
            return;
        }
        PropertyReader::Place inner = place_;
        inner.depth = 1;
        if (array_ == nullptr) {
            inner.memory = nullptr;
            inner.present = is_present ? element_at(index) : nullptr;
        } else {
            inner.memory = prepare(index, element_key, is_present);
        }
        const std::uint32_t first = array_ == nullptr ? 1 : first_handle(element_key);
        for (std::uint32_t bit = leaves.next(0); bit < leaves.bit_count() && !reader_.failed();
             bit = leaves.next(bit + 1)) {
            inner.path.handles[1] = first + bit;
            const CmdIndex leaf = properties_.layout_.cmd_of(element_, RepHandle{bit + 1});
            is_changed = properties_.read_value(leaf, inner) || is_changed;
        }
        is_changed_ = is_changed_ || is_changed;
        if (!is_present) {
            note(ElementChange::Added, element_key);
        } else if (is_moved) {
            note(ElementChange::Moved, element_key);
        } else if (is_changed) {
            note(ElementChange::Changed, element_key);
        }
    }

    /// Returns whether it is another than before.
    bool read_rank(std::uint64_t element_key) {
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

    /// An element that is not known yet is of the archetype, or new; then its rank comes with it.
    [[nodiscard]] KeyedElements::Element& known(std::uint64_t element_key) {
        return known().at(element_key, archetype_rank(properties_.layout_, cmd_, element_key, 0),
                          scratch_.made_elements_);
    }
    [[nodiscard]] KeyedElements& known() {
        return properties_.state_->keyed_elements(RepHandle{cmd_.relative_handle});
    }

    /// The memory of the element, which is made if it is not there.
    [[nodiscard]] std::byte* prepare(std::uint32_t index, std::uint64_t element_key,
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

    [[nodiscard]] std::uint32_t first_handle(std::uint64_t element_key) {
        return known(element_key).slot * element_.handle_count + 1;
    }

    void note(ElementChange change, std::uint64_t element_key) {
        // Another rank need not be another place: whether anything moved, the end tells.
        is_changed_ = is_changed_ || change != ElementChange::Moved;
        if (array_ != nullptr) {
            scratch_.keyed_changes_.push_back({index_, change, element_key});
        }
    }

    PropertyReader& properties_;
    BitReader& reader_;
    ReceiveScratch& scratch_;
    CmdIndex index_;
    const RepLayoutCmd& cmd_;
    const RepScope& element_;
    const PropertyReader::Place& place_;
    std::byte* array_;
    bool is_going_on_;                    ///< earlier parts of the update changed this array
    const std::byte* present_ = nullptr;  ///< the array; null: there is none yet
    std::size_t present_count_ = 0;       ///< its elements before the block
    std::size_t charged_count_ = 0;       ///< of them: not what only the game knows of
    bool is_sorted_ = false;              ///< they are in places_
    std::size_t next_place_ = 0;          ///< of a full set
    std::size_t added_ = 0;
    std::size_t removed_ = 0;
    bool is_full_set_ = false;
    bool has_ranks_ = false;
    Version restart_version_ = 0;     ///< of a full set; 0: it does not say
    bool is_beginning_anew_ = false;  ///< it is the first with that version
    KeyRange full_range_;             ///< of a full set
    bool is_changed_ = false;
};

bool PropertyReader::read_keyed_array(CmdIndex index, const Place& place, std::byte* array) {
    return KeyedArrayReader(*this, index, place, array).read();
}

}  // namespace replayout
