// SPDX-License-Identifier: MIT
//
// The memory of a client's objects, which the world owns. While the world is asked for it, the
// world must not call a function.
#pragma once

#include <replayout/netdriver/net_world.h>

#include "actor_channel.h"
#include "scoped_value.h"

namespace replayout {

class ClientWorld {
  public:
    explicit ClientWorld(NetWorld& world) noexcept : world_(world) {}

    [[nodiscard]] bool is_asking() const noexcept { return is_asking_; }
    /// Null: the world has none.
    [[nodiscard]] void* memory_of(ObjectHandle object) {
        const ScopedValue asking(is_asking_, true);
        return world_.object_memory(object);
    }
    /// The memory of an object that is shown. Null, and an error in the log: the world has none.
    [[nodiscard]] void* memory_of(const ActorChannel& channel);
    /// See NetWorld.
    [[nodiscard]] std::uint64_t kept_bytes(ObjectHandle object) {
        const ScopedValue asking(is_asking_, true);
        return world_.kept_bytes(object);
    }

  private:
    NetWorld& world_;
    bool is_asking_ = false;
};

}  // namespace replayout
