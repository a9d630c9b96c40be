// SPDX-License-Identifier: MIT
//
// The ids of a client as one object sees them while several objects despawn together: the id of an
// object that despawns earlier names nothing.
#pragma once

#include <replayout/package_map.h>

#include "client_channels.h"

#include <cstdint>

namespace replayout {

class GoneBefore final : public PackageMap {
  public:
    /// `number` is the object's ActorChannel::departure_number; 0: the object stays.
    GoneBefore(PackageMap& ids, const ClientChannels& channels, std::uint32_t number) noexcept
        : ids_(ids), channels_(channels), number_(number) {}

    [[nodiscard]] NetGUID guid_of(ObjectHandle object) override { return ids_.guid_of(object); }
    [[nodiscard]] ObjectHandle object_of(NetGUID guid) override {
        const ActorChannel* named = channels_.find(guid);
        const bool goes = named != nullptr && named->departure_number != 0;
        return goes && (number_ == 0 || named->departure_number < number_) ? ObjectHandle()
                                                                           : ids_.object_of(guid);
    }
    [[nodiscard]] std::uint64_t binding_count() const noexcept override {
        return ids_.binding_count();
    }
    [[nodiscard]] bool is_current(NetGUID guid, ObjectHandle object) const noexcept override {
        return ids_.is_current(guid, object);
    }

  private:
    PackageMap& ids_;
    const ClientChannels& channels_;
    std::uint32_t number_;
};

}  // namespace replayout
