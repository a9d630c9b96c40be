// SPDX-License-Identifier: MIT
//
// A keyed array against its shadow: which elements are new, gone, moved, and what changed in those
// that stayed.
#include <replayout/keyed_array.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/property.h>
#include <replayout/reflection/type.h>

#include "compare_properties.h"
#include "spare_room.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace replayout {

namespace {

using Item = ShadowKeyedArray::Item;
using Step = ShadowKeyedArray::Scratch::Step;
constexpr std::uint32_t none = ShadowKeyedArray::Scratch::none;

/// Room between two ranks: eight insertions at the same index before ranks are given anew, and
/// three bytes for each rank of an array of two thousand elements.
constexpr std::int64_t rank_gap = 256;

class KeyedArrayComparer {
  public:
    KeyedArrayComparer(CompareContext& context, CmdIndex index, ConstObjectBuffer object,
                       ShadowBuffer shadow)
        : context_(context),
          cmd_(context.layout.cmd(index)),
          key_(cmd_.property->array_key),
          element_(context.layout.element_scope(index)),
          kept_(shadow_value<ShadowKeyedArray>(shadow)),
          array_(object.data()),
          objects_(static_cast<const std::byte*>(cmd_.property->array.data(array_))) {}

    [[nodiscard]] bool has_unique_keys() {
        object_count_ = static_cast<std::uint32_t>(cmd_.property->array.count(array_));
        return (key_.fast.has_marks() && key_.fast.array_key(array_) == kept_.mark) ||
               has_same_keys() || collect_steps();
    }

    [[nodiscard]] bool update() {
        const std::size_t count = cmd_.property->array.count(array_);
        if (count > context_.layout.limits().array_count_max) {
            ++context_.over_limit_count;
            return false;
        }
        object_count_ = static_cast<std::uint32_t>(count);
        const std::uint32_t mark = key_.fast.has_marks() ? key_.fast.array_key(array_) : 0;
        if (key_.fast.has_marks() && mark == kept_.mark && !kept_.is_unseen) {
            return false;
        }
        const bool is_in_place = has_same_keys();
        bool is_changed = false;
        if (!is_in_place) {
            if (!collect_steps()) {
                ++context_.over_limit_count;
                note_doubled();
                return false;
            }
            is_changed = rearrange();
        }
        kept_.mark = mark;
        kept_.is_doubled = false;
        for (std::uint32_t i = 0; i < kept_.count(); ++i) {
            const std::uint32_t from = is_in_place ? i : kept_.scratch.steps[i].object_index;
            is_changed = compare_element(i, from) || is_changed;
        }
        kept_.is_unseen = false;
        if (is_changed && kept_.first_changed == 0) {
            kept_.first_changed = context_.version;
        }
        return is_changed;
    }

  private:
    /// Two elements of one key. The array stays what it was until that ends, so it is said once.
    void note_doubled() {
        if (!std::exchange(kept_.is_doubled, true)) {
            log(LogLevel::Error,
                "two elements of array \"" + cmd_.property->name + "\" of \"" +
                    std::string(context_.layout.type().name()) +
                    "\" have one key; nothing of it is sent while they do" +
                    (key_.fast.has_marks() ? " (an item that is moved keeps the id of the fast "
                                             "array that it came from)"
                                           : ""));
        }
    }

    [[nodiscard]] const std::byte* object_at(std::uint32_t index) const noexcept {
        return objects_ + std::size_t{index} * cmd_.element_size;
    }
    [[nodiscard]] std::uint64_t key_at(std::uint32_t index) const noexcept {
        return key_of_element(key_, object_at(index));
    }

    [[nodiscard]] bool has_same_keys() const noexcept {
        if (object_count_ != kept_.count()) {
            return false;
        }
        for (std::uint32_t i = 0; i < object_count_; ++i) {
            if (key_at(i) != kept_.items[i].key) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] bool compare_element(std::uint32_t index, std::uint32_t object_index) {
        Item& item = kept_.items[index];
        const std::byte* object = object_at(object_index);
        const bool is_new = item.created == context_.version;
        if (key_.fast.has_marks()) {
            const std::uint32_t mark = key_.fast.item_key(object);
            if (!is_new && std::exchange(item.mark, mark) == mark && !kept_.is_unseen) {
                return false;
            }
            item.mark = mark;
        }
        ShadowArray& elements = kept_.elements;
        const ShadowBuffer shadow(elements.elements + std::size_t{index} * element_.shadow_size);
        return update_element(context_, element_, ConstObjectBuffer(object), shadow,
                              elements.versions + std::size_t{index} * element_.handle_count,
                              is_new ? ElementAge::New : ElementAge::Known);
    }

    /// What the array consists of now, and where each was. False: a key comes twice.
    [[nodiscard]] bool collect_steps() {
        ShadowKeyedArray::Scratch& scratch = kept_.scratch;
        clear_for(scratch.steps, object_count_);
        clear_for(scratch.by_key, object_count_);
        for (std::uint32_t i = 0; i < object_count_; ++i) {
            const std::uint64_t key = key_at(i);
            if (key_.fast.has_marks() && key == ArrayKey::unassigned) {
                continue;  // nobody has marked it yet
            }
            Step step;
            step.object_index = i;
            const std::uint32_t old = kept_.find(key);
            step.old_index = old == kept_.count() ? none : old;
            scratch.by_key.push_back(static_cast<std::uint32_t>(scratch.steps.size()));
            scratch.steps.push_back(step);
        }
        const auto key_of = [&](std::uint32_t step) {
            return key_at(scratch.steps[step].object_index);
        };
        std::sort(
            scratch.by_key.begin(), scratch.by_key.end(),
            [&](std::uint32_t left, std::uint32_t right) { return key_of(left) < key_of(right); });
        return std::adjacent_find(scratch.by_key.begin(), scratch.by_key.end(),
                                  [&](std::uint32_t left, std::uint32_t right) {
                                      return key_of(left) == key_of(right);
                                  }) == scratch.by_key.end();
    }

    /// Brings the shadow into the object's order. Returns whether a receiver can tell.
    [[nodiscard]] bool rearrange() {
        ShadowKeyedArray::Scratch& scratch = kept_.scratch;
        const auto count = static_cast<std::uint32_t>(scratch.steps.size());
        clear_for(scratch.items, count);
        const ShadowMemory& memory = context_.memory;
        memory.make_room(element_, scratch.elements, count);
        bool is_changed = false;
        for (const Step& step : scratch.steps) {
            if (step.old_index != none) {
                memory.move_element(element_, kept_.elements, step.old_index, scratch.elements);
                scratch.items.push_back(kept_.items[step.old_index]);
                kept_.items[step.old_index].created = none;  // it has moved on
            } else {
                memory.append_element(element_, scratch.elements);
                Item item;
                item.key = key_at(step.object_index);
                item.created = context_.version;
                scratch.items.push_back(item);
                forget_deletion(item.key);
                is_changed = true;
            }
        }
        is_changed = remove_gone() || is_changed;
        if (is_changed) {
            kept_.membership_version_before =
                std::exchange(kept_.membership_version, context_.version);
        }
        kept_.elements.count = 0;
        std::swap(kept_.elements, scratch.elements);
        kept_.items.swap(scratch.items);
        kept_.by_key.swap(scratch.by_key);
        if (key_.order == ArrayOrder::Kept) {
            is_changed = give_ranks() || is_changed;
        }
        return is_changed;
    }

    [[nodiscard]] bool remove_gone() {
        std::uint32_t gone_count = 0;
        for (std::uint32_t i = 0; i < kept_.count(); ++i) {
            if (kept_.items[i].created != none) {
                context_.memory.destroy_element(element_, kept_.elements, i);
                kept_.deletions.push_back({kept_.items[i].key, context_.version});
                ++gone_count;
            }
        }
        if (gone_count > 0) {
            kept_.count_removals(context_.version, gone_count,
                                 context_.layout.limits().array_count_max);
        }
        if (kept_.deletions.size() > ShadowKeyedArray::deletion_count_max) {
            const auto end = kept_.deletions.end() - ShadowKeyedArray::deletion_count_max;
            kept_.forgotten_through = (end - 1)->version;
            kept_.deletions.erase(kept_.deletions.begin(), end);
            using Deletion = ShadowKeyedArray::Deletion;
            if (has_spare_room(kept_.deletions.size() * sizeof(Deletion),
                               kept_.deletions.capacity() * sizeof(Deletion))) {
                kept_.deletions.shrink_to_fit();
            }
        }
        return gone_count > 0;
    }

    void forget_deletion(std::uint64_t key) {
        const auto found = std::find_if(kept_.deletions.begin(), kept_.deletions.end(),
                                        [&](const auto& entry) { return entry.key == key; });
        if (found != kept_.deletions.end()) {
            kept_.deletions.erase(found);
        }
    }

    /// Elements of the longest subsequence whose ranks ascend already keep theirs; those between
    /// take new ones. Returns whether any did.
    [[nodiscard]] bool give_ranks() {
        find_longest_ascent();
        bool is_changed = false;
        std::uint32_t begin = 0;
        while (begin < kept_.count()) {
            if (kept_.scratch.steps[begin].keeps_rank) {
                ++begin;
                continue;
            }
            std::uint32_t end = begin;
            while (end < kept_.count() && !kept_.scratch.steps[end].keeps_rank) {
                ++end;
            }
            if (!give_ranks_between(begin, end)) {
                give_all_ranks();
                return true;
            }
            is_changed = true;
            begin = end;
        }
        return is_changed;
    }

    void set_rank(std::uint32_t index, std::int64_t rank) noexcept {
        Item& item = kept_.items[index];
        if (item.rank != rank || item.created == context_.version) {
            item.rank = static_cast<std::int32_t>(rank);
            item.rank_version = context_.version;
        }
    }

    /// False: there is no room.
    [[nodiscard]] bool give_ranks_between(std::uint32_t begin, std::uint32_t end) {
        const std::int64_t count = end - begin;
        std::int64_t gap = rank_gap;
        std::int64_t rank = begin == 0 ? 0 : kept_.items[begin - 1].rank;
        if (end < kept_.count()) {
            const std::int64_t next = kept_.items[end].rank;
            if (begin == 0) {
                rank = next - (count + 1) * gap;
            } else {
                gap = (next - rank) / (count + 1);
            }
        } else if (begin == 0) {
            rank = -(count / 2 + 1) * gap;
        }
        if (gap == 0 || rank < std::numeric_limits<std::int32_t>::min() ||
            rank + count * gap > std::numeric_limits<std::int32_t>::max()) {
            return false;
        }
        for (std::uint32_t i = begin; i < end; ++i) {
            rank += gap;
            set_rank(i, rank);
        }
        return true;
    }

    void give_all_ranks() {
        std::int64_t rank = -std::int64_t{kept_.count() / 2} * rank_gap;
        for (std::uint32_t i = 0; i < kept_.count(); ++i, rank += rank_gap) {
            set_rank(i, rank);
        }
    }

    /// Patience sorting (Aldous and Diaconis, "Longest increasing subsequences", 1999), over the
    /// elements that have a rank.
    void find_longest_ascent() {
        Vector<Step>& steps = kept_.scratch.steps;
        Vector<std::uint32_t>& ends = kept_.scratch.ascent_ends;  // the least end by length
        clear_for(ends, kept_.count());
        for (std::uint32_t i = 0; i < kept_.count(); ++i) {
            if (steps[i].old_index == none) {
                continue;
            }
            const auto position = std::lower_bound(
                ends.begin(), ends.end(), kept_.items[i].rank,
                [&](std::uint32_t end, std::int32_t rank) { return kept_.items[end].rank < rank; });
            steps[i].before = position == ends.begin() ? none : *(position - 1);
            if (position == ends.end()) {
                ends.push_back(i);
            } else {
                *position = i;
            }
        }
        for (std::uint32_t i = ends.empty() ? none : ends.back(); i != none; i = steps[i].before) {
            steps[i].keeps_rank = true;
        }
    }

    CompareContext& context_;
    const RepLayoutCmd& cmd_;
    const ArrayKey& key_;
    const RepScope& element_;
    ShadowKeyedArray& kept_;
    const std::byte* array_;
    const std::byte* objects_;
    std::uint32_t object_count_ = 0;
};

}  // namespace

bool update_keyed_array(CompareContext& context, CmdIndex index, ConstObjectBuffer object,
                        ShadowBuffer shadow) {
    return KeyedArrayComparer(context, index, object, shadow).update();
}

bool has_unique_keys(CompareContext& context, CmdIndex index, ConstObjectBuffer object,
                     ShadowBuffer shadow) {
    return KeyedArrayComparer(context, index, object, shadow).has_unique_keys();
}

}  // namespace replayout
