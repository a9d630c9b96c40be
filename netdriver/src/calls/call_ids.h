// SPDX-License-Identifier: MIT
//
// Ids of the objects that the parameters of a server's call name. What is not an object of this
// driver is null to every client, so it is null on the way.
#pragma once

#include <replayout/netdriver/net_guid_cache.h>
#include <replayout/package_map.h>
#include <replayout/reflection/memory.h>

#include <span>

#include "object_store.h"

namespace replayout {

class CallIds final : public PackageMap {
  public:
    CallIds(const ObjectStore& objects, NetGUIDCache& guids, MemoryResource* resource)
        : objects_(objects), guids_(guids), named_(Allocator<ObjectIndex>(resource)) {}

    [[nodiscard]] NetGUID guid_of(ObjectHandle object) override {
        const NetGUID guid = guids_.find_guid(object);
        const ObjectIndex index = objects_.find_index(guid);
        if (guid.is_null() || index == no_object) {
            return {};
        }
        named_.push_back(index);
        return guid;
    }
    [[nodiscard]] ObjectHandle object_of(NetGUID guid) override { return guids_.object_of(guid); }

    /// Their slots, since forget().
    [[nodiscard]] std::span<const ObjectIndex> named() const noexcept {
        return {named_.data(), named_.size()};
    }
    void forget() noexcept { named_.clear(); }

  private:
    const ObjectStore& objects_;
    NetGUIDCache& guids_;
    Vector<ObjectIndex> named_;
};

}  // namespace replayout
