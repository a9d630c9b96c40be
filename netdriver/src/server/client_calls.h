// SPDX-License-Identifier: MIT
//
// Remote calls of a server's clients: received, checked, and run as far as the work of a packet
// allows. The rest runs with the dispatches that follow, in order.
#pragma once

#include <replayout/netdriver/close_reason.h>
#include <replayout/netdriver/time.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "call_runner.h"
#include "call_work.h"
#include "incoming_calls.h"
#include "server_clients.h"
#include "server_environment.h"
#include "server_log.h"
#include "server_objects.h"

namespace replayout {

class ClientCalls {
  public:
    ClientCalls(const ServerEnvironment& environment, const ServerObjects& objects,
                ServerClients& clients, CallRunner& runner, ServerLog& log) noexcept
        : environment_(environment),
          objects_(objects.store),
          clients_(clients),
          runner_(runner),
          log_(log) {}

    /// A bunch on an object's channel. Anything but None ends the connection.
    [[nodiscard]] CloseReason receive(ServerClient& client, const BunchHeader& header,
                                      std::span<const std::byte> payload);
    /// Runs what a client's packet brought. Anything but None ends the connection.
    [[nodiscard]] CloseReason run(ServerClient& client);
    /// Returns whether calls have waited for so long beside expensive acks that they run at the end
    /// of this dispatch: what comes before is lost, and comes again.
    [[nodiscard]] bool have_waited_long(const ServerClient& client) const noexcept {
        return client.due_calls.were_put_off &&
               dispatch_ - client.due_calls.waits_since >= dispatches_waiting_max;
    }
    /// After all that a dispatch receives: runs calls for which their packet had no room left,
    /// unless a packet of that client tried to in this dispatch and they have not waited for long.
    void run_put_off(NetTime now);

  private:
    /// If every dispatch brings a packet whose acks leave no room for a call, the call runs after
    /// this many dispatches all the same, in place of what the next one brings.
    static constexpr std::uint64_t dispatches_waiting_max = 16;

    void run_put_off_of(ServerClient& client, NetTime now);
    /// Nothing: there is no room left for the call, and it is still to run.
    [[nodiscard]] std::optional<CloseReason> run_call(ServerClient& client, const DueCall& call,
                                                      CallWork& work);
    /// A call of a client is dropped, and counted in `count`. Anything but None: once too often.
    [[nodiscard]] CloseReason strike(ServerClient& client, std::uint64_t& count);

    const ServerEnvironment& environment_;
    const ObjectStore& objects_;
    ServerClients& clients_;
    CallRunner& runner_;
    ServerLog& log_;
    bool has_put_off_calls_ = false;  // of any client, or a moment ago
    std::uint64_t dispatch_ = 1;
};

}  // namespace replayout
