// SPDX-License-Identifier: MIT
//
// The objects of one end, and the references that their SyncVars hold. Each becomes null when its
// object goes, so that none outlives it. A client's driver sets to null what it received. All else
// is found here: what this end assigned, what sections brought, and what a hook left as it was.
//
//     note(value)           the objects that the value names are marked as named
//     object_left(object)   a named object is not spawned any longer, or was destroyed
//     settle()              one look at every object with such variables sets them to null, and
//                           then hooks run; nothing where no named object left
//
// settle() comes before the values are sent, before hooks and start callbacks that waited, and
// before what is gone is freed. Until then the memory of the object stays.
//
// Rejected: an index from each object to the variables that name it. It must follow every write of
// the driver, and costs an allocation for each assignment.
#pragma once

#include <replayout/behaviours/network_identity.h>
#include <replayout/reflection/memory.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <replayout/reflection/value_copy.h>

#include "inside.h"

namespace replayout {

class StoredReferences {
  public:
    /// In ascending order.
    using Identities = std::vector<const NetworkIdentity*>;

    /// Values beside SyncVars that name objects, too.
    class OtherValues {
      public:
        /// Sets to null what names one of these objects.
        virtual void clear_references(const Identities& gone) = 0;

      protected:
        OtherValues() = default;
        ~OtherValues() = default;
    };

    /// `other_values` is null on a server.
    StoredReferences(OtherValues* other_values, MemoryResource* resource)
        : other_values_(other_values), resource_(resource) {}
    StoredReferences(const StoredReferences&) = delete;
    StoredReferences& operator=(const StoredReferences&) = delete;

    /// A new object, not spawned. Its SyncVars are looked at from now on.
    [[nodiscard]] NetworkIdentity& make(const NetworkPrefab& prefab);
    /// The same for an object of the scene, see add_scene_object() of the server and the client.
    [[nodiscard]] NetworkIdentity& make_of_scene(const NetworkPrefab& prefab,
                                                 std::uint64_t scene_id);
    /// Whether this end made the object, and still has it. Does not read it.
    [[nodiscard]] bool contains(const NetworkIdentity* object) const noexcept {
        return objects_.contains(object);
    }
    /// The object is destroyed. It keeps its memory until free_gone(), as callbacks and calls may
    /// still name it.
    void destroy(NetworkIdentity& object);
    /// Objects were destroyed, and are not freed yet.
    [[nodiscard]] bool has_gone() const noexcept { return has_gone_; }
    /// Frees them. Nothing names them, see settle_all(), and no list holds one of them.
    void free_gone();
    /// The end goes before its objects: they count as not spawned, so a destructor of the game that
    /// assigns a SyncVar marks nothing, and runs no hook.
    void disown_all() noexcept;

    /// Whether the value names an object that this end does not have: nobody would tell this end
    /// that the object is gone.
    [[nodiscard]] bool names_any_foreign(const Property& variable, const std::byte* value) const;
    /// The value of a SyncVar, or a copy of one, was not written by the driver.
    void note(const Property& variable, const std::byte* value);
    /// The driver no longer follows what the object holds.
    void note_all(NetworkIdentity& holder);
    /// Sets to null what the value names of this end's objects that are not spawned.
    void clear_unspawned(const Type& type, std::byte* value) const;
    /// Sets all references that the object holds to null. No hook runs.
    static void clear_all(NetworkIdentity& holder);
    /// The object is not spawned any longer, or was destroyed.
    void object_left(NetworkIdentity& object);
    /// While it lives, a variable is about to be written, and hooks may run before that. An object
    /// that leaves meanwhile may be the one that the variable is going to name.
    class ChangeScope {
      public:
        explicit ChangeScope(StoredReferences* references) noexcept : references_(references) {
            if (references_ != nullptr) {
                ++references_->changes_;
            }
        }
        ~ChangeScope() {
            if (references_ != nullptr) {
                --references_->changes_;
            }
        }
        ChangeScope(const ChangeScope&) = delete;
        ChangeScope& operator=(const ChangeScope&) = delete;

      private:
        StoredReferences* references_;
    };
    /// Whether an object left, and is still named.
    [[nodiscard]] bool is_settled() const noexcept { return left_.empty(); }
    /// The same of the objects that the value names.
    [[nodiscard]] bool names_any_left(const Property& variable, const std::byte* value) const;
    [[nodiscard]] bool has_left(const NetworkIdentity& object) const noexcept;
    /// Sets to null what names an object that left, and runs hooks.
    void settle();
    /// How often settle_all() runs the hooks.
    static constexpr std::uint32_t rounds_max = 1'000;
    /// For the log, where settle_all() answers false.
    static constexpr const char* endless_hooks =
        "hooks of references made another object leave 1,000 times in one update: the last "
        "variables that named one became null without a hook";
    /// As settle(), also for the objects that leave while its hooks run. After that, no variable
    /// names an object that left. False: hooks made objects leave in each of `rounds_max` rounds,
    /// and the last variables became null without a hook.
    [[nodiscard]] bool settle_all();

    /// Sets the references of the value to null that name one of these objects. True: there were
    /// any.
    [[nodiscard]] static bool clear(const Property& variable, std::byte* value,
                                    const Identities& gone);

  private:
    /// A SyncVar that became null.
    struct Lost {
        detail::ObjectComponent* component = nullptr;
        std::uint32_t variable = 0;
        ValueCopy previous;
    };

    void clear_variables(const Identities& gone, std::vector<Lost>& lost);

    /// Those that left, sorted; none has left then.
    [[nodiscard]] Identities take_left();

    // All of this end, spawned or not, with those that are destroyed and not freed yet.
    std::map<const NetworkIdentity*, std::unique_ptr<NetworkIdentity>> objects_;
    OtherValues* other_values_;
    MemoryResource* resource_;
    std::vector<NetworkIdentity*> holders_;
    Identities left_;
    std::uint32_t changes_ = 0;  // that are about to be written
    bool has_gone_ = false;
};

}  // namespace replayout
