// SPDX-License-Identifier: MIT
//
// What a game's serializers write for all receivers alike: asked once for each change, between the
// compare and the connections, in the order of objects and handles. From then on it is bytes like
// any other.
//
//     compare   ->   ask 3, 9, 31: pieces, ids of objects that they name   ->   bundles   ->
//     connections
//
// So a serializer may name an object that nobody met before: its id does not depend on what is
// shared, on who is sent the value first, or on how many threads send. Of an object that no client
// is shown nobody is asked; it is made up for when one is.
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/send_properties.h>

#include "bit_row.h"
#include "flush_changes.h"
#include "object_store.h"

#include <cstdint>
#include <span>

namespace replayout {

class SharedValues {
  public:
    explicit SharedValues(MemoryResource* resource)
        : objects_(resource), waiting_(resource), asked_(Allocator<Version>(resource)) {}

    /// The object is new. Nothing where its layout has no such values.
    void add(std::uint32_t index, const RepLayout& layout) {
        if (!layout.shared_serializer_handles().empty()) {
            objects_.insert(index);
            grow_row(asked_, index + 1, Version{0});
            asked_[index] = 0;
            count_ += 1;
        }
    }
    void forget(std::uint32_t index) noexcept {
        if (objects_.test(index)) {
            objects_.clear(index);
            waiting_.erase(index);
            count_ -= 1;
        }
    }
    [[nodiscard]] bool has_objects() const noexcept { return count_ > 0; }
    /// Objects that changed and that the game is not asked for, as no client is shown them.
    [[nodiscard]] const BitRow& unasked() const noexcept { return waiting_; }

    /// These changed.
    void note(const FlushChanges& changes) {
        waiting_.grow(static_cast<std::uint32_t>(objects_.word_count() * 64));
        for (const std::uint32_t word : changes.words) {
            if (const std::uint64_t changed = changes.objects.word(word) & objects_.word(word);
                changed != 0) {
                waiting_.merge_word(word, changed);
            }
        }
    }
    /// Asks those that changed since they were asked. `type_counters` by layout number; empty:
    /// nobody counts. `shown(word, objects)`: those among objects 64 * word and on that any client
    /// is shown.
    template <typename Shown>
    void ask(const ObjectStore& store, SendContext& context, std::span<TypeCounters> type_counters,
             Shown shown) {
        for (std::size_t word = 0; word < waiting_.word_count(); ++word) {
            const std::uint64_t waiting = waiting_.word(word);
            const std::uint64_t asked = waiting == 0 ? 0 : shown(word, waiting) & waiting;
            BitRow::for_each_in_word(word, asked, [&](std::uint32_t index) {
                NetworkObjectInfo& info = *store.at(index);
                ChangelistState& state = info.changelist_state();
                if (!type_counters.empty()) {
                    context.type_counters = &type_counters[info.layout_number()];
                }
                if (state.version() > asked_[index]) {
                    encode_shared_serializers(state, asked_[index], context);
                    asked_[index] = state.version();
                }
            });
            if (asked != 0) {
                waiting_.set_word(word, waiting & ~asked);
            }
        }
        context.type_counters = nullptr;
    }

  private:
    BitRow objects_;  // with such values
    BitRow waiting_;  // of these: to be asked when they are shown
    Vector<Version> asked_;
    std::uint32_t count_ = 0;
};

}  // namespace replayout
