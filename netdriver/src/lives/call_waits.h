// SPDX-License-Identifier: MIT
//
// Reliable calls that keep an object at a client: the game removed the object, or hid it from the
// client, while the calls were on their way. What the calls mean is in the shadow, so an object
// that was called since it was compared is compared once more before that.
#pragma once

#include <span>

#include "leaving_channels.h"
#include "server_clients.h"
#include "server_objects.h"

namespace replayout {

class CallWaits {
  public:
    CallWaits(const ServerEnvironment& environment, ServerObjects& objects, ServerClients& clients,
              ServerLog& log);
    CallWaits(const CallWaits&) = delete;
    CallWaits& operator=(const CallWaits&) = delete;

    /// Whether reliable calls of the object, or of a part of it, are on their way to the client.
    [[nodiscard]] bool is_family_called(const ReplicationSender& sender, ObjectIndex index) const;
    /// The object is about to be removed.
    void compare_before_departure(ObjectIndex index);
    /// The object is about to be hidden from one client, and stays at others.
    void compare_before_hiding(ObjectIndex index);
    /// Logs, once for each object, that calls were dropped because the wait was over.
    void note_dropped(const ServerClient& client,
                      std::span<const LeavingChannels::DroppedCalls> dropped);

    /// Some client waits for calls of an object that leaves.
    void note_leaving() noexcept { is_any_leaving_ = true; }
    /// Whether there may be such a client. Clears the note: the caller looks, and notes it anew.
    [[nodiscard]] bool take_leaving() noexcept {
        const bool is_any = is_any_leaving_;
        is_any_leaving_ = false;
        return is_any;
    }

  private:
    const ServerEnvironment& environment_;
    ServerObjects& all_;
    ObjectStore& objects_;
    ServerClients& clients_;
    ServerLog& log_;
    BitRow logged_;  // objects whose dropped calls were logged
    bool is_any_leaving_ = false;
};

}  // namespace replayout
