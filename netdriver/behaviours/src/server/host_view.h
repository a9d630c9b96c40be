// SPDX-License-Identifier: MIT
//
// Host mode: this process plays, too, and shows the objects of the server themselves. They learn
// here what a client's copies are told by messages: that they are visible, that their client
// starts and stops, and what they are to it. Calls for clients of an object that is not started
// there yet are kept. They run after on_start_client(), as calls of other clients do, with the next
// late_update(). Where their parameters name an object that was unspawned meanwhile, the call finds
// null.
#pragma once

#include <replayout/behaviours/network_server.h>
#include <replayout/reflection/memory.h>
#include <replayout/reflection/type.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "inside.h"
#include "part_of.h"

namespace replayout {

class NetworkServer::HostView : detail::PartOf<detail::ServerParts> {
  public:
    using PartOf::PartOf;

    /// The process plays, with this connection.
    void begin(NetworkConnection& host);
    /// It no longer does: objects whose client started are told that it stops.
    void end();
    /// The connection of this process. Null: it does not play.
    [[nodiscard]] NetworkConnection* host() const noexcept { return host_; }

    /// What the host sees of the object may have changed.
    void add(NetworkIdentity& object) {
        if (host_ != nullptr && !std::exchange(detail::Inside::of(object).host.is_queued, true)) {
            queue_.push_back(&object);
        }
    }
    /// Something changed that decides which objects `connection` sees. If it is the host's, all
    /// spawned objects are to be looked at.
    void connection_changed(const NetworkConnection& connection) noexcept {
        are_all_queued_ = are_all_queued_ || connection.is_host_;
    }
    /// Forgets the objects that are gone. Call it before they are freed.
    void forget_gone() { detail::erase_gone(queue_); }

    /// With each late_update(): shows what changed, and runs the kept calls.
    void update();
    /// A call for clients reaches the host. Returns whether it runs now. A call that must wait
    /// until the object is started there is kept.
    [[nodiscard]] bool hears(NetworkIdentity& object, const Function& function, const void* values,
                             void* path);
    [[nodiscard]] bool keeps_calls() const noexcept { return !calls_.empty(); }
    /// The object was spawned.
    void object_spawned(NetworkIdentity& object) noexcept;
    /// The object is about to be unspawned: runs the kept calls of it, and stops its client.
    void stop(NetworkIdentity& object);
    /// The object was unspawned.
    static void forget(NetworkIdentity& object) noexcept;

  private:
    [[nodiscard]] bool keeps_calls_of(const NetworkIdentity& object) const noexcept;
    void show(NetworkIdentity& object);
    /// Runs the kept calls: those of `object`, or all if it is null.
    void run_calls(const NetworkIdentity* object);

    /// A kept call.
    struct KeptCall {
        struct FreeValues {
            const Type* type;
            MemoryResource* resource;

            void operator()(void* kept) const noexcept {
                type->ops().destroy(kept);
                resource->deallocate(kept, type->size(), type->alignment());
            }
        };
        NetworkIdentity* object;
        std::uint64_t net_id;  ///< of the object, when it was called
        void* path;
        std::unique_ptr<void, FreeValues> values;  ///< null: the function has no parameters
    };
    NetworkConnection* host_ = nullptr;
    std::vector<NetworkIdentity*> queue_;  // to be looked at
    bool are_all_queued_ = false;
    std::deque<KeptCall> calls_;
};

}  // namespace replayout
