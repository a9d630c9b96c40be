// SPDX-License-Identifier: MIT
#include <replayout/netdriver/net_guid_cache.h>

namespace replayout {

namespace {

template <typename Map>
[[nodiscard]] std::uint64_t find_or_zero(const Map& map, std::uint64_t key) noexcept {
    const auto found = map.find(key);
    return found == map.end() ? 0 : found->second;
}

}  // namespace

NetGUIDCache::NetGUIDCache(Authority authority, std::uint64_t secret, MemoryResource* resource)
    : hash_(secret),
      guids_by_object_(0, TableHash(authority, hash_), {}, resource),
      named_by_guid_(resource),
      objects_by_guid_(0, TableHash(authority, hash_), {}, resource),
      forgotten_(resource),
      authority_(authority) {}

void NetGUIDCache::set_authority(Authority authority) {
    if (authority == authority_) {
        return;
    }
    REPLAYOUT_ASSERT(last_guid_ == 0 && guids_by_object_.empty() && objects_by_guid_.empty());
    const TableHash hash(authority, hash_);
    guids_by_object_ = decltype(guids_by_object_)(0, hash, {}, guids_by_object_.get_allocator());
    objects_by_guid_ = decltype(objects_by_guid_)(0, hash, {}, objects_by_guid_.get_allocator());
    authority_ = authority;
}

NetGUID NetGUIDCache::assign(ObjectHandle object) {
    if (object.is_null()) {
        return {};
    }
    const NetGUID known = find_guid(object);
    if (!known.is_null() || authority_ == Authority::Learns) {
        return known;
    }
    const NetGUID guid{++last_guid_};
    guids_by_object_.emplace(object.value, Entry{guid.value});
    named_by_guid_.emplace(guid.value, object.value);
    return guid;
}

NetGUID NetGUIDCache::guid_of(ObjectHandle object) {
    const NetGUID guid = assign(object);
    if (!guid.is_null()) {
        guids_by_object_.find(object.value)->second.is_kept = true;
    }
    return guid;
}

bool NetGUIDCache::is_current(NetGUID guid, ObjectHandle object) const noexcept {
    if (object.is_null()) {
        return true;
    }
    const auto found = guids_by_object_.find(object.value);
    if (found != guids_by_object_.end() &&
        (found->second.guid == guid.value || found->second.was_bound)) {
        return found->second.guid == guid.value;
    }
    forgotten_.keep(object);  // so that assign_to_new() notices if an object gets this handle
    return true;
}

// A full set is cleared. That counts as a binding, so each value is compared again, and
// is_current() then keeps the handles that values still hold. A value that was not compared since
// has an older binding count, so it asks when it is compared.
void NetGUIDCache::forget(ObjectHandle object) {
    if (authority_ == Authority::Learns) {
        return;  // a client compares nothing
    }
    if (forgotten_.is_full()) {
        forgotten_.clear();
        ++binding_count_;
    }
    forgotten_.add(object);
}

NetGUID NetGUIDCache::assign_to_new(ObjectHandle object) {
    if (object.is_null()) {
        return {};
    }
    REPLAYOUT_ASSERT(authority_ == Authority::Assigns);
    const auto found = guids_by_object_.find(object.value);
    if (found != guids_by_object_.end() && found->second.was_bound) {
        if (!find_object({found->second.guid}).is_null()) {
            return {};
        }
        if (!keeps_names_) {
            named_by_guid_.erase(found->second.guid);
        }
        guids_by_object_.erase(found);
        ++binding_count_;
    } else if (forgotten_.may_contain(object)) {
        ++binding_count_;
    }
    const NetGUID guid = assign(object);
    guids_by_object_.find(object.value)->second.was_bound = true;
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
        guids_by_object_.emplace(object.value, Entry{guid.value});
    }
}

void NetGUIDCache::unbind(NetGUID guid) {
    const auto found = objects_by_guid_.find(guid.value);
    REPLAYOUT_ASSERT(found != objects_by_guid_.end());
    const auto named = guids_by_object_.find(found->second);
    if (authority_ == Authority::Learns || !named->second.is_kept) {
        forget(ObjectHandle{named->first});
        guids_by_object_.erase(named);
        if (!keeps_names_) {
            named_by_guid_.erase(guid.value);
        }
    }
    objects_by_guid_.erase(found);
}

NetGUID NetGUIDCache::find_guid(ObjectHandle object) const noexcept {
    const auto found = guids_by_object_.find(object.value);
    return {found == guids_by_object_.end() ? 0 : found->second.guid};
}

ObjectHandle NetGUIDCache::find_object(NetGUID guid) const noexcept {
    return {find_or_zero(objects_by_guid_, guid.value)};
}

ObjectHandle NetGUIDCache::find_named(NetGUID guid) const noexcept {
    return {find_or_zero(named_by_guid_, guid.value)};
}

}  // namespace replayout
