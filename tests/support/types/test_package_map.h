// SPDX-License-Identifier: MIT
//
// Identity for tests: a server's map, which gives ids in the order of first mention, and a
// client's, which knows what it was told.
#pragma once

#include <replayout/package_map.h>

#include <cstdint>
#include <map>

namespace replayout {

class ServerPackageMap final : public PackageMap {
  public:
    explicit ServerPackageMap(std::uint64_t first_guid = 1) noexcept : next_guid_(first_guid) {}

    [[nodiscard]] NetGUID guid_of(ObjectHandle object) override {
        if (object.is_null()) {
            return {};
        }
        const auto [entry, is_new] = guids_.try_emplace(object, NetGUID{next_guid_});
        next_guid_ += is_new ? 1 : 0;
        return entry->second;
    }
    [[nodiscard]] ObjectHandle object_of(NetGUID guid) override {
        for (const auto& [object, known] : guids_) {
            if (known == guid) {
                return object;
            }
        }
        return {};
    }

  private:
    std::map<ObjectHandle, NetGUID> guids_;
    std::uint64_t next_guid_;
};

class ClientPackageMap final : public PackageMap {
  public:
    void bind(NetGUID guid, ObjectHandle object) { objects_[guid] = object; }
    void unbind(NetGUID guid) { objects_.erase(guid); }

    [[nodiscard]] NetGUID guid_of(ObjectHandle object) override {
        for (const auto& [guid, known] : objects_) {
            if (known == object) {
                return guid;
            }
        }
        return {};
    }
    [[nodiscard]] ObjectHandle object_of(NetGUID guid) override {
        const auto found = objects_.find(guid);
        return found != objects_.end() ? found->second : ObjectHandle{};
    }

  private:
    std::map<NetGUID, ObjectHandle> objects_;
};

}  // namespace replayout
