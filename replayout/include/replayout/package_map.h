// SPDX-License-Identifier: MIT
//
// The one question the layout engine has about identity: which network id belongs to which object.
// The net driver answers it; so may anybody who uses the layouts with a transport of his own.
#pragma once

#include <replayout/net_guid.h>
#include <replayout/reflection/value_ops.h>

#include <cstdint>

namespace replayout {

/// Object <-> NetGUID. Answers must not depend on the connection: shared pieces carry them.
class PackageMap {
  public:
    virtual ~PackageMap() = default;

    /// The id of `object`. The side that assigns ids (the server) gives one to every non-null
    /// handle, also to an object that is not yet or no longer alive; the other side answers null
    /// for an object that has none. Null for null.
    [[nodiscard]] virtual NetGUID guid_of(ObjectHandle object) = 0;

    /// The living object with this id, or null: not mapped (yet, or any more).
    [[nodiscard]] virtual ObjectHandle object_of(NetGUID guid) = 0;

    // Where handles are used again, such as addresses of a pool, a value may hold the same handle
    // as before and mean another object. Who never uses one again need not answer.

    /// Grows when a handle that a value may hold is given to another object. May grow at other
    /// times. While it stays the same, no value needs is_current().
    [[nodiscard]] virtual std::uint64_t binding_count() const noexcept { return 0; }
    /// Whether `guid`, once given to this handle, still names what the handle does: no object was
    /// given the handle since under another id. Two ids of nothing name the same.
    [[nodiscard]] virtual bool is_current(NetGUID guid, ObjectHandle object) const noexcept {
        (void)guid;
        (void)object;
        return true;
    }
};

/// What one receiver has. Asked by a NetSerializer that writes something else while the receiver
/// lacks an object (NetArchive::receiver_has); never by a shared one.
class ReceiverIds {
  public:
    virtual ~ReceiverIds() = default;

    /// Whether the receiver is known to have the object with this id. Once the answer turns true,
    /// the values that were sent without it are owed again; see BlockFindings::unmapped.
    [[nodiscard]] virtual bool is_mapped(NetGUID guid) const = 0;
};

}  // namespace replayout
