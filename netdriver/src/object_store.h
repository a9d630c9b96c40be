// SPDX-License-Identifier: MIT
//
// The objects of a server, in slots that are used again. An object's place decides its channel,
// which is the same for all connections.
#pragma once

#include <replayout/changelist_state.h>
#include <replayout/netdriver/bunch.h>
#include <replayout/netdriver/net_dormancy.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/reflection/memory.h>

#include <cstdint>
#include <unordered_map>

namespace replayout {

/// What an object is to the connections, as far as conditions ask.
struct ObjectFacts {
    PeerId owner;
    bool has_owner = false;
    /// The owner controls it; for everybody else it is simulated.
    bool is_autonomous = false;
    bool has_physics = false;

    friend constexpr bool operator==(const ObjectFacts&, const ObjectFacts&) noexcept = default;
};

/// One replicated object: identity, and what is kept of it once for all connections.
class NetworkObjectInfo {
  public:
    NetworkObjectInfo(const RepLayout& layout, std::uint32_t layout_number, ObjectHandle object,
                      NetGUID guid, MemoryResource* resource)
        : changelist_state_(layout, resource),
          object_(object),
          guid_(guid),
          layout_number_(layout_number) {}

    [[nodiscard]] ChangelistState& changelist_state() noexcept { return changelist_state_; }
    [[nodiscard]] const ChangelistState& changelist_state() const noexcept {
        return changelist_state_;
    }
    [[nodiscard]] ObjectHandle object() const noexcept { return object_; }
    [[nodiscard]] NetGUID guid() const noexcept { return guid_; }
    [[nodiscard]] std::uint32_t layout_number() const noexcept { return layout_number_; }
    [[nodiscard]] const ObjectFacts& facts() const noexcept { return facts_; }
    void set_facts(const ObjectFacts& facts) noexcept { facts_ = facts; }
    [[nodiscard]] NetDormancy dormancy() const noexcept { return dormancy_; }
    void set_dormancy(NetDormancy dormancy) noexcept { dormancy_ = dormancy; }

  private:
    ChangelistState changelist_state_;
    ObjectHandle object_;
    NetGUID guid_;
    std::uint32_t layout_number_;
    ObjectFacts facts_;
    NetDormancy dormancy_ = NetDormancy::Awake;
};

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

    [[nodiscard]] bool contains(NetObjectId id) const noexcept;
    /// Null when the slot is empty.
    [[nodiscard]] NetworkObjectInfo* at(std::uint32_t index) const noexcept {
        return slots_[index].info;
    }

    /// Of the object in a slot that is not empty.
    [[nodiscard]] NetObjectId id_at(std::uint32_t index) const noexcept {
        return {index, slots_[index].generation};
    }

    /// The slot of the object with this id, or no_index.
    [[nodiscard]] std::uint32_t find_index(NetGUID guid) const noexcept;
    static constexpr std::uint32_t no_index = 0xFFFF'FFFF;

    [[nodiscard]] static ChannelIndex channel_of(std::uint32_t index) noexcept {
        return ChannelIndex{index + 1};
    }
    [[nodiscard]] static std::uint32_t index_of(ChannelIndex channel) noexcept {
        return channel.value - 1;
    }

  private:
    struct Slot {
        NetworkObjectInfo* info = nullptr;
        std::uint32_t generation = 0;
    };

    MemoryResource* resource_;
    Vector<Slot> slots_;
    Vector<std::uint32_t> free_indices_;  // last freed first: its memory is warm
    std::pmr::unordered_map<std::uint64_t, std::uint32_t> indices_;  // looked up, never walked
    std::uint32_t object_count_ = 0;
};

}  // namespace replayout
