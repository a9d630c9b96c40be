// SPDX-License-Identifier: MIT
//
// The one question the layout engine has about identity: which network id belongs to which object.
// The net driver answers it; so may anybody who uses the layouts with a transport of his own.
#pragma once

#include <replayout/net_guid.h>
#include <replayout/reflection/value_ops.h>

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
};

/// What one receiver has. Asked by a NetSerializer that writes something else while the receiver
/// lacks an object (NetArchive::receiver_has); never by a shared one.
class ReceiverIds {
  public:
    virtual ~ReceiverIds() = default;

    /// Whether the receiver is known to have the object with this id. Once the answer turns true,
    /// the values that were sent without it are owed again; see SendScratch::unmapped.
    [[nodiscard]] virtual bool is_mapped(NetGUID guid) const = 0;
};

}  // namespace replayout
