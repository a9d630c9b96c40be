// SPDX-License-Identifier: MIT
//
// Objects of a server as they come and go: added, removed at once or after their calls, torn off.
#pragma once

#include <replayout/netdriver/channel_close_reason.h>
#include <replayout/netdriver/net_object_id.h>
#include <replayout/netdriver/spawn_parameters.h>
#include <replayout/reflection/memory.h>

#include <cstdint>

#include "compare_stage.h"
#include "departures.h"
#include "destruction_notices.h"
#include "dormancy.h"
#include "live_names.h"
#include "priorities.h"
#include "relevancy.h"
#include "server_clients.h"
#include "server_objects.h"
#include "written_values.h"

namespace replayout {

class RefusalText;

class ObjectLives {
  public:
    /// What hears of a new object.
    struct Parts {
        ServerObjects& objects;
        ServerClients& clients;
        CompareStage& compare;
        WrittenValues& values;
        Priorities& priorities;
        Dormancy& dormancy;
        Relevancy& relevancy;
        Departures& departures;
        DestructionNotices& notices;
    };

    ObjectLives(const ServerEnvironment& environment, const Parts& parts);
    ObjectLives(const ObjectLives&) = delete;
    ObjectLives& operator=(const ObjectLives&) = delete;

    // See NetDriver. Requires ids of objects that exist.
    [[nodiscard]] NetObjectId add(const RepLayout& layout, ObjectHandle object,
                                  const SpawnParameters& parameters);
    [[nodiscard]] NetObjectId add_part(NetObjectId outer, const RepLayout& layout,
                                       ObjectHandle object, const SubobjectParameters& parameters);
    void remove(NetObjectId id, ChannelCloseReason reason);
    /// Requires an object that is no part.
    void tear_off(NetObjectId id);

    /// A client joined, or a recording begins: it gets the objects that there are.
    void introduce(ServerClient& client);
    /// In a flush, after the compare, which was the last one of objects that are torn off.
    void hand_back_torn_off();
    /// After a flush: removes the torn off objects of which every client has all.
    void remove_torn_off();
    /// Objects that the game has.
    [[nodiscard]] std::uint32_t count() const noexcept {
        return objects_.object_count() - static_cast<std::uint32_t>(parts_.departures.count());
    }
    /// No client waits for an object that the game removed or tore off.
    [[nodiscard]] bool are_settled() const noexcept {
        return torn_off_.is_empty() && parts_.departures.count() == 0;
    }

  private:
    [[nodiscard]] NetObjectId add(const RepLayout& layout, ObjectHandle object, NetObjectId outer,
                                  const SpawnParameters& parameters);
    /// Why an object was not added by the function that the game called.
    [[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText why_not_twice(
        const char* called, const RepLayout& layout, ObjectHandle object) const noexcept;
    /// Another object has the stable name, the one at `twin`.
    [[gnu::cold, gnu::noinline]] [[nodiscard]] RefusalText named_twice(
        const char* called, const RepLayout& layout, std::string_view name,
        ObjectIndex twin) const noexcept;
    void remove_family(NetObjectId id, ChannelCloseReason reason);
    void tear_off_one(ObjectIndex index);

    const ServerEnvironment& environment_;
    Parts parts_;
    ObjectStore& objects_;
    ServerClients& clients_;
    BitRow torn_off_;
    LiveNames names_;
    Vector<ObjectIndex> family_;  // scratch
};

}  // namespace replayout
