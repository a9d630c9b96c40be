// SPDX-License-Identifier: MIT
//
// What there is to compare around a block that is received: a refusal changes nothing of it, and
// what is taken keeps to the limits.
#pragma once

#include <replayout/rep_layout.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "support/replication/block_receiver.h"
#include "support/types/raw_object.h"
#include "support/types/value_tree.h"

namespace replayout::test {

/// Every member of the object as it is in memory.
[[nodiscard]] inline std::vector<Value> read_members(const RawObject& object) {
    std::vector<Value> values;
    for_each_slot(object.type(), 0, [&](const Property& property, std::uint32_t offset) {
        values.push_back(read_value(property, object.memory() + offset));
    });
    return values;
}

/// The greatest count of a list in a value.
[[nodiscard]] inline std::size_t greatest_count(const Value& value) {
    std::size_t count = 0;
    const auto visit_parts = [&](const std::vector<Value>& parts) {
        for (const Value& part : parts) {
            count = std::max(count, greatest_count(part));
        }
    };
    if (const auto* list = std::get_if<List>(&value.content)) {
        visit_parts(list->parts);
        count = std::max(count, list->parts.size());
    } else if (const auto* record = std::get_if<Record>(&value.content)) {
        visit_parts(record->parts);
    }
    return count;
}

/// What a receiver keeps beside the object.
struct ReceiverTrace {
    std::size_t reference_count = 0;
    std::size_t value_count = 0;
    bool is_under_way = false;
    std::vector<Version> delta_versions;

    friend bool operator==(const ReceiverTrace&, const ReceiverTrace&) = default;
};

[[nodiscard]] inline ReceiverTrace trace_of(const BlockReceiver& receiver,
                                            const RepLayout& layout) {
    ReceiverTrace trace{receiver.state.references().size(),
                        receiver.state.values().size(),
                        receiver.scratch.is_update_under_way(),
                        {}};
    for (RepHandle handle{1}; handle.value <= layout.handle_count(); ++handle.value) {
        trace.delta_versions.push_back(receiver.state.delta_version(handle));
    }
    return trace;
}

}  // namespace replayout::test
