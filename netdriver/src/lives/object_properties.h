// SPDX-License-Identifier: MIT
//
// What the game says of the properties of an object: which changed, which are switched on, and
// which are for whom. All functions require an object that exists.
#pragma once

#include <replayout/netdriver/net_object_id.h>
#include <replayout/reflection/lifetime_condition.h>
#include <replayout/rep_layout.h>

#include <string_view>

#include "compare_stage.h"
#include "server_clients.h"
#include "server_objects.h"

namespace replayout {

class ObjectProperties {
  public:
    ObjectProperties(ServerObjects& objects, ServerClients& clients, CompareStage& compare) noexcept
        : objects_(objects.store), clients_(clients), compare_(compare) {}

    // See NetDriver.
    void mark_dirty(NetObjectId id, std::string_view property);
    void mark_all_dirty(NetObjectId id);
    void set_active(NetObjectId id, std::string_view property, bool is_active);
    void set_dynamic_condition(NetObjectId id, std::string_view property,
                               LifetimeCondition condition);
    [[nodiscard]] LifetimeCondition dynamic_condition_of(NetObjectId id,
                                                         std::string_view property) const;

  private:
    /// Calls `visit(ChangelistState&, ParentIndex)` for the property: for each element of a C
    /// array.
    template <typename Visitor>
    void for_each_parent(NetObjectId id, std::string_view property, Visitor visit);

    ObjectStore& objects_;
    ServerClients& clients_;
    CompareStage& compare_;
};

}  // namespace replayout
