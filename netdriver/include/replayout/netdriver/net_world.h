// SPDX-License-Identifier: MIT
//
// What the engine implements: the driver knows no game, and asks this interface for everything that
// has to do with objects. Objects stay the embedder's; the driver holds handles and asks for memory
// when it needs it.
#pragma once

#include <replayout/handle.h>
#include <replayout/net_guid.h>
#include <replayout/netdriver/channel_close_reason.h>
#include <replayout/netdriver/close_reason.h>
#include <replayout/netdriver/net_role.h>
#include <replayout/netdriver/spawn_parameters.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/value_ops.h>
#include <replayout/rep_layout.h>

#include <string_view>

namespace replayout {

/// An object that the server announced.
struct SpawnInfo {
    NetGUID guid;
    const RepLayout& layout;  ///< this end's, also where the server's is another; its archetype's
    ArchetypeId archetype{};  ///< 0: that of the class itself
    ObjectRole role{};        ///< what this client is to the object
    ObjectHandle outer{};     ///< the object that it is a part of; null: none
    /// As the server gave them; the stable name is on loan for the call.
    SpawnParameters parameters{};
};

/// Makes the objects of a client, or finds them, and takes them back. Called as a NetWorld is, and
/// must not call the driver back either, except for its const functions.
class SpawnHandler {
  public:
    /// Makes the object, equal to the layout's archetype; or, where it has a stable name, finds the
    /// one that is there under it, which must equal the archetype too where nobody told otherwise.
    /// Null: there is none. The driver logs that, and throws away what arrives for the object; so
    /// it does where the handle is that of another object that is shown.
    [[nodiscard]] virtual ObjectHandle spawn(const SpawnInfo& info) = 0;

    /// The object is replicated no more. The handle is not used again, and every reference to it is
    /// null already. ChannelCloseReason says what is meant to become of the object; of one with a
    /// stable name nothing, unless it was destroyed. Not called when a NetDriver is destroyed that
    /// is still connected: its objects stay. To have them despawned, call disconnect() first.
    virtual void despawn(ObjectHandle object, ChannelCloseReason reason) = 0;

  protected:
    ~SpawnHandler() = default;
};

/// Calls come from inside tick_dispatch (client; on a server those that tell of peers, and
/// object_memory() for a remote call that arrived), tick_flush (both), call_function
/// (object_memory(), both) and disconnect (client), on the driver's thread; object_memory() of a
/// server with an executor on its threads, too, for several objects at once. Those that tell of
/// objects must not call the driver back, except for its const functions, and for the
/// call_function() of a client; object_memory() for const functions alone. Those that tell of peers
/// may call all but the ticks.
///
/// Remote calls out of these, of a client (what has no channel is answered with NoChannel):
///
///     spawn()                   of others; of the new object from when it returns, and in
///                               parameters it is null until then. Before peer_joined(): of none
///     despawn()                 of others; not of the object, which is null in parameters, too.
///                               Of one that goes with it they are dropped. At the end: of none
///     role_changed()            of all, this object too: an owner's calls run from then on
///     destroy_named()           of all
///     initial_batch_started()   of none: nothing was spawned yet
///     initial_batch_finished()  of all
///     peer_joined()             of all that were spawned already
///     peer_left()               of none
///
/// Of a server: in peer_joined() and peer_left(), of all objects. Who joined is sent its calls
/// behind the objects that they mean; who left is sent none.
class NetWorld : public SpawnHandler {
  public:
    virtual ~NetWorld() = default;

    /// Memory of an object, of its layout's type, where it lies until the tick or call ends that
    /// asks for it. Never null for a handle that was given to the driver and not taken back.
    [[nodiscard]] virtual void* object_memory(ObjectHandle object) = 0;

    /// Server. Whether the object is this world's. The driver asks before it adds an object, and
    /// refuses one that is not, as it asks for the memory of each object that it has.
    [[nodiscard]] virtual bool has_object(ObjectHandle object) {
        (void)object;
        return true;
    }

    /// Server. Of an object of NetRelevancy::Custom: whether that client is to have it. Asked in
    /// tick_flush(), and call_function(), when one of the two is new, the owner changed, or the
    /// game wants it to be asked: Interest::reconsider().
    [[nodiscard]] virtual bool is_net_relevant_for(ObjectHandle object, PeerId peer) {
        (void)object;
        (void)peer;
        return false;
    }

    // Client, and likewise those of SpawnHandler, which are asked for what has no handler of its
    // own (NetDriver::set_spawn_handler).

    /// What this client is to the object changed. Not told at a spawn, whose SpawnInfo says it.
    virtual void role_changed(ObjectHandle object, const ObjectRole& previous,
                              const ObjectRole& role) {
        (void)object;
        (void)previous;
        (void)role;
    }
    /// Whether a call of the server may run on the object now. False: the call is kept.
    /// NetDriver::run_kept_calls() asks again, and runs the kept calls of an object in order.
    /// `is_last`: the object goes, or no more calls may be kept (NetConfig::reliable_waiting_max,
    /// reliable_waiting_bytes_max). Then make the object ready and return true, or the call is
    /// dropped and counted (calls_dropped). With `is_last` this may do whatever a remote function
    /// may.
    [[nodiscard]] virtual bool may_run_call(ObjectHandle object, const Function& function,
                                            bool is_last) {
        (void)object;
        (void)function;
        (void)is_last;
        return true;
    }
    /// Bytes that the game keeps of what calls of the server brought for the object, beside its
    /// replicated values. They count toward NetConfig::dynamic_bytes_max. Asked when calls for the
    /// object brought as much as it held before. Touches neither the driver nor the object.
    [[nodiscard]] virtual std::uint64_t kept_bytes(ObjectHandle object) {
        (void)object;
        return 0;
    }
    /// The object with this stable name is no more, and this client was not shown its end: it
    /// joined later, or did not see the object. May be told of what is gone already. The name is on
    /// loan for the call.
    virtual void destroy_named(std::string_view stable_name) { (void)stable_name; }
    /// Likewise of a part (SubobjectParameters::stable_name) of an object that is there: what the
    /// outer made itself under this name is no more. Comes behind the spawn() of the outer. Not
    /// told of a part that is shown to this client.
    virtual void destroy_part(ObjectHandle outer, std::string_view stable_name) {
        (void)outer;
        (void)stable_name;
    }

    /// The objects that were there when this client joined are on their way
    /// (NetDriver::initial_batch). Comes before the first spawn(), once, also when there are none.
    virtual void initial_batch_started() {}
    /// All of them are there. Comes once, at the end of the tick_dispatch() in which it became
    /// known, and may call the driver back as those that tell of peers.
    virtual void initial_batch_finished() {}

    // Both.

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

    /// Server, with NetDriverSettings::mark_validation_ticks: the property changed and was not
    /// marked dirty. Return true if the world marks it later: then the mark was not forgotten.
    [[nodiscard]] virtual bool holds_back(ObjectHandle object, ParentIndex property) {
        (void)object;
        (void)property;
        return false;
    }
};

}  // namespace replayout
