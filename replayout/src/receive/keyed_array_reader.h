// SPDX-License-Identifier: MIT
//
// One keyed array of a block, checked or applied: elements that are named as removed or that a full
// set does not list go when the update ends, and those that are listed are made or changed.
#pragma once

#include <replayout/keyed_array.h>
#include <replayout/receiving_rep_state.h>

#include "key_decoder.h"
#include "present_elements.h"
#include "read_context.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace replayout {

class KeyedArrayReader {
  public:
    /// The array at command `index` of the object. `array` null: to check it, or to pass over it.
    KeyedArrayReader(ReadContext& context, CmdIndex index, const ReadPosition& position,
                     std::byte* array)
        : context_(context),
          reader_(context.reader()),
          parts_(context.parts()),
          index_(index),
          cmd_(context.layout().cmd(index)),
          element_(context.layout().element_scope(index)),
          position_(position),
          array_(array),
          present_(context, index),
          is_going_on_(!context.is_skipping() && changes().has_earlier(index)) {}

    /// Returns whether anything changed.
    bool read();

  private:
    /// The keys that a full set speaks of: those after `begin`, up to and with `end`; none: without
    /// bound.
    struct KeyRange {
        std::optional<std::uint64_t> begin;
        std::optional<std::uint64_t> end;

        [[nodiscard]] bool contains(std::uint64_t key) const noexcept {
            return (!begin || key > *begin) && (!end || key <= *end);
        }
        [[nodiscard]] bool is_whole() const noexcept { return !begin && !end; }
    };

    using ElementChange = detail::ElementChange;

    [[nodiscard]] const ArrayOps& ops() const noexcept { return cmd_.property->array; }
    [[nodiscard]] const ArrayKey& key() const noexcept { return cmd_.property->array_key; }
    [[nodiscard]] RepHandle handle() const noexcept { return RepHandle{cmd_.relative_handle}; }
    [[nodiscard]] detail::KeyedChanges& changes() const noexcept {
        return parts_.update.keyed_changes();
    }
    [[nodiscard]] std::uint32_t count_max() const noexcept {
        return context_.layout().limits().array_count_max;
    }

    // The head: which elements go, and where those that stay are.

    /// Everything that there is goes with the first full set of that restart version.
    void read_restart();
    void read_removed_keys();
    /// Makes ready to find `key_count` of the elements that the object has.
    void find_present(std::size_t key_count);
    void take_removed();

    // The elements.

    void read_elements(std::uint64_t count);
    /// The block goes on to the element of that key. False, and failed: it cannot be here.
    [[nodiscard]] bool take_named(std::uint64_t element_key);
    void read_element(std::uint64_t element_key);
    /// Reads the leaves that are set, at `position`. Returns whether any changed.
    [[nodiscard]] bool read_leaves(const ChangeMask& leaves, std::uint32_t first_handle,
                                   ReadPosition& position);
    /// Returns whether it is another than before.
    bool read_rank(std::uint64_t element_key);
    /// The memory of the element, which is made if it is not there.
    [[nodiscard]] std::byte* prepare(std::uint32_t index, std::uint64_t element_key,
                                     bool is_present);

    // Elements that go.

    /// The element goes if it is not listed and has such a key.
    [[nodiscard]] bool speaks_of(std::uint64_t element_key) const noexcept {
        return is_beginning_anew_ || full_range_.contains(element_key);
    }
    /// Goes on through what is present to the elements of `element_key`, or to the end.
    void take_unlisted_before(std::optional<std::uint64_t> element_key);
    /// An earlier part of the update took it away; it goes when the update ends.
    [[nodiscard]] bool is_going(std::uint64_t element_key) const noexcept;
    /// It goes when the update ends.
    void take_away(std::uint64_t element_key);

    // The end.

    /// Only when checking: what is applied was checked, though a hook may have changed the array
    /// since.
    void check_end(std::size_t listed_count);
    /// Forgets elements that the game took away, and a full set does not list.
    void forget_unlisted();
    /// Forgets what is known of gone_keys.
    void forget_gone();

    /// An element that is not known yet is of the archetype, or new; then its rank comes with it.
    [[nodiscard]] KeyedElements::Element& known(std::uint64_t element_key);
    [[nodiscard]] KeyedElements& known() { return context_.state().keyed_elements(handle()); }
    void note(ElementChange change, std::uint64_t element_key) {
        // Another rank need not be another index: whether anything moved, the end tells.
        is_changed_ = is_changed_ || change != ElementChange::Moved;
        if (array_ != nullptr) {
            changes().add(index_, change, element_key);
        }
    }

    ReadContext& context_;
    BitReader& reader_;
    detail::ReceiveParts& parts_;
    CmdIndex index_;
    const RepLayoutCmd& cmd_;
    const RepScope& element_;
    const ReadPosition& position_;
    std::byte* array_;
    PresentElements present_;  // before the block
    bool is_going_on_;         // earlier parts of the update changed this array
    std::size_t next_ = 0;     // of a full set
    std::size_t added_ = 0;
    std::size_t removed_ = 0;
    bool is_full_set_ = false;
    bool has_ranks_ = false;
    Version restart_version_ = 0;     // of a full set; 0: it does not say
    bool is_beginning_anew_ = false;  // it is the first with that version
    KeyRange full_range_;             // of a full set
    bool is_changed_ = false;
};

}  // namespace replayout
