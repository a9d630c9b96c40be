// SPDX-License-Identifier: MIT
#include "keyed_array_reader.h"

#include <replayout/keyed_array.h>
#include <replayout/shadow_state.h>

#include "property_reader.h"

#include <algorithm>
#include <limits>
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

/// The keys that a full set speaks of: behind `begin`, up to and with `end`; none: without bound.
struct KeyRange {
    std::optional<std::uint64_t> begin;
    std::optional<std::uint64_t> end;

    [[nodiscard]] bool contains(std::uint64_t key) const noexcept {
        return (!begin || key > *begin) && (!end || key <= *end);
    }
    [[nodiscard]] bool is_whole() const noexcept { return !begin && !end; }
};

/// Of a full set in parts any may have been lost, and the elements that it would have taken away
/// are still there. So a receiver of one may have more than the array's limit, but not without one.
constexpr std::size_t full_set_parts_factor = 4;

[[nodiscard]] std::int32_t from_zigzag(std::uint32_t value) noexcept {
    return static_cast<std::int32_t>((value >> 1) ^ ((value & 1) != 0 ? 0xFFFF'FFFFu : 0u));
}

/// Both ends begin with the archetype, and give its elements the same ranks.
[[nodiscard]] std::int64_t archetype_rank(const RepLayout& layout, const RepLayoutCmd& cmd,
                                          std::uint64_t key, std::int64_t otherwise) noexcept {
    const auto& array = shadow_value<ShadowKeyedArray>(std::as_const(layout.archetype()).buffer() +
                                                       cmd.shadow_offset);
    const std::uint32_t found = array.find(key);
    return found < array.count() ? array.items[found].rank : otherwise;
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
        if (!find_places()) {
            return false;
        }
        is_full_set_ = reader_.read_bool();
        if (is_full_set_) {
            read_key_range();
        }
        read_removed_keys();
        const std::uint64_t count = reader_.read_packed_uint();
        if (count > count_max()) {
            reader_.fail();
        }
        KeyDecoder keys(reader_, key());
        for (std::uint64_t i = 0; i < count && !reader_.failed(); ++i) {
            const std::uint64_t element_key = keys.read();
            if (is_full_set_ && !full_range_.contains(element_key)) {
                reader_.fail();
            }
            if (!reader_.failed() && take_removed_before(element_key)) {
                read_element(element_key);
            }
        }
        if (!reader_.failed()) {
            (void)take_removed_before(std::nullopt);
        }
        // Only then: what is applied was checked, though a hook may have changed the array since.
        if (properties_.is_checking() && added_ > 0 &&
            present_count() + added_ - removed_ - going_count() > count_max_after()) {
            reader_.fail();
        }
        return is_changed_;
    }

  private:
    using ElementChange = ReceiveScratch::ElementChange;

    [[nodiscard]] const ArrayOps& ops() const noexcept { return cmd_.property->array; }
    [[nodiscard]] const ArrayKey& key() const noexcept { return cmd_.property->array_key; }
    [[nodiscard]] std::uint32_t count_max() const noexcept {
        return properties_.layout_.limits().array_count_max;
    }
    [[nodiscard]] std::size_t present_count() const noexcept { return scratch_.places_.size(); }
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
    [[nodiscard]] std::size_t going_count() const noexcept {
        if (!is_going_on_) {
            return 0;
        }
        return static_cast<std::size_t>(
            std::count_if(scratch_.places_.begin(), scratch_.places_.end(),
                          [&](const auto& place) { return is_going(place.key); }));
    }

    /// Where the elements are that the object has. False: the budget is spent.
    [[nodiscard]] bool find_places() {
        scratch_.places_.clear();
        const std::byte* present = array_;
        if (array_ == nullptr && place_.present != nullptr && !PropertyReader::is_skipped(cmd_)) {
            present = place_.present + cmd_.object_offset.value;
        }
        if (present == nullptr) {
            return true;
        }
        const std::size_t count = ops().count(present);
        if (!reader_.spend_steps(count)) {
            return false;
        }
        elements_ = static_cast<const std::byte*>(ops().data(present));
        for (std::size_t i = 0; i < count; ++i) {
            scratch_.places_.push_back({key_of_element(key(), elements_ + i * cmd_.element_size),
                                        static_cast<std::uint32_t>(i)});
        }
        // By index where the game has given two elements one key: the first is it.
        std::sort(scratch_.places_.begin(), scratch_.places_.end(),
                  [](const auto& left, const auto& right) {
                      return std::pair(left.key, left.index) < std::pair(right.key, right.index);
                  });
        return true;
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
        scratch_.removed_keys_.clear();
        const std::uint64_t count = is_full_set_ ? 0 : reader_.read_packed_uint();
        KeyDecoder keys(reader_, key());
        for (std::uint64_t i = 0; i < count && !reader_.failed(); ++i) {
            scratch_.removed_keys_.push_back(keys.read());
        }
    }

    /// Goes on to the elements of `key`, or to the end, through those that are present and those
    /// that are to go. False, and failed: an element is both removed and there.
    [[nodiscard]] bool take_removed_before(std::optional<std::uint64_t> key) {
        const auto& places = scratch_.places_;
        for (; next_place_ < places.size() && (!key || places[next_place_].key < *key);
             ++next_place_) {
            const std::uint64_t present = places[next_place_].key;
            while (next_removed_ < scratch_.removed_keys_.size() &&
                   scratch_.removed_keys_[next_removed_] < present) {
                ++next_removed_;
            }
            const bool is_removed = (is_full_set_ && full_range_.contains(present)) ||
                                    (next_removed_ < scratch_.removed_keys_.size() &&
                                     scratch_.removed_keys_[next_removed_] == present);
            if (is_removed && !is_going(present)) {
                ++removed_;
                note(ElementChange::Removed, present);
                // One row of deletions at a time, or a peer could let the array grow without end.
                properties_.must_end_update_ = properties_.must_end_update_ || is_going_on_;
            }
        }
        if (key && std::binary_search(scratch_.removed_keys_.begin(), scratch_.removed_keys_.end(),
                                      *key)) {
            reader_.fail();
            return false;
        }
        return true;
    }

    void read_element(std::uint64_t element_key) {
        const auto& places = scratch_.places_;
        const bool is_there = next_place_ < places.size() && places[next_place_].key == element_key;
        const bool is_present = is_there && !is_going(element_key);
        if (is_there && !is_present) {
            // It is another one with the same key, so the one before must go first.
            properties_.must_end_update_ = true;
        }
        const std::uint32_t index = is_present
                                        ? places[next_place_].index
                                        : static_cast<std::uint32_t>(present_count() + added_);
        const bool is_skipping = properties_.is_skipping_;
        next_place_ += is_there ? 1 : 0;
        if (!is_present) {
            ++added_;
            if (array_ == nullptr && !is_skipping && !reader_.spend_allocation(cmd_.element_size)) {
                return;
            }
        }
        bool is_changed = read_rank(element_key);
        ChangeMask& leaves = scratch_.elements_[0];
        read_change_mask(reader_, leaves, element_.handle_count, EmptySet::Possible);
        if (reader_.failed()) {
            return;
        }
        PropertyReader::Place inner = place_;
        inner.depth = 1;
        if (array_ == nullptr) {
            inner.memory = nullptr;
            inner.present =
                is_present ? elements_ + std::size_t{index} * cmd_.element_size : nullptr;
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
        if (!is_present) {
            note(ElementChange::Added, element_key);
        } else if (is_changed) {
            note(ElementChange::Changed, element_key);
        }
    }

    /// Returns whether it is another than before.
    bool read_rank(std::uint64_t element_key) {
        if (key().order != ArrayOrder::Kept || !reader_.read_bool()) {
            return false;
        }
        const std::int32_t rank = from_zigzag(reader_.read_packed_uint32());
        if (array_ == nullptr || reader_.failed()) {
            return false;
        }
        return std::exchange(known(element_key).rank, rank) != rank;
    }

    /// An element that is not known yet is of the archetype, or new; then its rank comes with it.
    [[nodiscard]] KeyedElements::Element& known(std::uint64_t element_key) {
        KeyedElements& elements =
            properties_.state_->keyed_elements(RepHandle{cmd_.relative_handle});
        return elements.at(element_key, archetype_rank(properties_.layout_, cmd_, element_key, 0));
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
        is_changed_ = true;
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
    bool is_going_on_;  ///< earlier parts of the update changed this array
    const std::byte* elements_ = nullptr;
    std::size_t next_place_ = 0;
    std::size_t next_removed_ = 0;
    std::size_t added_ = 0;
    std::size_t removed_ = 0;
    bool is_full_set_ = false;
    KeyRange full_range_;  ///< of a full set
    bool is_changed_ = false;
};

bool PropertyReader::read_keyed_array(CmdIndex index, const Place& place, std::byte* array) {
    return KeyedArrayReader(*this, index, place, array).read();
}

/// One keyed array, whose values are written.
class KeyedArrayFinisher {
  public:
    KeyedArrayFinisher(const RepLayout& layout, CmdIndex index, std::byte* object,
                       ReceivingRepState& state, ReceiveContext& context)
        : layout_(layout),
          cmd_(layout.cmd(index)),
          element_(layout.element_scope(index)),
          array_(object + cmd_.object_offset.value),
          state_(state),
          context_(context),
          scratch_(context.scratch) {}

    enum class Which : std::uint8_t { All, InGroups };

    static void finish_arrays(const RepLayout& layout, std::byte* object, ReceivingRepState& state,
                              ReceiveContext& context, Which which) {
        auto& changes = context.scratch.keyed_changes_;
        context.scratch.sort_keyed_changes();
        std::size_t begin = 0;
        std::size_t kept = 0;
        while (begin < changes.size()) {
            std::size_t end = begin;
            while (end < changes.size() && changes[end].array == changes[begin].array) {
                ++end;
            }
            KeyedArrayFinisher array(layout, changes[begin].array, object, state, context);
            if (which == Which::All || array.is_in_group()) {
                array.finish(begin, end);
            } else {
                std::copy(changes.begin() + static_cast<std::ptrdiff_t>(begin),
                          changes.begin() + static_cast<std::ptrdiff_t>(end),
                          changes.begin() + static_cast<std::ptrdiff_t>(kept));
                kept += end - begin;
            }
            begin = end;
        }
        changes.resize(kept);
        context.scratch.earlier_change_count_ = kept;
    }

  private:
    using ElementChange = ReceiveScratch::ElementChange;

    [[nodiscard]] bool is_in_group() const noexcept {
        return layout_.find_group(layout_.root(), RepHandle{cmd_.relative_handle}) != nullptr;
    }

    /// `begin` to `end` are its changes, of which there is at least one.
    void finish(std::size_t begin, std::size_t end) {
        begin_ = begin;
        end_ = end;
        const FastArrayOps& fast = cmd_.property->array_key.fast;
        tell(ElementChange::Removed, fast.pre_replicated_remove);
        tell(ElementChange::Added, fast.post_replicated_add);
        tell(ElementChange::Changed, fast.post_replicated_change);
        remove();
        if (cmd_.property->array_key.order == ArrayOrder::Kept) {
            sort();
        }
        if (fast.post_replicated_receive != nullptr) {
            fast.post_replicated_receive(array_);
        }
    }

    [[nodiscard]] const ArrayOps& ops() const noexcept { return cmd_.property->array; }
    [[nodiscard]] std::uint64_t key_at(std::size_t index) const noexcept {
        const auto* elements = static_cast<const std::byte*>(ops().data(array_));
        return key_of_element(cmd_.property->array_key, elements + index * cmd_.element_size);
    }

    /// Fills element_indices_ with where the elements are that the change happened to.
    void collect(ElementChange change) {
        scratch_.element_indices_.clear();
        const std::size_t count = ops().count(array_);
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t key = key_at(i);
            const auto begin = scratch_.keyed_changes_.begin();
            const auto found = std::lower_bound(
                begin + static_cast<std::ptrdiff_t>(begin_),
                begin + static_cast<std::ptrdiff_t>(end_), key,
                [](const auto& entry, std::uint64_t wanted) { return entry.key < wanted; });
            if (found != begin + static_cast<std::ptrdiff_t>(end_) && found->key == key &&
                found->change == change) {
                scratch_.element_indices_.push_back(static_cast<std::uint32_t>(i));
            }
        }
    }

    void tell(ElementChange change, void (*call)(void*, std::span<const std::uint32_t>)) {
        if (call == nullptr) {
            return;
        }
        collect(change);
        const auto& indices = scratch_.element_indices_;
        if (!indices.empty()) {
            call(array_, {indices.data(), indices.size()});
        }
    }

    /// The last element takes the place of one that goes, as in Unreal.
    void remove() {
        collect(ElementChange::Removed);
        KeyedElements& known = state_.keyed_elements(RepHandle{cmd_.relative_handle});
        std::size_t count = ops().count(array_);
        auto& indices = scratch_.element_indices_;
        for (auto index = indices.rbegin(); index != indices.rend(); ++index) {
            const std::uint64_t key = key_at(*index);
            if (const KeyedElements::Element* element = known.find(key)) {
                const std::uint32_t first = element->slot * element_.handle_count + 1;
                state_.forget_element(RepHandle{cmd_.relative_handle}, first,
                                      first + element_.handle_count, context_.dropped);
                known.erase(key);
            }
            --count;
            if (*index != count) {
                ops().swap_elements(array_, *index, count);
            }
        }
        if (!indices.empty()) {
            ops().resize(array_, count);
        }
    }

    /// By rank; elements that the sender never named stay behind, in the order they have.
    void sort() {
        const KeyedElements& known = state_.keyed_elements(RepHandle{cmd_.relative_handle});
        auto& ranks = scratch_.ranks_;
        ranks.clear();
        const std::size_t count = ops().count(array_);
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t key = key_at(i);
            const KeyedElements::Element* element = known.find(key);
            const std::int64_t rank =
                element != nullptr
                    ? element->rank
                    : archetype_rank(layout_, cmd_, key, std::numeric_limits<std::int64_t>::max());
            ranks.emplace_back(rank, static_cast<std::uint32_t>(i));
        }
        std::sort(ranks.begin(), ranks.end());
        // ranks[i].second is where the element of place i lies; each swap brings one to its place.
        for (std::uint32_t i = 0; i < count; ++i) {
            std::uint32_t from = ranks[i].second;
            while (from < i) {
                from = ranks[from].second;  // it was moved there meanwhile
            }
            if (from != i) {
                ops().swap_elements(array_, i, from);
                ranks[i].second = from;
            }
        }
    }

    const RepLayout& layout_;
    const RepLayoutCmd& cmd_;
    const RepScope& element_;
    std::byte* array_;
    ReceivingRepState& state_;
    ReceiveContext& context_;
    ReceiveScratch& scratch_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

void finish_keyed_arrays(const RepLayout& layout, std::byte* object, ReceivingRepState& state,
                         ReceiveContext& context) {
    KeyedArrayFinisher::finish_arrays(layout, object, state, context,
                                      KeyedArrayFinisher::Which::All);
}

void finish_grouped_arrays(const RepLayout& layout, std::byte* object, ReceivingRepState& state,
                           ReceiveContext& context) {
    KeyedArrayFinisher::finish_arrays(layout, object, state, context,
                                      KeyedArrayFinisher::Which::InGroups);
}

}  // namespace replayout
