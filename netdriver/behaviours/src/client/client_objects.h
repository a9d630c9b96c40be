// SPDX-License-Identifier: MIT
//
// Owns all objects that a client made, spawned or not. A destroyed object stays until nothing of it
// runs any longer, and is then freed.
#pragma once

#include <replayout/behaviours/network_client.h>
#include <replayout/behaviours/network_identity.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/memory.h>

#include <map>
#include <memory>

#include "stored_references.h"

namespace replayout {

class NetworkClient::ClientObjects {
  public:
    ClientObjects(const NetDriver& driver, StoredReferences& references, MemoryResource* resource)
        : driver_(driver), references_(references), resource_(resource) {}
    ClientObjects(const ClientObjects&) = delete;
    ClientObjects& operator=(const ClientObjects&) = delete;

    /// Spawned or not, with those that are destroyed and not freed yet.
    [[nodiscard]] const StoredReferences::Objects& all() const noexcept { return objects_; }
    [[nodiscard]] bool contains(const NetworkIdentity* object) const {
        return objects_.contains(object);
    }
    [[nodiscard]] NetworkIdentity& instantiate(const NetworkPrefab& prefab);
    /// Refused: the object is of another client, or spawned.
    void destroy(NetworkIdentity& object);
    /// The object ends within the driver's call that is under way.
    [[nodiscard]] bool is_leaving(ObjectHandle handle) const noexcept;

    /// Objects were destroyed, and are not freed yet.
    [[nodiscard]] bool has_gone() const noexcept { return has_gone_; }
    /// Nothing names them any longer.
    void free_gone();
    /// The client ends before its objects: they belong to no end from now on.
    void detach();

  private:
    const NetDriver& driver_;
    StoredReferences& references_;
    MemoryResource* resource_;
    std::map<const NetworkIdentity*, std::unique_ptr<NetworkIdentity>> objects_;
    bool has_gone_ = false;
};

}  // namespace replayout
