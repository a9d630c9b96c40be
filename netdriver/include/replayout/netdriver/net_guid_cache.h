// SPDX-License-Identifier: MIT
//
// The identity table of a driver: network ids of objects, and the other way round.
//
// The server assigns ids in the order in which it first meets a handle: as an object that is added,
// or as a reference to one that is not there yet or no longer. An id is never given twice; that of
// an object that was removed is forgotten, so that a world in which objects come and go does not
// grow. A handle that the game moves to another place after that is met anew, and its new id stays.
// The one exception: what a serializer of the embedder asked for by handle, and may ask for
// again as long as the handle stands in a value, keeps its id until the handle is added again. The
// client only learns: an id is bound to the object that was spawned for it, until that is
// destroyed.
#pragma once

#include <replayout/netdriver/forgotten_handles.h>
#include <replayout/package_map.h>
#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/hash.h>
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

    /// `secret` is of the tables whose keys a server gives its client: a number that it should not
    /// guess.
    NetGUIDCache(Authority authority, std::uint64_t secret, MemoryResource* resource);

    /// For other tables with such keys.
    [[nodiscard]] const SecretHash& hash() const noexcept { return hash_; }

    /// Before the first id.
    void set_authority(Authority authority);

    /// Before the first id: find_named() answers for what was forgotten, too.
    void set_keeps_names(bool keeps_names) noexcept { keeps_names_ = keeps_names; }

    /// As serializers ask: the id is kept when the object is gone, because who writes the same
    /// value for another receiver must write the same bits.
    [[nodiscard]] NetGUID guid_of(ObjectHandle object) override;
    /// As the driver asks, which keeps the answer where it keeps the handle.
    [[nodiscard]] NetGUID assign(ObjectHandle object);
    [[nodiscard]] ObjectHandle object_of(NetGUID guid) override;
    [[nodiscard]] std::uint64_t binding_count() const noexcept override { return binding_count_; }
    /// Thread-safe against other calls of const functions. Notes that a value holds the handle.
    [[nodiscard]] bool is_current(NetGUID guid, ObjectHandle object) const noexcept override;
    /// For an object that is added: the id that references gave to its handle, or a new one if
    /// another object had that. Null: another object that is still bound has the handle.
    [[nodiscard]] NetGUID assign_to_new(ObjectHandle object);

    /// The object behind `guid` is there now. Ids and handles are bound once at a time.
    void bind(NetGUID guid, ObjectHandle object);
    /// It is gone, and nothing is behind the id any more.
    void unbind(NetGUID guid);

    /// Null when the handle has none; assigns nothing.
    [[nodiscard]] NetGUID find_guid(ObjectHandle object) const noexcept;
    /// What object_of() answers.
    [[nodiscard]] ObjectHandle find_object(NetGUID guid) const noexcept;
    /// The handle that an id was assigned to, bound or not; null once it is forgotten. For a
    /// server.
    [[nodiscard]] ObjectHandle find_named(NetGUID guid) const noexcept;

  private:
    // Keys of a server's tables are chosen by the server and its game, so a cheap hash is enough,
    // and the cost of a look-up does not depend on a secret. Keys of a client are chosen by its
    // peer.
    class TableHash {
      public:
        TableHash(Authority authority, const SecretHash& secret) noexcept
            : secret_(secret), is_secret_(authority == Authority::Learns) {}

        [[nodiscard]] std::size_t operator()(std::uint64_t key) const noexcept {
            return is_secret_ ? secret_(key) : spread(key);
        }

      private:
        /// Handles may be addresses, and a table may take the low bits.
        [[nodiscard]] static std::size_t spread(std::uint64_t key) noexcept {
            constexpr std::uint64_t golden_ratio = 0x9E37'79B9'7F4A'7C15;
            return static_cast<std::size_t>((key * golden_ratio) >> 32);
        }

        SecretHash secret_;
        bool is_secret_;
    };

    /// Notes that the handle's id is forgotten while values may still hold both.
    void forget(ObjectHandle object);

    // Looked up, never walked: no order of theirs reaches the wire.
    struct Entry {
        std::uint64_t guid = 0;
        bool is_kept = false;  // when the object goes
        bool was_bound = false;
    };
    SecretHash hash_;
    std::pmr::unordered_map<std::uint64_t, Entry, TableHash> guids_by_object_;
    std::pmr::unordered_map<std::uint64_t, std::uint64_t> named_by_guid_;  // a server's alone
    std::pmr::unordered_map<std::uint64_t, std::uint64_t, TableHash> objects_by_guid_;
    std::uint64_t last_guid_ = 0;
    std::uint64_t binding_count_ = 0;
    mutable ForgottenHandles forgotten_;  // is_current() keeps the handles that values still hold
    Authority authority_;
    bool keeps_names_ = false;
};

}  // namespace replayout
