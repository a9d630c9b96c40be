// SPDX-License-Identifier: MIT
#include "mark_validator.h"

#include <algorithm>
#include <string>

namespace replayout {

MarkValidator::MarkValidator(std::uint32_t ticks, MemoryResource* resource)
    : ticks_(ticks), missed_(resource), reported_(Allocator<Reported>(resource)) {}

void MarkValidator::validate(const ObjectStore& objects, const BitRow& live, const BitRow& dormant,
                             NetWorld& world, ReplicationCounters& counters) {
    if (ticks_ == 0) {
        return;
    }
    // In 64 bits, because any number of ticks is allowed.
    for (std::uint64_t slot = first_; slot < objects.slot_count(); slot += ticks_) {
        const auto index = static_cast<std::uint32_t>(slot);
        if (!live.test(index) || dormant.test(index)) {
            continue;
        }
        const NetworkObjectInfo& info = *objects.at(index);
        const ChangelistState& state = info.changelist_state();
        if (state.layout().has_push_based()) {
            state.find_missed_marks(world.object_memory(info.object()), missed_);
            report(info, counters);
        }
    }
    first_ = (first_ + 1) % ticks_;
}

void MarkValidator::report(const NetworkObjectInfo& info, ReplicationCounters& counters) {
    const RepLayout& layout = info.changelist_state().layout();
    for (std::uint32_t i = missed_.next(0); i < missed_.bit_count(); i = missed_.next(i + 1)) {
        ++counters.marks_missed;
        const Property* property = layout.parents()[i].property;
        const Reported reported{&layout, property};
        if (std::find(reported_.begin(), reported_.end(), reported) != reported_.end()) {
            continue;
        }
        reported_.push_back(reported);
        log(LogLevel::Error, "push model: property \"" + property->name + "\" of a \"" +
                                 std::string(layout.type().name()) +
                                 "\" changed and was not marked dirty, so it is not sent");
    }
}

}  // namespace replayout
