// SPDX-License-Identifier: MIT
#include "stored_references.h"

#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/visit_references.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace replayout {

namespace {

using detail::Inside;
using detail::object_of;

/// Whether `is_it` is true of any object that the value names.
template <typename Predicate>
[[nodiscard]] bool names(const Property& variable, const std::byte* value, const Predicate& is_it) {
    bool is_any = false;
    visit_references(
        variable, const_cast<std::byte*>(value),  // NOLINT(cppcoreguidelines-pro-type-const-cast)
        [&](const ReferenceOps& ops, const void* reference) {
            const ObjectHandle handle = ops.get(reference);
            is_any = is_any || (!handle.is_null() && is_it(object_of(handle)));
        });
    return is_any;
}

/// Visits the variables of the object that hold references.
template <typename Visit>
void visit_variables(NetworkIdentity& holder, const Visit& visit) {
    for (NetworkBehaviour* behaviour : holder.components()) {
        detail::ObjectComponent& component = Inside::of(*behaviour);
        for (std::uint64_t bits = component.type().reference_variables; bits != 0;
             bits &= bits - 1) {
            const auto variable = static_cast<std::uint32_t>(std::countr_zero(bits));
            visit(component, variable, component.type().sync_vars[variable].property,
                  component.value_of(variable));
        }
    }
}

}  // namespace

NetworkIdentity& StoredReferences::make(const NetworkPrefab& prefab) {
    auto made = std::make_unique<NetworkIdentity>(prefab, resource_);
    NetworkIdentity& object = *made;
    objects_.emplace(&object, std::move(made));
    Inside::of(object).references = this;
    if (prefab.has_references()) {
        holders_.push_back(&object);
        note_all(object);
    }
    return object;
}

NetworkIdentity& StoredReferences::make_of_scene(const NetworkPrefab& prefab,
                                                 std::uint64_t scene_id) {
    NetworkIdentity& object = make(prefab);
    REPLAYOUT_EXPECT(
        scene_id != 0, object,
        "add_scene_object: a \"%s\" of id 0 is made, and is none of the scene: give it "
        "an id that is not 0",
        prefab.name().c_str());
    Inside::of(object).scene_id = scene_id;
    return object;
}

void StoredReferences::destroy(NetworkIdentity& object) {
    Inside::of(object).is_gone = true;
    has_gone_ = true;
    object_left(object);
}

void StoredReferences::free_gone() {
    has_gone_ = false;
    detail::erase_gone(holders_);
    std::erase_if(objects_, [](const auto& entry) { return Inside::of(*entry.second).is_gone; });
}

void StoredReferences::disown_all() noexcept {
    for (const auto& [key, object] : objects_) {
        detail::ObjectParts& parts = Inside::of(*object);
        parts.net_id = 0;
        parts.client.end = nullptr;
        parts.server.end = nullptr;
        parts.references = nullptr;
    }
}

void StoredReferences::note(const Property& variable, const std::byte* value) {
    visit_references(
        variable, const_cast<std::byte*>(value),  // NOLINT(cppcoreguidelines-pro-type-const-cast)
        [&](const ReferenceOps& ops, const void* reference) {
            const ObjectHandle handle = ops.get(reference);
            // A handle of the game's own may be no object of ours.
            const auto found = handle.is_null() ? objects_.end() : objects_.find(object_of(handle));
            if (found != objects_.end() && Inside::of(*found->second).is_gone) {
                left_.push_back(found->first);
            } else if (found != objects_.end()) {
                Inside::of(*found->second).is_named = true;
            }
        });
}

bool StoredReferences::names_any_foreign(const Property& variable, const std::byte* value) const {
    return names(variable, value,
                 [&](const NetworkIdentity* object) { return !objects_.contains(object); });
}

void StoredReferences::clear_unspawned(const Type& type, std::byte* value) const {
    if (type.base() != nullptr) {
        clear_unspawned(*type.base(), value + type.base_offset());
    }
    for (const Property& member : type.properties()) {
        visit_references(member, value + member.offset,
                         [&](const ReferenceOps& ops, void* reference) {
                             const auto found = objects_.find(object_of(ops.get(reference)));
                             if (found != objects_.end() && !found->second->is_spawned()) {
                                 ops.set(reference, ObjectHandle{});
                             }
                         });
    }
}

void StoredReferences::note_all(NetworkIdentity& holder) {
    visit_variables(holder, [&](const auto&, std::uint32_t, const Property& property,
                                const std::byte* value) { note(property, value); });
}

void StoredReferences::clear_all(NetworkIdentity& holder) {
    visit_variables(
        holder, [](const auto&, std::uint32_t, const Property& property, std::byte* value) {
            visit_references(property, value, [](const ReferenceOps& ops, void* reference) {
                ops.set(reference, ObjectHandle{});
            });
        });
}

void StoredReferences::object_left(NetworkIdentity& object) {
    if (std::exchange(Inside::of(object).is_named, false) || changes_ > 0) {
        left_.push_back(&object);
    }
}

bool StoredReferences::names_any_left(const Property& variable, const std::byte* value) const {
    return !is_settled() &&
           names(variable, value, [&](const NetworkIdentity* object) { return has_left(*object); });
}

bool StoredReferences::has_left(const NetworkIdentity& object) const noexcept {
    return std::find(left_.begin(), left_.end(), &object) != left_.end();
}

void StoredReferences::settle() {
    if (is_settled()) {
        return;
    }
    Identities gone = take_left();
    std::vector<Lost> lost;
    clear_variables(gone, lost);
    if (left_.empty()) {
        gone.clear();
        left_.swap(gone);  // keeps its memory
    }
    // Only now, when none of them is left. A hook may end the object, or name what left meanwhile.
    for (const Lost& variable : lost) {
        detail::ObjectComponent& component = *variable.component;
        component.hooks().reference_lost(component, variable.variable, variable.previous.get());
    }
}

bool StoredReferences::settle_all() {
    for (std::uint32_t round = 0; round < rounds_max && !is_settled(); ++round) {
        settle();
    }
    if (is_settled()) {
        return true;
    }
    const Identities gone = take_left();
    std::vector<Lost> lost;
    clear_variables(gone, lost);
    for (const Lost& variable : lost) {
        detail::ObjectComponent& component = *variable.component;
        component.hooks().reference_lost(component, variable.variable, nullptr);
    }
    return false;
}

bool StoredReferences::clear(const Property& variable, std::byte* value, const Identities& gone) {
    bool is_any = false;
    visit_references(variable, value, [&](const ReferenceOps& ops, void* reference) {
        const ObjectHandle handle = ops.get(reference);
        if (!handle.is_null() && std::binary_search(gone.begin(), gone.end(), object_of(handle))) {
            ops.set(reference, ObjectHandle{});
            is_any = true;
        }
    });
    return is_any;
}

StoredReferences::Identities StoredReferences::take_left() {
    Identities gone;
    gone.swap(left_);
    std::sort(gone.begin(), gone.end());
    return gone;
}

void StoredReferences::clear_variables(const Identities& gone, std::vector<Lost>& lost) {
    if (other_values_ != nullptr) {
        other_values_->clear_references(gone);
    }
    for (NetworkIdentity* holder : holders_) {
        visit_variables(*holder, [&](detail::ObjectComponent& component, std::uint32_t variable,
                                     const Property& property, std::byte* value) {
            if (names(property, value, [&](const NetworkIdentity* object) {
                    return std::binary_search(gone.begin(), gone.end(), object);
                })) {
                lost.push_back({&component, variable, ValueCopy(property, value, resource_)});
                (void)clear(property, value, gone);
            }
        });
    }
}

}  // namespace replayout
