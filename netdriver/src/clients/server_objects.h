// SPDX-License-Identifier: MIT
//
// The objects of a server, and what all its parts know of them.
#pragma once

#include <replayout/netdriver/memory_report.h>

#include "bit_row.h"
#include "flush_changes.h"
#include "object_store.h"
#include "object_tables.h"
#include "shadow_ids.h"

namespace replayout {

struct ServerObjects {
    ServerObjects(NetGUIDCache& guid_cache, MemoryMeters& memory)
        : guids(guid_cache),
          store(&memory.objects),
          shadow_ids(guid_cache),
          live(&memory.objects),
          changes(&memory.objects) {
        tables.add_full(live, ObjectTables::Until::GameIsDone);
        tables.add_full(changes.objects, ObjectTables::Until::GameIsDone);
        tables.add(changes.added, ObjectTables::Until::GameIsDone);
        tables.add(changes.recent, ObjectTables::Until::GameIsDone);
    }

    /// Nobody waits for the object any longer, and its clients were told. Its slot is free.
    void forget(ObjectIndex index) {
        if (!store.at(index)->is_handed_back()) {
            guids.unbind(store.at(index)->guid());
        }
        tables.free_slot(index);
        store.remove(store.id_at(index));
    }

    NetGUIDCache& guids;
    ObjectStore store;
    ShadowIds shadow_ids;
    BitRow live;  ///< the game has the object
    FlushChanges changes;
    ObjectTables tables;
};

}  // namespace replayout
