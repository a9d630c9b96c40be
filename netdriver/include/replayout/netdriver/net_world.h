// SPDX-License-Identifier: MIT
//
// What the engine implements: the driver knows no game, and asks this interface for everything that
// has to do with objects. Objects stay the embedder's; the driver holds handles and asks for memory
// when it needs it.
#pragma once

#include <replayout/net_guid.h>
#include <replayout/netdriver/close_reason.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/value_ops.h>
#include <replayout/rep_layout.h>

namespace replayout {

/// An object that the server announced.
struct SpawnInfo {
    NetGUID guid;
    const RepLayout& layout;  ///< ours, also where the server's is another
};

/// Calls come from inside tick_dispatch (client; on a server those that tell of peers, and
/// object_memory() for a remote call that arrived), tick_flush (both), call_function
/// (object_memory(), both) and disconnect (client), on the driver's thread. Those that tell of
/// objects must not call the driver back, except for its const functions; those that tell of peers
/// may call all but the ticks.
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

    /// On a server: a client joined; it has no object yet, and is sent those there are from the
    /// next tick_flush() on. On a client: the server let it in; objects that came in the same
    /// tick_dispatch() were spawned already. Comes at the end of the tick_dispatch() in which it
    /// happened.
    virtual void peer_joined(PeerId peer) { (void)peer; }
    /// The connection ended, whoever ended it; of a server, the peer may have begun another one
    /// already. Comes once for each peer_joined(), at the end of the tick in which it happened or
    /// became known, or of the next tick after a disconnect(). On a client also where the server
    /// did not let it in, or never answered; all objects are despawned by then. Not called when a
    /// NetDriver is destroyed that is still connected.
    virtual void peer_left(PeerId peer, CloseReason reason) {
        (void)peer;
        (void)reason;
    }
};

}  // namespace replayout
