// SPDX-License-Identifier: MIT
#include "object_store.h"

#include <memory>
#include <new>
#include <utility>

namespace replayout {

ObjectStore::ObjectStore(MemoryResource* resource)
    : resource_(resource),
      slots_(Allocator<Slot>(resource)),
      bands_(Allocator<std::uint8_t>(resource)),
      traits_(Allocator<std::uint8_t>(resource)),
      last_layouts_(Allocator<std::uint32_t>(resource)),
      free_indices_(Allocator<ObjectIndex>(resource)),
      indices_(resource),
      destroyed_parts_(Allocator<std::pair<ObjectIndex, DestroyedNames>>(resource)) {}

ObjectStore::~ObjectStore() {
    for (ObjectIndex index{}; has_slot(index); ++index) {
        if (slots_[index].info != nullptr) {
            remove(id_at(index));
        }
    }
}

NetObjectId ObjectStore::add(const RepLayout& layout, std::uint32_t layout_number,
                             ObjectHandle object, NetGUID guid) {
    ObjectIndex index{slot_count()};
    if (free_indices_.empty()) {
        slots_.push_back(Slot());
        bands_.push_back(ordinary_send_band);
        traits_.push_back(0);
        last_layouts_.push_back(layout_number);
        free_indices_.reserve(slots_.size());
    } else {
        index = free_indices_.back();
        free_indices_.pop_back();
    }
    Slot& slot = slots_[index];
    void* memory = resource_->allocate(sizeof(ServerObject), alignof(ServerObject));
    slot.info = ::new (memory) ServerObject(layout, layout_number, object, guid, resource_);
    bands_[index] = ordinary_send_band;
    traits_[index] = 0;
    last_layouts_[index] = layout_number;
    indices_.emplace(guid.value, index);
    ++slot.generation;
    ++object_count_;
    return {value_of(index), slot.generation};
}

void ObjectStore::remove(NetObjectId id) {
    REPLAYOUT_ASSERT(contains(id));
    Slot& slot = slots_[slot_of(id)];
    indices_.erase(slot.info->guid().value);
    std::destroy_at(slot.info);
    resource_->deallocate(slot.info, sizeof(ServerObject), alignof(ServerObject));
    slot.info = nullptr;
    if (const auto parts = destroyed_parts_.find(slot_of(id)); parts != destroyed_parts_.end()) {
        destroyed_part_count_ -= parts->second.count();
        destroyed_parts_.erase(parts);
    }
    free_indices_.push_back(slot_of(id));
    --object_count_;
}

void ObjectStore::retire_id(NetObjectId id) noexcept {
    REPLAYOUT_ASSERT(contains(id));
    ++slots_[slot_of(id)].generation;
}

void ObjectStore::set_band(ObjectIndex index, std::uint32_t band) noexcept {
    for_each_in_family(
        index, [&](ObjectIndex member) { bands_[member] = static_cast<std::uint8_t>(band); });
}

void ObjectStore::set_trait(ObjectIndex index, std::uint8_t trait, bool is_set) noexcept {
    const std::uint8_t others = traits_[index] & static_cast<std::uint8_t>(~trait);
    traits_[index] = is_set ? others | trait : others;
}

void ObjectStore::set_ownership(ObjectIndex index, const ObjectOwnership& ownership) noexcept {
    at(index)->ownership_ = ownership;
    set_trait(index, owner_trait, ownership.has_owner);
}

void ObjectStore::set_spawn_record(ObjectIndex index, ArchetypeId archetype, NetGUID outer,
                                   const SpawnParameters& parameters) {
    ServerObject& info = *at(index);
    encode_spawn_record(archetype, outer, parameters, info.spawn_record_);
    const OpenPayload open(info.guid(), info.layout_number(), ObjectRole(), &info.spawn_record_);
    info.open_bunch_.reset(OpenBunch::make(channel_of(index), open.bytes(), resource_));
    set_trait(index, name_trait, !parameters.stable_name.empty());
}

void ObjectStore::attach(ObjectIndex index, ObjectIndex outer) noexcept {
    bands_[index] = bands_[outer];
    ServerObject::Family& whole = at(outer)->family();
    at(index)->family().outer = outer;
    if (whole.last == no_object) {
        whole.first = index;
    } else {
        at(whole.last)->family().next = index;
    }
    whole.last = index;
    set_trait(index, part_trait, true);
    set_trait(outer, whole_trait, true);
}

void ObjectStore::detach(ObjectIndex index) noexcept {
    ServerObject::Family& part = at(index)->family();
    ServerObject::Family& whole = at(part.outer)->family();
    ObjectIndex before = no_object;
    for (ObjectIndex at_part = whole.first; at_part != index;
         at_part = at(at_part)->family().next) {
        before = at_part;
    }
    (before == no_object ? whole.first : at(before)->family().next) = part.next;
    if (whole.last == index) {
        whole.last = before;
    }
    set_trait(index, part_trait, false);
    set_trait(part.outer, whole_trait, whole.first != no_object);
    part.outer = no_object;
    part.next = no_object;
}

void ObjectStore::add_destroyed_part(ObjectIndex outer, NetGUID part, std::string_view name) {
    destroyed_parts_.try_emplace(outer, DestroyedNames(resource_)).first->second.add(part, name);
    ++destroyed_part_count_;
}

std::size_t ObjectStore::forget_destroyed_part(ObjectIndex outer, std::string_view name) {
    const auto parts = destroyed_parts_.find(outer);
    const std::size_t number =
        parts == destroyed_parts_.end() ? DestroyedNames::no_number : parts->second.find(name);
    if (number == DestroyedNames::no_number) {
        return number;
    }
    parts->second.erase(number);
    if (parts->second.count() == 0) {
        destroyed_parts_.erase(parts);
    }
    --destroyed_part_count_;
    return number;
}

const DestroyedNames* ObjectStore::destroyed_parts_of(ObjectIndex outer) const noexcept {
    const auto parts = destroyed_parts_.find(outer);
    return parts == destroyed_parts_.end() ? nullptr : &parts->second;
}

ObjectIndex ObjectStore::find_index(NetGUID guid) const noexcept {
    const auto found = indices_.find(guid.value);
    return found == indices_.end() ? no_object : found->second;
}

}  // namespace replayout
