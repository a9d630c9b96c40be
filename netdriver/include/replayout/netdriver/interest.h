// SPDX-License-Identifier: MIT
//
// Interest: which clients are to have which objects. The game says a rule for each object, where
// things are and who is in which group; the driver finds what follows from that, from what moved
// or changed alone, and never looks at all objects for all clients.
//
//     Interest interest = server.interest();
//     interest.set_relevancy(crate, NetRelevancy::Distance);   // within its cull distance
//     interest.set_cull_distance(crate, 60);
//     interest.add_to_group(flag, red_team);                   // for the red team alone
//     in NetWorld::peer_joined(peer):
//         interest.set_in_group(peer, red_team, true);
//     every tick, between tick_dispatch() and tick_flush():
//         interest.set_location(crate, where_it_is);
//         interest.set_viewer(peer, where_its_player_is);
//
// Whether a client is to have an object is decided in this order:
//
//     1  what set_relevant_for() said of the two
//     2  it owns the object: yes
//     3  the object was put into groups, and the client is in none of them: no
//     4  the object's NetRelevancy
//
// Parts follow their outer. What follows takes effect with the next tick_flush(), before anything
// is sent; what was left behind goes at the client, by ChannelCloseReason::Relevancy.
#pragma once

#include <replayout/netdriver/net_object_id.h>
#include <replayout/netdriver/spawn_parameters.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/error.h>
#include <replayout/reflection/math.h>
#include <replayout/rep_layout.h>

#include <cstdint>

namespace replayout {

struct DriverEnd;
class ReplicationServer;

// How far Grid reaches. What counts is how many cells lie between an object's and a viewer's: of n
// along an axis, next to each other being 0, those with a root of the sum of squares of n within
// radius / cell_size are seen. A thing may have left its cell by `hysteresis` of one. So with
// `axes` axes that count, 2 where the world is flat and 3 else, and c = cell_size,
//
//     surely seen        within  radius -  2 x hysteresis       x sqrt(axes) x c
//     surely not seen    beyond  radius + (2 + 2 x hysteresis)  x sqrt(axes) x c
//
// that is radius - 0.36 c and radius + 3.2 c where it is flat, - 0.44 c and + 3.9 c in space, by
// the hysteresis that is set at first. Smaller cells are sharper, and are crossed more often.

/// For whom an object is relevant, beside its owner.
enum class NetRelevancy : std::uint8_t {
    Always,       ///< for everybody; so it is at first
    OnlyToOwner,  ///< for nobody else
    UseOwner,     ///< for whom the object of set_owner_object() is; without one, for nobody else
    Distance,     ///< where a viewer is within the object's cull distance
    Grid,         ///< where the object's cell is within the view radius of a viewer's
    Custom,       ///< for whom NetWorld::is_net_relevant_for() says so
};

/// Which coordinates count: for cull distances, cells, priority by distance, and who is near.
enum class InterestAxes : std::uint8_t {
    XY,  ///< flat, z is up
    XZ,  ///< flat, y is up
    XYZ,
};

struct InterestSettings {
    InterestAxes axes = InterestAxes::XYZ;
    /// Of objects of which nothing else was said; 0.001 to 1e30. All lengths are in the game's
    /// unit; 150 are those of Unreal, in metres.
    float cull_distance = 150.0f;
    /// How far viewers see NetRelevancy::Grid, where nothing else was said; 0 to 1e30.
    float view_radius = 100.0f;
    /// Edge of a cell of the grid; 0.001 to 1e30. Half of the view radius is Mirror's.
    float cell_size = 50.0f;
    /// So that nothing flickers at a border. By which part of its cull distance an object goes on
    /// being relevant, and by which part of a cell things must have left it to be in another one;
    /// 0.0625 to 1.
    float hysteresis = 0.125f;

    [[nodiscard]] Status validate() const;
};

/// Eyes that one client may have: players of a split screen, or a player and his drone.
inline constexpr std::uint32_t views_per_client_max = 4;

/// Of the server that gave it, and no longer. An id is one that this driver gave and that was not
/// removed, and no part unless said; a layout is one that was added to the driver; nothing happens
/// where a peer has no connection. Where the driver's own functions may be called, and by the same
/// rules.
class Interest {
  public:
    // The object's rule. O(connections).

    void set_relevancy(NetObjectId id, NetRelevancy relevancy);
    /// For NetRelevancy::Distance: 0.001 to 1e30. Held to within a twelfth of it: distances are
    /// those of cells with an edge between a 64th and a 32nd of it. Who has the object in sight
    /// keeps it up to where it leaves by the new distance.
    void set_cull_distance(NetObjectId id, float distance);
    /// For NetRelevancy::UseOwner: an object that carries this one, or that it is attached to.
    /// No circle. Ends with either.
    void set_owner_object(NetObjectId id, NetObjectId owner);
    /// What objects of the class begin with that are added from now on, with whatever archetype.
    void set_class_relevancy(const RepLayout& layout, NetRelevancy relevancy);
    void set_class_cull_distance(const RepLayout& layout, float distance);

    // Where things are, for Distance and Grid, and for who is sent first what is nearest. An object
    // is at first where its SpawnParameters say; one that is nowhere is seen by nobody, and by a
    // client without a viewer nothing is. Numbers are finite. Up to 2^28 cells from the origin,
    // of a cull distance about 4,000,000 times that; what is farther counts as at that border.

    /// O(1), at any rate: neighbours are looked at in the next tick_flush(), if it is in another
    /// cell then.
    void set_location(NetObjectId id, const Vector3& location);
    /// From where a client looks at the world, with any of its eyes. To be said in
    /// NetWorld::peer_joined() for what is there. O(1).
    void set_viewer(PeerId peer, const Vector3& location, std::uint32_t view = 0);
    /// These eyes look from nowhere, and forget their view radius: set_viewer() begins again with
    /// that of the settings.
    void remove_viewer(PeerId peer, std::uint32_t view = 0);
    /// How far it sees NetRelevancy::Grid: the cells that come nearer to its own; 0 to 1e30. O(1);
    /// but the next tick_flush() goes through all objects of NetRelevancy::Grid where nobody has
    /// seen as far yet, by powers of two, and each takes 20 bytes more, which stay.
    void set_view_radius(PeerId peer, float radius, std::uint32_t view = 0);

    // The host (NetDriver::set_host) has eyes as a client has. The game asks what they see:

    /// Looks at what moved since the last tick_flush(), which does the same. O(what went to another
    /// cell x its neighbours).
    void look_around();
    /// Whether an eye of that client, or of the host, saw the object at the last tick_flush() or
    /// look_around(). For objects of NetRelevancy::Distance or Grid. O(1).
    [[nodiscard]] bool is_in_sight(PeerId peer, NetObjectId id) const;

    // Groups: teams, matches, scenes, lists of who may see what. An object that was put into one is
    // for clients in its groups alone, also when it is in none any more, until clear_groups(). Of
    // parts, those of LifetimeCondition::NetGroup: these begin in none, and no others can be put
    // into one.

    /// Of a part, too. O(connections + groups of the object); of a part, connections times its
    /// parts. Made for a few groups: an object that is in thousands is walked through all of them
    /// each time that it is put into another.
    void add_to_group(NetObjectId id, NetGroup group);
    void remove_from_group(NetObjectId id, NetGroup group);
    void clear_groups(NetObjectId id);
    /// In none at first. Ends with the connection. O(objects in the group, and parts with
    /// conditions).
    void set_in_group(PeerId peer, NetGroup group, bool is_in_group);

    // Said by the game.

    /// Shown or hidden, whatever else is said. At once. Holds until clear_relevant_for(), or until
    /// the connection or the object ends. O(parts).
    void set_relevant_for(PeerId peer, NetObjectId id, bool is_relevant);
    void clear_relevant_for(PeerId peer, NetObjectId id);
    /// NetWorld::is_net_relevant_for() is asked anew. O(connections).
    void reconsider(NetObjectId id);
    void reconsider(PeerId peer, NetObjectId id);

  private:
    friend class NetDriver;
    Interest(ReplicationServer* server, const bool& is_calling_out) noexcept
        : server_(server), is_calling_out_(is_calling_out) {}

    [[nodiscard]] DriverEnd end() const noexcept;

    ReplicationServer* server_;  // null: the driver does not serve, and all is refused
    const bool& is_calling_out_;
};

}  // namespace replayout
