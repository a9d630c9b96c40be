// SPDX-License-Identifier: MIT
//
// Host mode: which objects are to be looked at anew for this process's own connection. Something
// changed that decides whether it sees them, or what it is to them. The next late_update() looks
// (host_view.h).
#pragma once

#include <replayout/behaviours/network_server.h>

#include <utility>
#include <vector>

#include "inside.h"
#include "server_objects.h"

namespace replayout {

class NetworkServer::HostQueue {
  public:
    HostQueue() = default;
    HostQueue(const HostQueue&) = delete;
    HostQueue& operator=(const HostQueue&) = delete;

    /// The connection of this process. Null: it does not play.
    [[nodiscard]] NetworkConnection* host() const noexcept { return host_; }
    void begin(NetworkConnection& host);
    /// Forgets the host, and what was to be looked at for it.
    void end();

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
    /// The objects to look at now, in order of their net ids. Objects that are added while the
    /// caller looks at them wait for the next time.
    [[nodiscard]] std::vector<NetworkIdentity*> take(const Objects& objects);
    /// Gives the memory of `looked_at` back, if nothing was added meanwhile.
    void recycle(std::vector<NetworkIdentity*> looked_at);
    /// Forgets the objects that are gone. Call it before they are freed.
    void forget_gone() { detail::erase_gone(queue_); }

  private:
    NetworkConnection* host_ = nullptr;
    std::vector<NetworkIdentity*> queue_;
    bool are_all_queued_ = false;
};

}  // namespace replayout
