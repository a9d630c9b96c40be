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
      free_indices_(Allocator<std::uint32_t>(resource)),
      indices_(resource),
      destroyed_parts_(Allocator<std::pair<std::uint32_t, DestroyedNames>>(resource)) {}

ObjectStore::~ObjectStore() {
    for (std::uint32_t index = 0; index < slot_count(); ++index) {
        if (slots_[index].info != nullptr) {
            remove({index, slots_[index].generation});
        }
    }
}

NetObjectId ObjectStore::add(const RepLayout& layout, std::uint32_t layout_number,
                             ObjectHandle object, NetGUID guid) {
    std::uint32_t index = slot_count();
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
    void* memory = resource_->allocate(sizeof(NetworkObjectInfo), alignof(NetworkObjectInfo));
    slot.info = ::new (memory) NetworkObjectInfo(layout, layout_number, object, guid, resource_);
    bands_[index] = ordinary_send_band;
    traits_[index] = 0;
    last_layouts_[index] = layout_number;
    indices_.emplace(guid.value, index);
    ++slot.generation;
    ++object_count_;
    return {index, slot.generation};
}

void ObjectStore::remove(NetObjectId id) {
    REPLAYOUT_ASSERT(contains(id));
    Slot& slot = slots_[id.index];
    indices_.erase(slot.info->guid().value);
    std::destroy_at(slot.info);
    resource_->deallocate(slot.info, sizeof(NetworkObjectInfo), alignof(NetworkObjectInfo));
    slot.info = nullptr;
    if (const auto parts = destroyed_parts_.find(id.index); parts != destroyed_parts_.end()) {
        destroyed_part_count_ -= parts->second.count();
        destroyed_parts_.erase(parts);
    }
    free_indices_.push_back(id.index);
    --object_count_;
}

void ObjectStore::retire_id(NetObjectId id) noexcept {
    REPLAYOUT_ASSERT(contains(id));
    ++slots_[id.index].generation;
}

void ObjectStore::set_band(std::uint32_t index, std::uint32_t band) noexcept {
    for_each_in_family(
        index, [&](std::uint32_t member) { bands_[member] = static_cast<std::uint8_t>(band); });
}

void ObjectStore::set_trait(std::uint32_t index, std::uint8_t trait, bool is_set) noexcept {
    const std::uint8_t others = traits_[index] & static_cast<std::uint8_t>(~trait);
    traits_[index] = is_set ? others | trait : others;
}

void ObjectStore::set_facts(std::uint32_t index, const ObjectFacts& facts) noexcept {
    at(index)->facts_ = facts;
    set_trait(index, owner_trait, facts.has_owner);
}

void ObjectStore::set_spawn_record(std::uint32_t index, ArchetypeId archetype, NetGUID outer,
                                   const SpawnParameters& parameters) {
    encode_spawn_record(archetype, outer, parameters, at(index)->spawn_record_);
    set_trait(index, name_trait, !parameters.stable_name.empty());
}

void ObjectStore::attach(std::uint32_t index, std::uint32_t outer) noexcept {
    bands_[index] = bands_[outer];
    NetworkObjectInfo::Family& whole = at(outer)->family();
    at(index)->family().outer = outer;
    if (whole.last == no_index) {
        whole.first = index;
    } else {
        at(whole.last)->family().next = index;
    }
    whole.last = index;
    set_trait(index, part_trait, true);
    set_trait(outer, whole_trait, true);
}

void ObjectStore::detach(std::uint32_t index) noexcept {
    NetworkObjectInfo::Family& part = at(index)->family();
    NetworkObjectInfo::Family& whole = at(part.outer)->family();
    std::uint32_t before = no_index;
    for (std::uint32_t at_part = whole.first; at_part != index;
         at_part = at(at_part)->family().next) {
        before = at_part;
    }
    (before == no_index ? whole.first : at(before)->family().next) = part.next;
    if (whole.last == index) {
        whole.last = before;
    }
    set_trait(index, part_trait, false);
    set_trait(part.outer, whole_trait, whole.first != no_index);
    part.outer = no_index;
    part.next = no_index;
}

void ObjectStore::add_destroyed_part(std::uint32_t outer, NetGUID part, std::string_view name) {
    destroyed_parts_.try_emplace(outer, DestroyedNames(resource_)).first->second.add(part, name);
    ++destroyed_part_count_;
}

std::size_t ObjectStore::forget_destroyed_part(std::uint32_t outer, std::string_view name) {
    const auto parts = destroyed_parts_.find(outer);
    const std::size_t place =
        parts == destroyed_parts_.end() ? DestroyedNames::no_place : parts->second.find(name);
    if (place == DestroyedNames::no_place) {
        return place;
    }
    parts->second.erase(place);
    if (parts->second.count() == 0) {
        destroyed_parts_.erase(parts);
    }
    --destroyed_part_count_;
    return place;
}

const DestroyedNames* ObjectStore::destroyed_parts_of(std::uint32_t outer) const noexcept {
    const auto parts = destroyed_parts_.find(outer);
    return parts == destroyed_parts_.end() ? nullptr : &parts->second;
}

std::uint32_t ObjectStore::find_index(NetGUID guid) const noexcept {
    const auto found = indices_.find(guid.value);
    return found == indices_.end() ? no_index : found->second;
}

}  // namespace replayout
