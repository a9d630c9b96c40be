// SPDX-License-Identifier: MIT
//
// Which objects have values that the game itself writes: those that are written once for all
// clients, and those that keep the object to the driver's thread.
#pragma once

#include <replayout/netdriver/memory_report.h>
#include <replayout/netdriver/net_driver_settings.h>
#include <replayout/rep_layout.h>

#include "bit_row.h"
#include "server_environment.h"
#include "server_objects.h"
#include "shared_values.h"

namespace replayout {

struct WrittenValues {
    WrittenValues(const ServerEnvironment& environment, ServerObjects& objects)
        : sharing(environment.settings.sharing),
          shared(&environment.memory.scratch),
          alone(&environment.memory.scratch) {
        objects.tables.add(alone, ObjectTables::Until::SlotIsFree);
        objects.tables.add(shared, ObjectTables::Until::SlotIsFree);
    }

    /// A new object.
    void begin(ObjectIndex index, const RepLayout& layout) {
        if (is_written_alone(layout)) {
            alone.insert(index);
        }
        shared.add(index, layout);
    }
    /// To write its values the server asks the game, which may give ids, or keeps states.
    [[nodiscard]] bool is_written_alone(const RepLayout& layout) const noexcept {
        const bool is_asked_once =
            sharing != SharingLevel::Off && layout.are_serializers_shared_whole();
        return (layout.has_net_serialize_structs() && !is_asked_once) || layout.has_delta_structs();
    }

    SharingLevel sharing;
    SharedValues shared;
    BitRow alone;  ///< objects that no lane may write
};

}  // namespace replayout
