// SPDX-License-Identifier: MIT
//
// What the game's serializers write for all receivers alike. The server asks the game once for each
// change, between the compare and the connections, in the order of objects and handles. What the
// game wrote is then copied like any other bytes.
//
//     compare  ->  ask for 3, 9, 31: pieces, ids of what they name  ->  bundles, connections
//
// So a serializer may name an object that the server never met: the id of that object depends
// neither on what is shared, nor on which client is sent the value first, nor on how many threads
// send. The server does not ask for an object that no client is shown; it asks when a client is.
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

    /// The object is new. Does nothing if its layout has no such values.
    void add(ObjectIndex index, const RepLayout& layout) {
        if (!layout.shared_serializer_handles().empty()) {
            objects_.insert(index);
            asked_.grow_to(index, Version{0});
            asked_[index] = 0;
            count_ += 1;
        }
    }
    void forget(ObjectIndex index) noexcept {
        if (objects_.test(index)) {
            objects_.clear(index);
            waiting_.erase(index);
            count_ -= 1;
        }
    }
    [[nodiscard]] bool has_objects() const noexcept { return count_ > 0; }
    /// Objects that changed since the game was asked for them, because no client is shown them.
    [[nodiscard]] const BitRow& unasked() const noexcept { return waiting_; }

    /// These objects changed: ask() asks for them.
    void note(const FlushChanges& changes) {
        waiting_.grow(static_cast<std::uint32_t>(objects_.word_count() * 64));
        for (const std::uint32_t word : changes.words) {
            if (const std::uint64_t changed = changes.objects.word(word) & objects_.word(word);
                changed != 0) {
                waiting_.merge_word(word, changed);
            }
        }
    }
    /// Asks the game for each object that changed and that some client is shown. `type_counters` by
    /// layout number; empty: nobody counts. `shown(word, objects)` returns which of the objects
    /// 64 * word and on any client is shown; it may leave out those that are not in `objects`.
    template <typename Shown>
    void ask(const ObjectStore& store, SendContext& context, std::span<TypeCounters> type_counters,
             Shown shown) {
        for (std::size_t word = 0; word < waiting_.word_count(); ++word) {
            const std::uint64_t waiting = waiting_.word(word);
            const std::uint64_t asked = waiting == 0 ? 0 : shown(word, waiting) & waiting;
            BitRow::for_each_in_word(word, asked, [&](ObjectIndex index) {
                ServerObject& info = *store.at(index);
                ChangelistState& state = info.changelist_state();
                count_type_of(info, type_counters, context);
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
    BitRow objects_;           // whose layout has such values
    BitRow waiting_;           // of these: changed since the game was asked
    ByObject<Version> asked_;  // up to which version
    std::uint32_t count_ = 0;
};

}  // namespace replayout
