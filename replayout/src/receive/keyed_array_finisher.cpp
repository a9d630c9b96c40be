// SPDX-License-Identifier: MIT
#include "keyed_array_finisher.h"

#include "native_value.h"

#include <algorithm>
#include <limits>

namespace replayout {

namespace {

/// One keyed array, whose values are written.
class KeyedArrayFinisher {
  public:
    KeyedArrayFinisher(const RepLayout& layout, CmdIndex index, std::byte* object,
                       ReceivingRepState& state, ReceiveContext& context)
        : layout_(layout),
          index_(index),
          cmd_(layout.cmd(index)),
          array_(object + cmd_.object_offset.value),
          state_(state),
          context_(context),
          parts_(parts_of(context.scratch)) {}

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
        if (has(ElementChange::Removed)) {
            remove();
        }
        const bool is_rearranged =
            has(ElementChange::Removed) || has(ElementChange::Added) || has(ElementChange::Moved);
        if (is_rearranged && cmd_.property->array_key.order == ArrayOrder::Kept && sort()) {
            parts_.update.old_values().mark_changed(layout_, cmd_.parent_index);
        }
        if (fast.post_replicated_receive != nullptr) {
            fast.post_replicated_receive(array_);
        }
    }

  private:
    using ElementChange = detail::ElementChange;
    using KeyedChange = detail::KeyedChange;

    [[nodiscard]] const ArrayOps& ops() const noexcept { return cmd_.property->array; }
    [[nodiscard]] std::uint64_t key_at(std::size_t index) const noexcept {
        const auto* elements = static_cast<const std::byte*>(ops().data(array_));
        return key_of_element(cmd_.property->array_key, elements + index * cmd_.element_size);
    }

    /// The changes of this array.
    [[nodiscard]] std::span<const KeyedChange> changes() const noexcept {
        return parts_.update.keyed_changes().changes().subspan(begin_, end_ - begin_);
    }

    [[nodiscard]] bool has(ElementChange change) const noexcept {
        const std::span<const KeyedChange> all = changes();
        return std::any_of(all.begin(), all.end(),
                           [change](const auto& entry) { return entry.change == change; });
    }

    /// Fills element_indices with where the elements are that the change happened to.
    void collect(ElementChange change) {
        parts_.element_indices.clear();
        const KeyedChange* const begin = changes().data();
        const KeyedChange* const end = begin + changes().size();
        const KeyedChange* guess = begin;  // elements mostly lie by their key
        const std::size_t count = ops().count(array_);
        const auto* elements = static_cast<const std::byte*>(ops().data(array_));
        const ArrayKey& array_key = cmd_.property->array_key;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t key = load_integer(
                elements + i * std::size_t{cmd_.element_size} + array_key.offset, array_key.size);
            const auto* found =
                guess != end && guess->key == key ? guess : find_change(begin, end, key);
            if (found == nullptr) {
                continue;
            }
            guess = found + 1;
            if (is_told_as(found->change, change)) {
                parts_.element_indices.push_back(static_cast<std::uint32_t>(i));
            }
        }
    }

    /// What happened to the element of that key; null: nothing. Without a branch on what is found,
    /// as nobody can guess that.
    [[nodiscard]] static const KeyedChange* find_change(const KeyedChange* begin,
                                                        const KeyedChange* end,
                                                        std::uint64_t key) noexcept {
        auto count = static_cast<std::size_t>(end - begin);
        while (count > 1) {
            const std::size_t half = count / 2;
            begin = begin[half].key <= key ? begin + half : begin;
            count -= half;
        }
        return begin->key == key ? begin : nullptr;
    }

    /// A move is a change, too.
    [[nodiscard]] static bool is_told_as(ElementChange change, ElementChange told) noexcept {
        return change == told || (change == ElementChange::Moved && told == ElementChange::Changed);
    }

    [[nodiscard]] bool is_any_told_as(ElementChange told) const noexcept {
        return has(told) || (told == ElementChange::Changed && has(ElementChange::Moved));
    }

    void tell(ElementChange change, void (*call)(void*, std::span<const std::uint32_t>)) {
        if (call == nullptr || !is_any_told_as(change)) {
            return;
        }
        collect(change);
        const auto& indices = parts_.element_indices;
        if (!indices.empty()) {
            call(array_, {indices.data(), indices.size()});
        }
    }

    /// The last element takes the place of one that goes, as in Unreal.
    void remove() {
        collect(ElementChange::Removed);
        auto& gone = parts_.gone_keys;
        gone.clear();
        for (const KeyedChange& entry : changes()) {
            // Whether it is still there or not: a callback may have taken it away.
            if (entry.change == ElementChange::Removed) {
                gone.push_back(entry.key);
            }
        }
        state_.forget_keyed_elements(RepHandle{cmd_.relative_handle}, {gone.data(), gone.size()},
                                     layout_.element_scope(index_).handle_count, context_.dropped);
        std::size_t count = ops().count(array_);
        auto& indices = parts_.element_indices;
        for (auto index = indices.rbegin(); index != indices.rend(); ++index) {
            --count;
            if (*index != count) {
                ops().swap_elements(array_, *index, count);
            }
        }
        if (!indices.empty()) {
            ops().resize(array_, count);
        }
    }

    /// By rank; elements that the sender never named stay behind, in the order they have. Returns
    /// whether any had to move.
    [[nodiscard]] bool sort() {
        collect_ranks();
        sort_ranks();
        KeyedElements& known = state_.keyed_elements(RepHandle{cmd_.relative_handle});
        auto& ranks = parts_.ranks;
        bool is_moved = false;
        // ranks[i].index is where the element that belongs at index i lies; each swap brings one
        // there.
        for (std::uint32_t i = 0; i < ranks.size(); ++i) {
            std::uint32_t from = ranks[i].index;
            while (from < i) {
                from = ranks[from].index;  // it was moved there meanwhile
            }
            if (from != i) {
                ops().swap_elements(array_, i, from);
                ranks[i].index = from;
                is_moved = true;
            }
            if (ranks[i].known_index != ElementRank::no_index) {
                known.set_last_index(ranks[i].known_index, i);
            }
        }
        return is_moved;
    }

    using ElementRank = detail::ElementRank;

    /// Fills ranks_, in the order of the array. Where an element was when it was sorted last, it
    /// mostly still is, so that hardly any is searched for.
    void collect_ranks() {
        const KeyedElements& known = state_.keyed_elements(RepHandle{cmd_.relative_handle});
        const auto count = static_cast<std::uint32_t>(ops().count(array_));
        auto& ranks = parts_.ranks;
        ranks.clear();
        ranks.resize(count);
        for (std::uint32_t i = 0; i < known.elements().size(); ++i) {
            const KeyedElements::Element& element = known.elements()[i];
            const std::uint32_t index = element.last_index;
            if (index < count && key_at(index) == element.key) {
                ranks[index] = {element.rank, index, i};
            }
        }
        const ShadowKeyedArray& archetype = archetype_array(layout_, cmd_);
        std::uint32_t guess = 0;  // of the archetype's elements: the one behind the last
        for (std::uint32_t i = 0; i < count; ++i) {
            if (ranks[i].known_index != ElementRank::no_index) {
                continue;
            }
            const std::uint64_t key = key_at(i);
            ranks[i] = {std::numeric_limits<std::int64_t>::max(), i, ElementRank::no_index};
            if (const KeyedElements::Element* element = known.find(key)) {
                ranks[i].rank = element->rank;
                ranks[i].known_index =
                    static_cast<std::uint32_t>(element - known.elements().data());
                continue;
            }
            const bool is_guessed = guess < archetype.count() && archetype.items[guess].key == key;
            const std::uint32_t found = is_guessed ? guess : archetype.find(key);
            if (found < archetype.count()) {
                ranks[i].rank = archetype.items[found].rank;
                guess = found + 1;
            }
        }
    }

    /// Few are out of order mostly: those are taken out, sorted, and merged into the others
    /// (Ernerfelt, "Drop-Merge sort", 2015). Of two that do not ascend both are taken, since either
    /// may be the one that moved; so of k that moved no more than 2k are.
    void sort_ranks() {
        auto& ranks = parts_.ranks;
        auto& moved = parts_.moved_ranks;
        moved.clear();
        std::size_t kept = 0;
        for (const ElementRank rank : ranks) {
            if (kept > 0 && rank < ranks[kept - 1]) {
                moved.push_back(ranks[--kept]);
                moved.push_back(rank);
            } else {
                ranks[kept++] = rank;
            }
        }
        std::sort(moved.begin(), moved.end());
        std::size_t end = ranks.size();
        while (!moved.empty()) {
            if (kept > 0 && moved.back() < ranks[kept - 1]) {
                ranks[--end] = ranks[--kept];
            } else {
                ranks[--end] = moved.back();
                moved.pop_back();
            }
        }
    }

    const RepLayout& layout_;
    CmdIndex index_;
    const RepLayoutCmd& cmd_;
    std::byte* array_;
    ReceivingRepState& state_;
    ReceiveContext& context_;
    detail::ReceiveParts& parts_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

}  // namespace

void finish_keyed_arrays(const RepLayout& layout, std::byte* object, ReceivingRepState& state,
                         ReceiveContext& context, FinishedArrays which) {
    detail::UpdateUnderWay& update = parts_of(context.scratch).update;
    detail::KeyedChanges& changes = update.keyed_changes();
    const std::size_t first_fresh = changes.sort();
    // Each part finishes its grouped arrays, so earlier parts left no changes of these.
    std::size_t begin = which == FinishedArrays::All ? 0 : first_fresh;
    std::size_t kept = begin;
    if (which == FinishedArrays::All) {
        update.old_values().sort();
    }
    while (begin < changes.changes().size()) {
        const CmdIndex index = changes.changes()[begin].array;
        std::size_t end = begin;
        while (end < changes.changes().size() && changes.changes()[end].array == index) {
            ++end;
        }
        KeyedArrayFinisher array(layout, index, object, state, context);
        if (which == FinishedArrays::All || array.is_in_group()) {
            array.finish(begin, end);
        } else {
            changes.move_down(begin, end, kept);
            kept += end - begin;
        }
        begin = end;
    }
    changes.keep_first(kept);
}

}  // namespace replayout
