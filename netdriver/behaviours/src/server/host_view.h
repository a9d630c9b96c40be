// SPDX-License-Identifier: MIT
//
// Host mode: this process plays, too, and shows the objects of the server themselves. They learn
// here what a client's copies are told by messages: that they are visible, that their client
// starts and stops, and what they are to it. Calls for clients of an object that is not started
// there yet are kept, and run once it is (host_calls.h).
#pragma once

#include <replayout/behaviours/network_server.h>

#include "host_calls.h"

namespace replayout {

class NetworkServer::HostView {
  public:
    explicit HostView(detail::ServerParts& parts) : parts_(parts) {}
    HostView(const HostView&) = delete;
    HostView& operator=(const HostView&) = delete;

    /// The process plays, with this connection.
    void begin(NetworkConnection& host);
    /// It no longer does: objects whose client started are told that it stops.
    void end();
    /// With each late_update(): shows what changed, and runs the kept calls.
    void update();
    /// A call for clients reaches the host. Returns whether it runs now. A call that must wait
    /// until the object is started there is kept.
    [[nodiscard]] bool hears(NetworkIdentity& object, const Function& function, const void* values,
                             void* place);
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

    detail::ServerParts& parts_;
    HostCalls calls_;
};

}  // namespace replayout
