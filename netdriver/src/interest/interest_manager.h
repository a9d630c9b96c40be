// SPDX-License-Identifier: MIT
//
// The rules by which objects are relevant to clients (interest.h). Whatever changes marks those
// pairs, of a client and an object, that may be decided otherwise now; deciding them, in the order
// of clients and objects, and what follows for channels, is the server's.
//
// An object that is always relevant and in no group has no rule, and costs nothing here.
#pragma once

#include <replayout/netdriver/net_world.h>

#include "client_interest.h"
#include "group_table.h"
#include "interest_grid.h"
#include "object_store.h"

#include <optional>

namespace replayout {

class InterestManager {
  public:
    InterestManager(const InterestSettings& settings, const ObjectStore& objects, NetWorld& world,
                    InterestCounters& counters, MemoryMeters& memory);

    /// It has joined: everything that has a rule is to be decided for it.
    void add_client(ClientInterest& client);
    /// Nothing when it never joined.
    void remove_client(ClientInterest& client);

    /// An object is there, of a layout of that number. Parts are not told of.
    void object_added(ObjectIndex index, std::uint32_t layout_number);
    /// It goes, or is nobody's business any more.
    void forget(ObjectIndex index);

    // See Interest. Objects by index, that are no parts.
    void set_relevancy(ObjectIndex index, NetRelevancy relevancy);
    void set_cull_distance(ObjectIndex index, float distance);
    /// False, and nothing done: the owner is carried by the object.
    [[nodiscard]] bool set_owner_object(ObjectIndex index, ObjectIndex owner);
    void set_class_relevancy(std::uint32_t layout_number, NetRelevancy relevancy);
    void set_class_cull_distance(std::uint32_t layout_number, float distance);
    /// Once the object is there.
    void set_location(ObjectIndex index, const Vector3& location);
    void set_viewer(ClientInterest& client, const Vector3& location, std::uint32_t view);
    void remove_viewer(ClientInterest& client, std::uint32_t view);
    void set_view_radius(ClientInterest& client, float radius, std::uint32_t view);
    void add_to_group(ObjectIndex index, NetGroup group);
    void remove_from_group(ObjectIndex index, NetGroup group);
    void clear_groups(ObjectIndex index);
    /// False: so it was.
    bool set_in_group(ClientInterest& client, NetGroup group, bool is_in_group);
    void reconsider(ObjectIndex index);

    /// Also of parts, who have no rule.
    [[nodiscard]] GroupTable& groups() noexcept { return groups_; }

    /// The client is the object's owner now, or was.
    void owner_changed(ClientInterest& client, ObjectIndex index);
    /// It was decided for the client: others that go with this object are to be.
    void relevancy_changed(ClientInterest& client, ObjectIndex index);

    [[nodiscard]] const InterestGrid& grid() const noexcept { return grid_; }
    /// Before pairs are decided: looks at what moved.
    void update() { grid_.update(); }
    /// `irrelevant`: as it is now, for who goes with another object.
    [[nodiscard]] bool is_relevant(const ClientInterest& client, const BitRow& irrelevant,
                                   ObjectIndex index) const;
    /// Square of how far a location is from the nearest eye of the client, along the axes that
    /// count; nothing while it has none that is anywhere.
    [[nodiscard]] std::optional<float> distance_squared_to(const ClientInterest& client,
                                                           const Vector3& location) const noexcept;

    /// One of its eyes has the object in sight, as of the last update().
    [[nodiscard]] bool is_seen(const ClientInterest& client, ObjectIndex index) const noexcept;

  private:
    struct Rule {
        NetRelevancy relevancy = NetRelevancy::Always;
        bool is_grouped = false;
        float cull_distance = 0;
        // Of those that go with another object: that, and the others that go with it.
        ObjectIndex owner = no_object;
        ObjectIndex first_owned = no_object;
        ObjectIndex next_owned = no_object;
        ObjectIndex previous_owned = no_object;
    };

    [[nodiscard]] const Rule& rule_of(ObjectIndex index) const noexcept {
        return rules_.contains(index) ? rules_[index] : no_rule_;
    }
    [[nodiscard]] Rule& make_rule(ObjectIndex index);
    [[nodiscard]] Rule& class_rule(std::uint32_t layout_number);
    /// The grid is told, and all clients are decided anew.
    void rule_changed(ObjectIndex index);
    void leave_owner(ObjectIndex index);
    [[nodiscard]] std::uint32_t viewer_of(ClientInterest& client, std::uint32_t view);

    const ObjectStore& objects_;
    NetWorld& world_;
    Rule no_rule_;
    Vector<Rule> class_rules_;  // by layout number, as far as said
    ByObject<Rule> rules_;      // as far as said
    BitRow ruled_;
    GroupTable groups_;
    InterestGrid grid_;
    Vector<ClientInterest*> clients_;  // in the order in which they joined
};

}  // namespace replayout
