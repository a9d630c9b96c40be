// SPDX-License-Identifier: MIT
//
// The objects of a server, in slots that are used again. An object's slot decides its channel,
// which is the same for all connections.
#pragma once

#include <replayout/changelist_state.h>
#include <replayout/netdriver/net_dormancy.h>
#include <replayout/netdriver/net_object_id.h>
#include <replayout/netdriver/net_role.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/memory.h>
#include <replayout/send_properties.h>

#include "destroyed_names.h"
#include "object_index.h"
#include "object_locks.h"
#include "open_bunch.h"
#include "open_message.h"
#include "send_band.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

namespace replayout {

/// What an object is to the connections, as far as conditions ask.
struct ObjectOwnership {
    PeerId owner;
    bool has_owner = false;
    /// The owner controls it; for everybody else it is simulated.
    bool is_autonomous = false;
    /// It is the owner's player object.
    bool is_player = false;
    bool has_physics = false;

    [[nodiscard]] ObjectRole role_of(PeerId peer) const noexcept {
        ObjectRole role;
        role.is_owned = has_owner && owner == peer;
        role.is_player = role.is_owned && is_player;
        role.role =
            role.is_owned && is_autonomous ? NetRole::AutonomousProxy : NetRole::SimulatedProxy;
        return role;
    }

    friend constexpr bool operator==(const ObjectOwnership&,
                                     const ObjectOwnership&) noexcept = default;
};

/// One replicated object: identity, and what is kept of it once for all connections. Aligned, so
/// that what a change needs of it lies in as few lines of memory as can be.
class alignas(64) ServerObject {
    static constexpr std::size_t line_bytes = 64;

  public:
    ServerObject(const RepLayout& layout, std::uint32_t layout_number, ObjectHandle object,
                 NetGUID guid, MemoryResource* resource)
        : object_(object),
          layout_number_(layout_number),
          changelist_state_(layout, resource),
          spawn_record_(resource),
          guid_(guid) {}

    [[nodiscard]] ChangelistState& changelist_state() noexcept { return changelist_state_; }
    [[nodiscard]] const ChangelistState& changelist_state() const noexcept {
        return changelist_state_;
    }
    [[nodiscard]] ObjectHandle object() const noexcept { return object_; }
    [[nodiscard]] NetGUID guid() const noexcept { return guid_; }
    [[nodiscard]] std::uint32_t layout_number() const noexcept { return layout_number_; }
    /// Hints that it is compared in some steps of a walk.
    [[gnu::always_inline]] void prefetch() const noexcept {
        replayout::prefetch(this, line_bytes);
        changelist_state_.prefetch_state();
    }
    /// Hints that what changed of it is laid down in some steps.
    [[gnu::always_inline]] void prefetch_newest() const noexcept {
        replayout::prefetch(this, line_bytes);
        changelist_state_.prefetch_newest_state();
    }
    /// What each open of it says.
    [[nodiscard]] const SpawnRecord& spawn_record() const noexcept { return spawn_record_; }
    /// Its open, as a client gets it that is not the owner and did not keep the object while it was
    /// hidden or dormant. Null: it has no spawn record yet.
    [[nodiscard]] OpenBunch* open_bunch() const noexcept { return open_bunch_.get(); }
    [[nodiscard]] const ObjectOwnership& ownership() const noexcept { return ownership_; }
    [[nodiscard]] NetDormancy dormancy() const noexcept { return dormancy_; }
    void set_dormancy(NetDormancy dormancy) noexcept { dormancy_ = dormancy; }

    /// Nothing: it is nowhere.
    [[nodiscard]] const std::optional<Vector3>& location() const noexcept { return location_; }
    void set_location(const std::optional<Vector3>& location) noexcept { location_ = location; }

    /// The last flush in which a block of it was in a bundle; 0: none (FlushChanges::flush).
    [[nodiscard]] std::uint64_t bundled_flush() const noexcept { return bundled_flush_; }
    /// The version that it brings its receivers to; 0: it was not laid down.
    [[nodiscard]] Version bundled_version() const noexcept { return bundled_version_; }
    void set_bundled(std::uint64_t flush, Version version) noexcept {
        bundled_flush_ = flush;
        bundled_version_ = version;
    }

    // The object that this is a part of, and those that are parts of it: indices, or no_object.
    struct Family {
        ObjectIndex outer = no_object;
        ObjectIndex first = no_object;  ///< of its subobjects
        ObjectIndex last = no_object;
        ObjectIndex next = no_object;  ///< subobject of the same outer
        /// Which connections are to have it, of those that have its outer.
        LifetimeCondition condition = LifetimeCondition::None;
    };
    [[nodiscard]] Family& family() noexcept { return family_; }
    [[nodiscard]] const Family& family() const noexcept { return family_; }
    [[nodiscard]] bool is_subobject() const noexcept { return family_.outer != no_object; }

    /// It goes, as soon as each client has all of it.
    [[nodiscard]] bool is_torn_off() const noexcept { return is_torn_off_; }
    void tear_off() noexcept { is_torn_off_ = true; }
    /// The game removed it; it stays for reliable calls that some clients do not have yet.
    [[nodiscard]] bool is_removed() const noexcept { return is_removed_; }
    void set_removed() noexcept { is_removed_ = true; }
    /// The game is done with it, and nobody calls it.
    [[nodiscard]] bool is_departing() const noexcept { return is_torn_off_ || is_removed_; }
    /// Its handle is the game's again, and its memory is no longer asked for.
    [[nodiscard]] bool is_handed_back() const noexcept { return is_handed_back_; }
    void hand_back() noexcept { is_handed_back_ = true; }

  private:
    friend class ObjectStore;  // what has a trait is set there

    struct ReleaseBunch {
        void operator()(OpenBunch* bunch) const noexcept { bunch->release(); }
    };

    // First what is asked for in each flush in which it changes, together with the front of its
    // state.
    ObjectHandle object_;
    std::uint64_t bundled_flush_ = 0;
    Version bundled_version_ = 0;
    std::uint32_t layout_number_;
    NetDormancy dormancy_ = NetDormancy::Awake;
    bool is_torn_off_ = false;
    bool is_handed_back_ = false;
    bool is_removed_ = false;
    ChangelistState changelist_state_;
    SpawnRecord spawn_record_;
    std::unique_ptr<OpenBunch, ReleaseBunch> open_bunch_;
    NetGUID guid_;
    ObjectOwnership ownership_;
    std::optional<Vector3> location_;
    Family family_;
};

/// Makes what is encoded next count for the layout of this object. `type_counters` by layout
/// number; empty: nobody counts.
inline void count_type_of(const ServerObject& info, std::span<TypeCounters> type_counters,
                          SendContext& context) noexcept {
    if (!type_counters.empty()) {
        context.type_counters = &type_counters[info.layout_number()];
    }
}

class ObjectStore {
  public:
    explicit ObjectStore(MemoryResource* resource);
    ~ObjectStore();
    ObjectStore(const ObjectStore&) = delete;
    ObjectStore& operator=(const ObjectStore&) = delete;

    /// Slots: indices run from 0 to slot_count() - 1, some of them empty.
    [[nodiscard]] std::uint32_t slot_count() const noexcept {
        return static_cast<std::uint32_t>(slots_.size());
    }
    [[nodiscard]] std::uint32_t object_count() const noexcept { return object_count_; }

    [[nodiscard]] NetObjectId add(const RepLayout& layout, std::uint32_t layout_number,
                                  ObjectHandle object, NetGUID guid);
    void remove(NetObjectId id);
    /// Keeps the object, which has another id from now on that nobody has.
    void retire_id(NetObjectId id) noexcept;

    [[nodiscard]] bool contains(NetObjectId id) const noexcept {
        return id.index < slot_count() && slots_[slot_of(id)].generation == id.generation &&
               slots_[slot_of(id)].info != nullptr;
    }
    [[nodiscard]] bool has_slot(ObjectIndex index) const noexcept { return slots_.contains(index); }
    /// Null when the slot is empty.
    [[nodiscard]] ServerObject* at(ObjectIndex index) const noexcept { return slots_[index].info; }

    /// The id of the object in a slot or, if the slot is empty, of the last one that was there.
    [[nodiscard]] NetObjectId id_at(ObjectIndex index) const noexcept {
        return {value_of(index), slots_[index].generation};
    }

    /// LayoutTable::number_of() of the object that is in a slot, or was there last.
    [[nodiscard]] std::uint32_t last_layout_at(ObjectIndex index) const noexcept {
        return last_layouts_[index];
    }

    /// The slot of the object with this id, or no_object.
    [[nodiscard]] ObjectIndex find_index(NetGUID guid) const noexcept;

    /// See SendOrder. Parts have that of the object that they are parts of.
    [[nodiscard]] std::uint32_t band_of(ObjectIndex index) const noexcept { return bands_[index]; }
    /// Of an object that is no part, and of all its parts.
    void set_band(ObjectIndex index, std::uint32_t band) noexcept;

    // What most objects are not, by slot: asked of pairs that come and go, of which nothing else of
    // the object may be near.
    [[nodiscard]] bool is_part(ObjectIndex index) const noexcept {
        return (traits_[index] & part_trait) != 0;
    }
    [[nodiscard]] bool has_parts(ObjectIndex index) const noexcept {
        return (traits_[index] & whole_trait) != 0;
    }
    /// It has a stable name.
    [[nodiscard]] bool is_named(ObjectIndex index) const noexcept {
        return (traits_[index] & name_trait) != 0;
    }
    /// It is no part, has no parts, and no stable name.
    [[nodiscard]] bool is_alone(ObjectIndex index) const noexcept {
        return (traits_[index] & (part_trait | whole_trait | name_trait)) == 0;
    }
    [[nodiscard]] bool has_owner(ObjectIndex index) const noexcept {
        return (traits_[index] & owner_trait) != 0;
    }
    void set_ownership(ObjectIndex index, const ObjectOwnership& ownership) noexcept;
    /// See encode_spawn_record().
    void set_spawn_record(ObjectIndex index, ArchetypeId archetype, NetGUID outer,
                          const SpawnParameters& parameters);
    /// Hints that a connection opens it, or sends what changed of it, in some steps.
    void prefetch_slot(ObjectIndex index) const noexcept {
        replayout::prefetch(&slots_[index], sizeof(Slot));
    }

    /// Makes one object a part of another, the last of its parts so far.
    void attach(ObjectIndex index, ObjectIndex outer) noexcept;
    /// O(subobjects of the outer).
    void detach(ObjectIndex index) noexcept;
    /// The object that this is a part of, at whatever depth; itself, if it is no part.
    [[nodiscard]] ObjectIndex root_of(ObjectIndex index) const noexcept {
        while (is_part(index)) {
            index = at(index)->family().outer;
        }
        return index;
    }

    /// What several connections share of an object is one's at a time; see ObjectLocks.
    [[nodiscard]] ObjectLock lock(ObjectIndex index) const { return locks_.lock(index); }
    void set_shared(bool is_shared) noexcept { locks_.set_shared(is_shared); }
    [[nodiscard]] bool is_shared() const noexcept { return locks_.is_shared(); }

    // Parts with stable names that were destroyed, by the outer that stayed; forgotten with that.
    void add_destroyed_part(ObjectIndex outer, NetGUID part, std::string_view name);
    /// There is such a part again. The number that the name had, or DestroyedNames::no_number.
    std::size_t forget_destroyed_part(ObjectIndex outer, std::string_view name);
    /// Null where there are none.
    [[nodiscard]] const DestroyedNames* destroyed_parts_of(ObjectIndex outer) const noexcept;
    /// Of all outers.
    [[nodiscard]] std::size_t destroyed_part_count() const noexcept {
        return destroyed_part_count_;
    }
    /// Calls `visit(index)` for the object and all parts of it, at any depth, outer before inner;
    /// not for those that were removed and still wait for clients.
    template <typename Visitor>
    void for_each_in_family(ObjectIndex index, Visitor&& visit) const {
        if (!at(index)->is_removed()) {
            for_each_there_is(index, [&](ObjectIndex member) {
                if (!at(member)->is_removed()) {
                    visit(member);
                }
            });
        }
    }
    /// The same, and also for removed objects that still wait for clients.
    template <typename Visitor>
    void for_each_there_is(ObjectIndex index, Visitor&& visit) const {
        visit(index);
        ObjectIndex part = first_part_of(index);
        while (part != no_object) {
            const ObjectIndex next = at(part)->family().next;
            for_each_there_is(part, visit);
            part = next;
        }
    }

    /// Calls `visit(part)` for each part of the object, without theirs.
    template <typename Visitor>
    void for_each_part(ObjectIndex index, Visitor&& visit) const {
        for (ObjectIndex part = first_part_of(index); part != no_object;
             part = at(part)->family().next) {
            visit(part);
        }
    }

    /// Of its parts, or no_object.
    [[nodiscard]] ObjectIndex first_part_of(ObjectIndex index) const noexcept {
        return has_parts(index) ? at(index)->family().first : no_object;
    }

  private:
    struct Slot {
        ServerObject* info = nullptr;
        std::uint32_t generation = 0;
    };

    static constexpr std::uint8_t part_trait = 1;
    static constexpr std::uint8_t whole_trait = 2;
    static constexpr std::uint8_t name_trait = 4;
    static constexpr std::uint8_t owner_trait = 8;

    void set_trait(ObjectIndex index, std::uint8_t trait, bool is_set) noexcept;

    MemoryResource* resource_;

    ByObject<Slot> slots_;
    ByObject<std::uint8_t> bands_;          // asked for pairs, of which there are many
    ByObject<std::uint8_t> traits_;         // asked for pairs as well
    ByObject<std::uint32_t> last_layouts_;  // to name a removed object in refusals
    Vector<ObjectIndex> free_indices_;      // last freed first: its memory is warm
    std::pmr::unordered_map<std::uint64_t, ObjectIndex> indices_;  // looked up, never walked
    std::uint32_t object_count_ = 0;
    FlatMap<ObjectIndex, DestroyedNames> destroyed_parts_;  // by index of the outer; never empty
    std::size_t destroyed_part_count_ = 0;
    mutable ObjectLocks locks_;
};

}  // namespace replayout
