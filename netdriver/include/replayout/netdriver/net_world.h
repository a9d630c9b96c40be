// SPDX-License-Identifier: MIT
//
// What the engine implements: the driver knows no game, and asks this interface for everything that
// has to do with objects. Objects stay the embedder's; the driver holds handles and asks for memory
// when it needs it.
#pragma once

#include <replayout/net_guid.h>
#include <replayout/reflection/value_ops.h>
#include <replayout/rep_layout.h>

namespace replayout {

/// An object that the server announced.
struct SpawnInfo {
    NetGUID guid;
    const RepLayout& layout;  ///< ours, also where the server's is another
};

/// Calls come from inside tick_dispatch (client; on a server object_memory() for a remote call that
/// arrived), tick_flush (both), call_function (object_memory(), both) and disconnect (client), on
/// the driver's thread. They must not call the driver back, except for its const functions.
class NetWorld {
  public:
    virtual ~NetWorld() = default;

    /// Memory of an object, of its layout's type, as it lies now; it may lie elsewhere at the next
    /// call. Never null for a handle that was given to the driver and not taken back.
    [[nodiscard]] virtual void* object_memory(ObjectHandle object) = 0;

    /// Client: make the object, equal to the layout's archetype. Null: it cannot be made; the
    /// driver logs that and throws away what arrives for it.
    [[nodiscard]] virtual ObjectHandle spawn(const SpawnInfo& info) = 0;

    /// Client: the server destroyed the object, or the connection ended. The handle is not used
    /// again, and every reference to it is null already. Not called when a NetDriver is destroyed
    /// that is still connected: its objects stay. To have them despawned, call disconnect() first.
    virtual void despawn(ObjectHandle object) = 0;
};

}  // namespace replayout
