// SPDX-License-Identifier: MIT
//
// References as the compare asks for them: a shadow keeps the id with the handle.
#pragma once

#include <replayout/netdriver/net_guid_cache.h>
#include <replayout/package_map.h>

#include <cstdint>

namespace replayout {

class ShadowIds final : public PackageMap {
  public:
    explicit ShadowIds(NetGUIDCache& guids) noexcept : guids_(guids) {}

    [[nodiscard]] NetGUID guid_of(ObjectHandle object) override { return guids_.assign(object); }
    [[nodiscard]] ObjectHandle object_of(NetGUID guid) override { return guids_.object_of(guid); }
    [[nodiscard]] std::uint64_t binding_count() const noexcept override {
        return guids_.binding_count();
    }
    [[nodiscard]] bool is_current(NetGUID guid, ObjectHandle object) const noexcept override {
        return guids_.is_current(guid, object);
    }

  private:
    NetGUIDCache& guids_;
};

}  // namespace replayout
