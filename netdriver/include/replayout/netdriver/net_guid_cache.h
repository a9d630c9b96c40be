// SPDX-License-Identifier: MIT
//
// The identity table of a driver: network ids of objects, and the other way round.
//
// The server assigns ids in the order in which it first meets a handle: as an object that is added,
// or as a reference to one that is not there yet or no longer. An id is never given twice. The
// client only learns: an id is bound to the object that was spawned for it, until that is
// destroyed.
#pragma once

#include <replayout/package_map.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/memory.h>

#include <cstdint>
#include <unordered_map>

namespace replayout {

class NetGUIDCache final : public PackageMap {
  public:
    enum class Authority : std::uint8_t {
        Assigns,  ///< a server
        Learns,   ///< a client
    };

    NetGUIDCache(Authority authority, MemoryResource* resource);

    /// Before the first id.
    void set_authority(Authority authority) noexcept { authority_ = authority; }

    [[nodiscard]] NetGUID guid_of(ObjectHandle object) override;
    [[nodiscard]] ObjectHandle object_of(NetGUID guid) override;

    /// The object behind `guid` is there now. Ids and handles are bound once at a time.
    void bind(NetGUID guid, ObjectHandle object);
    /// It is gone; the id keeps its meaning, and nothing is behind it.
    void unbind(NetGUID guid);

    /// Null when the handle has none; assigns nothing.
    [[nodiscard]] NetGUID find_guid(ObjectHandle object) const noexcept;
    /// What object_of() answers.
    [[nodiscard]] ObjectHandle find_object(NetGUID guid) const noexcept;
    /// The handle that an id was assigned to, bound or not. For a server.
    [[nodiscard]] ObjectHandle find_named(NetGUID guid) const noexcept;

  private:
    // Looked up, never walked: no order of theirs reaches the wire.
    std::pmr::unordered_map<std::uint64_t, std::uint64_t> guids_by_object_;
    std::pmr::unordered_map<std::uint64_t, std::uint64_t> named_by_guid_;
    std::pmr::unordered_map<std::uint64_t, std::uint64_t> objects_by_guid_;
    std::uint64_t last_guid_ = 0;
    Authority authority_;
};

}  // namespace replayout
