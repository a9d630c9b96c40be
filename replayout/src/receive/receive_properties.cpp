// SPDX-License-Identifier: MIT
#include <replayout/receive_properties.h>

#include "keyed_array_finisher.h"
#include "notify_queue.h"
#include "read_value.h"

#include <string>
#include <utility>

namespace replayout {

bool receive_properties(const RepLayout& layout, BitReader& reader, void* object,
                        ReceivingRepState& state, ReceiveContext& context) {
    REPLAYOUT_EXPECT(object != nullptr, skip_properties(layout, reader, context),
                     "receive_properties: a \"%s\" without memory: give it an object, or call "
                     "skip_properties()",
                     std::string(layout.name()).c_str());
    REPLAYOUT_EXPECT(context.scratch.is_free_for(layout, state),
                     skip_properties(layout, reader, context),
                     "receive_properties: a part of another object was received with this scratch: "
                     "call finish_update() for that object before a block of a \"%s\"",
                     std::string(layout.name()).c_str());
    auto* bytes = static_cast<std::byte*>(object);
    BitReader check_reader = reader;
    ReadContext check(layout, check_reader, context, bytes, &state);
    if (!check_block(check)) {
        reader.fail();
        return false;
    }
    if (check.must_end_update()) {
        // Its notifies run before those of the next update of the object begin, so they do not
        // wait.
        const bool waits = std::exchange(context.waits_to_notify, false);
        finish_update(layout, object, state, context);
        context.waits_to_notify = waits;
    }
    NotifyQueue notifies(layout, bytes, state, context);
    notifies.begin();
    BitReader apply_reader = reader.without_budget();
    ReadContext apply(layout, apply_reader, context, bytes, state, notifies);
    const bool is_applied = apply_block(apply);
    REPLAYOUT_ASSERT(is_applied);
    reader.skip_bits(check_reader.position_bits() - reader.position_bits());
    if (context.more_parts_follow) {
        finish_keyed_arrays(layout, bytes, state, context, FinishedArrays::InGroups);
        notifies.hold(check.span(), check.held_steps());
        return is_applied;
    }
    finish_keyed_arrays(layout, bytes, state, context);
    notifies.run();
    return is_applied;
}

void finish_update(const RepLayout& layout, void* object, ReceivingRepState& state,
                   ReceiveContext& context) {
    REPLAYOUT_EXPECT(
        context.scratch.is_free_for(layout, state), void(),
        "finish_update: the update under way is not of this \"%s\": give it the object "
        "and the state of the last part",
        std::string(layout.name()).c_str());
    if (context.scratch.is_update_under_way()) {
        auto* bytes = static_cast<std::byte*>(object);
        NotifyQueue notifies(layout, bytes, state, context);
        if (object == nullptr) {
            return;  // there is no object to notify: the update is dropped
        }
        finish_keyed_arrays(layout, bytes, state, context);
        notifies.run();
    }
}

bool skip_properties(const RepLayout& layout, BitReader& reader, ReceiveContext& context) {
    ReadContext check(layout, reader, context, nullptr, nullptr);
    return check_block(check);
}

}  // namespace replayout
