// SPDX-License-Identifier: MIT
//
// References as a lane's compare asks for them: it reads the table that all lanes share, and gives
// no id. Those of handles that were never met come behind the lanes, in the order of objects, so
// that they are the same for any number of lanes (ChangelistState::name_references).
#pragma once

#include <replayout/netdriver/net_guid_cache.h>
#include <replayout/package_map.h>

#include <cstdint>
#include <utility>

namespace replayout {

class LaneIds final : public PackageMap {
  public:
    /// In place of an id that is to come. No object has it: a server counts up from 1.
    static constexpr NetGUID unnamed{~std::uint64_t{0}};

    explicit LaneIds(const NetGUIDCache& guids) noexcept : guids_(guids) {}

    [[nodiscard]] NetGUID guid_of(ObjectHandle object) override {
        const NetGUID known = guids_.find_guid(object);
        const bool is_missed = known.is_null() && !object.is_null();
        has_missed_ = has_missed_ || is_missed;
        return is_missed ? unnamed : known;
    }
    [[nodiscard]] ObjectHandle object_of(NetGUID guid) override { return guids_.find_object(guid); }
    [[nodiscard]] std::uint64_t binding_count() const noexcept override {
        return guids_.binding_count();
    }
    [[nodiscard]] bool is_current(NetGUID guid, ObjectHandle object) const noexcept override {
        return guids_.is_current(guid, object);
    }

    /// Since the last time.
    [[nodiscard]] bool take_missed() noexcept { return std::exchange(has_missed_, false); }

  private:
    const NetGUIDCache& guids_;
    bool has_missed_ = false;
};

}  // namespace replayout
