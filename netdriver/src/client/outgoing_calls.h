// SPDX-License-Identifier: MIT
//
// Remote calls that a client makes: of the server, as often as the rates let it, or of an object
// that it shows, here alone.
#pragma once

#include <replayout/netdriver/call_arguments.h>
#include <replayout/netdriver/calls.h>
#include <replayout/netdriver/net_driver_settings.h>

#include "call_encoder.h"
#include "call_limiter.h"
#include "call_queue.h"
#include "client_environment.h"
#include "layout_table.h"
#include "net_connection.h"
#include "replication_receiver.h"

#include <cstddef>
#include <string_view>

namespace replayout {

class OutgoingCalls {
  public:
    /// `calls` are those that wait or are under way. Without a server none is made.
    OutgoingCalls(const ClientEnvironment& environment, const NetDriverSettings& settings,
                  const LayoutTable& layouts, NetConnection& connection, CallQueue& calls,
                  ReplicationReceiver& receiver, bool has_server);

    /// See NetDriver.
    [[nodiscard]] CallResult call_function(ObjectHandle object, const CalledFunction& function,
                                           const CallArguments& params);
    /// Writes what waits, as far as there is room.
    void send();

  private:
    [[nodiscard]] CallResult encode(const RepLayout& layout, FunctionIndex function,
                                    const void* params);
    void log_not_owned(const ActorChannel& channel, std::string_view function);
    /// Whether the rates let this client call the function now. If not, logs that once for each
    /// function.
    [[nodiscard]] bool may_call(const RepLayout& layout, FunctionIndex function, CallKind kind,
                                std::size_t bytes);

    const ClientEnvironment& environment_;
    const LayoutTable& layouts_;
    NetConnection& connection_;
    CallQueue& calls_;
    ReplicationReceiver& receiver_;
    bool has_server_;
    CallLimiter limiter_;
    Vector<ChannelIndex> waiting_channels_;  // scratch: with a call that waits
    SendScratch scratch_;
    SendContext context_;
    CallEncoder encoder_;
    bool is_encoding_ = false;  // a call: a net_serialize of its parameters may be running
};

}  // namespace replayout
