// SPDX-License-Identifier: MIT
#include "stored_references.h"

#include "inside.h"

#include <replayout/reflection/visit_references.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace replayout::syncvar {

namespace {

using detail::Inside;
using detail::object_of;

/// For visit_references() of a value that is only read.
[[nodiscard]] std::byte* looked_at(const std::byte* value) noexcept {
    return const_cast<std::byte*>(value);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

}  // namespace

void StoredReferences::object_made(NetworkIdentity& object) {
    if (object.prefab().has_references()) {
        holders_.push_back(&object);
        note_all(object);
    }
}

void StoredReferences::note(const Property& variable, const std::byte* value) {
    visit_references(variable, looked_at(value), [&](const ReferenceOps& ops, void* reference) {
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
    bool is_found = false;
    visit_references(variable, looked_at(value), [&](const ReferenceOps& ops, void* reference) {
        const ObjectHandle handle = ops.get(reference);
        is_found = is_found || (!handle.is_null() && !objects_.contains(object_of(handle)));
    });
    return is_found;
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
    for (NetworkBehaviour* behaviour : holder.components()) {
        detail::ObjectComponent& component = Inside::of(*behaviour);
        const BehaviourType& type = component.type();
        for (std::uint64_t bits = type.reference_variables; bits != 0; bits &= bits - 1) {
            const Property& property =
                type.sync_vars[static_cast<std::size_t>(std::countr_zero(bits))].property;
            note(property, component.object() + property.offset);
        }
    }
}

void StoredReferences::clear_all(NetworkIdentity& holder) {
    for (NetworkBehaviour* behaviour : holder.components()) {
        detail::ObjectComponent& component = Inside::of(*behaviour);
        const BehaviourType& type = component.type();
        for (std::uint64_t bits = type.reference_variables; bits != 0; bits &= bits - 1) {
            const Property& property =
                type.sync_vars[static_cast<std::size_t>(std::countr_zero(bits))].property;
            visit_references(property, component.object() + property.offset,
                             [](const ReferenceOps& ops, void* reference) {
                                 ops.set(reference, ObjectHandle{});
                             });
        }
    }
}

void StoredReferences::object_left(NetworkIdentity& object) {
    if (std::exchange(Inside::of(object).is_named, false) || changes_ > 0) {
        left_.push_back(&object);
    }
}

bool StoredReferences::names_any_left(const Property& variable, const std::byte* value) const {
    bool is_found = false;
    if (!is_settled()) {
        visit_references(variable, looked_at(value), [&](const ReferenceOps& ops, void* reference) {
            const ObjectHandle handle = ops.get(reference);
            is_found =
                is_found || std::find(left_.begin(), left_.end(), object_of(handle)) != left_.end();
        });
    }
    return is_found;
}

bool StoredReferences::has_left(const NetworkIdentity& object) const noexcept {
    return std::find(left_.begin(), left_.end(), &object) != left_.end();
}

void StoredReferences::settle() {
    if (is_settled()) {
        return;
    }
    Rows gone = take_left();
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
    const Rows gone = take_left();
    std::vector<Lost> lost;
    clear_variables(gone, lost);
    for (const Lost& variable : lost) {
        detail::ObjectComponent& component = *variable.component;
        component.hooks().reference_lost(component, variable.variable, nullptr);
    }
    return false;
}

void StoredReferences::forget_gone() {
    std::erase_if(holders_,
                  [](const NetworkIdentity* object) { return Inside::of(*object).is_gone; });
}

bool StoredReferences::names_any(const Property& variable, const std::byte* value,
                                 const Rows& gone) {
    bool is_any = false;
    visit_references(variable, looked_at(value), [&](const ReferenceOps& ops, void* reference) {
        is_any =
            is_any || std::binary_search(gone.begin(), gone.end(), object_of(ops.get(reference)));
    });
    return is_any;
}

bool StoredReferences::clear(const Property& variable, std::byte* value, const Rows& gone) {
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

StoredReferences::Rows StoredReferences::take_left() {
    Rows gone;
    gone.swap(left_);
    std::sort(gone.begin(), gone.end());
    return gone;
}

void StoredReferences::clear_variables(const Rows& gone, std::vector<Lost>& lost) {
    if (other_values_ != nullptr) {
        other_values_->clear_references(gone);
    }
    for (NetworkIdentity* holder : holders_) {
        clear_variables_of(*holder, gone, lost);
    }
}

void StoredReferences::clear_variables_of(NetworkIdentity& holder, const Rows& gone,
                                          std::vector<Lost>& lost) {
    for (NetworkBehaviour* behaviour : holder.components()) {
        detail::ObjectComponent& component = Inside::of(*behaviour);
        const BehaviourType& type = component.type();
        for (std::uint64_t bits = type.reference_variables; bits != 0; bits &= bits - 1) {
            const auto variable = static_cast<std::uint32_t>(std::countr_zero(bits));
            const Property& property = type.sync_vars[variable].property;
            std::byte* value = component.object() + property.offset;
            if (names_any(property, value, gone)) {
                lost.push_back({&component, variable, ValueCopy(property, value, resource_)});
                (void)clear(property, value, gone);
            }
        }
    }
}

}  // namespace replayout::syncvar
