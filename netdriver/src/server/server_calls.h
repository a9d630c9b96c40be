// SPDX-License-Identifier: MIT
//
// Remote calls that a server makes: run here, or queued for the clients that are to run them.
#pragma once

#include <replayout/netdriver/calls.h>
#include <replayout/netdriver/net_object_id.h>
#include <replayout/reflection/memory.h>
#include <replayout/send_properties.h>

#include <cstdint>
#include <string_view>

#include "call_encoder.h"
#include "call_ids.h"
#include "call_runner.h"
#include "compare_stage.h"
#include "dormancy.h"
#include "relevancy.h"
#include "server_clients.h"
#include "server_log.h"
#include "server_objects.h"

namespace replayout {

class ServerCalls {
  public:
    struct Parts {
        ObjectStore& objects;
        ServerClients& clients;
        CompareStage& compare;
        Dormancy& dormancy;
        Relevancy& relevancy;
    };

    ServerCalls(const ServerEnvironment& environment, const Parts& parts, ServerLog& log);

    /// See NetDriver::call_function(). Requires an object and a function that exist, and parameters
    /// of the function's type.
    [[nodiscard]] CallResult call(NetObjectId id, FunctionIndex function, const void* params,
                                  CallSendPolicy policy);
    /// See NetDriver::call_progress(). Requires an object that exists.
    [[nodiscard]] CallProgress progress(PeerId peer, NetObjectId id) const;
    /// The game called a function that the class lacks. Logs a few lines a second at most.
    [[gnu::cold, gnu::noinline]] void log_unknown_function(const RepLayout& layout,
                                                           std::string_view function);
    /// Runs calls, also those of clients.
    [[nodiscard]] CallRunner& runner() noexcept { return runner_; }

  private:
    /// Null: the world has none.
    [[nodiscard]] void* memory_of(ObjectHandle object);
    /// Whether a call is for this client.
    [[nodiscard]] bool is_called(const ServerClient& client, const RepFunction& function,
                                 ObjectIndex index) const noexcept;
    /// Whether the client has this version of the object's class, as far as the server knows.
    [[nodiscard]] bool may_run(const ServerClient& client, ObjectIndex index) const noexcept;
    [[nodiscard]] CallResult send_to_clients(NetObjectId id, FunctionIndex function,
                                             const void* params, bool is_queued);
    [[nodiscard]] CallResult add_calls(const NewCall& call, const RepFunction& function);
    /// The client has no room for another reliable call. True: it takes calls too slowly, and is
    /// closed. False: there may be room soon.
    [[nodiscard]] bool falls_behind(ServerClient& client);

    const ServerEnvironment& environment_;
    Parts parts_;
    ServerLog& log_;
    // Calls are made at any time, also while a tick uses the scratch of the lanes.
    CallIds ids_;
    Vector<ServerClient*> called_;  // scratch: they have the call that is being made
    SendScratch scratch_;
    SendContext context_;
    CallEncoder encoder_;
    CallRunner runner_;
};

}  // namespace replayout
