// SPDX-License-Identifier: MIT
#include <replayout/netdriver/net_guid_cache.h>

namespace replayout {

namespace {

using IdMap = std::pmr::unordered_map<std::uint64_t, std::uint64_t>;

[[nodiscard]] std::uint64_t find_or_zero(const IdMap& map, std::uint64_t key) noexcept {
    const auto found = map.find(key);
    return found == map.end() ? 0 : found->second;
}

}  // namespace

NetGUIDCache::NetGUIDCache(Authority authority, MemoryResource* resource)
    : guids_by_object_(resource),
      named_by_guid_(resource),
      objects_by_guid_(resource),
      authority_(authority) {}

NetGUID NetGUIDCache::guid_of(ObjectHandle object) {
    if (object.is_null()) {
        return {};
    }
    const NetGUID known = find_guid(object);
    if (!known.is_null() || authority_ == Authority::Learns) {
        return known;
    }
    const NetGUID guid{++last_guid_};
    guids_by_object_.emplace(object.value, guid.value);
    named_by_guid_.emplace(guid.value, object.value);
    return guid;
}

ObjectHandle NetGUIDCache::object_of(NetGUID guid) {
    return find_object(guid);
}

void NetGUIDCache::bind(NetGUID guid, ObjectHandle object) {
    REPLAYOUT_ASSERT(!guid.is_null() && !object.is_null());
    REPLAYOUT_ASSERT(object_of(guid).is_null());
    objects_by_guid_.emplace(guid.value, object.value);
    if (authority_ == Authority::Learns) {
        guids_by_object_.emplace(object.value, guid.value);
    }
}

void NetGUIDCache::unbind(NetGUID guid) {
    const auto found = objects_by_guid_.find(guid.value);
    REPLAYOUT_ASSERT(found != objects_by_guid_.end());
    if (authority_ == Authority::Learns) {
        guids_by_object_.erase(found->second);
    }
    objects_by_guid_.erase(found);
}

NetGUID NetGUIDCache::find_guid(ObjectHandle object) const noexcept {
    return {find_or_zero(guids_by_object_, object.value)};
}

ObjectHandle NetGUIDCache::find_object(NetGUID guid) const noexcept {
    return {find_or_zero(objects_by_guid_, guid.value)};
}

ObjectHandle NetGUIDCache::find_named(NetGUID guid) const noexcept {
    return {find_or_zero(named_by_guid_, guid.value)};
}

}  // namespace replayout
