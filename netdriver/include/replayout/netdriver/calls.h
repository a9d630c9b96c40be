// SPDX-License-Identifier: MIT
//
// Remote functions as a caller sees them: what became of a call, and when it is sent.
#pragma once

#include <replayout/netdriver/net_object_id.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/type_key.h>
#include <replayout/reflection/value_ops.h>

#include <cstdint>
#include <string_view>

namespace replayout {

/// A call that runs, see NetDriver::current_call().
struct CurrentCall {
    ObjectHandle object;
    NetObjectId id;  ///< the object's; on a client no object, generation 0
    PeerId caller;   ///< who called; 0: this side itself
};

/// What NetDriver::call_function() answers. All but the first three are refusals: nothing ran, and
/// nothing is sent to anybody.
enum class CallResult : std::uint8_t {
    Ran,     ///< here, if it has something to run; nobody else is meant, or is there
    Sent,    ///< goes out with the next tick_flush(), or as soon after it as it may
    Queued,  ///< an unreliable multicast: goes with each receiver's next update of the object
    /// A function of the owner's client, and no client can run it: the object has no owner, its
    /// owner has left, or the object is hidden from the owner. Or a client calls a function of the
    /// server and, as far as it knows, does not own the object.
    NotOwned,
    NoChannel,  ///< of a client: it is not joined, or was not shown the object, or that is dormant
    UnknownFunction,  ///< none of this name
    /// The other end has another version of the object's class, and so runs no function of it
    /// (LayoutPolicy::SkipUnknown). A multicast still runs here, and at clients that have this
    /// version.
    NoSuchVersion,
    ValueOverLimit,   ///< a text, array, map or set beyond its limit, or text that is not UTF-8
    SerializeFailed,  ///< a net_serialize said that it failed
    TooLarge,         ///< the call exceeds NetConfig::call_bytes_max, or all that may wait
    /// Too many calls wait: NetConfig::calls_waiting_max; for reliable calls and calls larger than
    /// a packet reliable_waiting_bytes_max; for a queued call queued_calls_per_function_max at
    /// every receiver. Or a client called too often (NetConfig::calls_per_second_max,
    /// function_calls_per_second_max). Try later.
    Full,
    /// The call itself is wrong: a stale id, parameters of another type, a call at the wrong end,
    /// or from within a notify. The log says what to do.
    Misused,
};

/// Which function a call means: by its key, or by its name if the key is null.
struct CalledFunction {
    std::string_view name;
    TypeKey key{};
};

/// For logs: "sent", "not owned" ...
[[nodiscard]] std::string_view to_string(CallResult result) noexcept;

/// How far the reliable calls of an object are on their way to a client.
enum class CallProgress : std::uint8_t {
    Arrived,   ///< all that were made
    UnderWay,  ///< all were sent, and not all have arrived
    Waiting,   ///< some were not sent yet
};

/// Of an unreliable multicast; every other call is sent as by ForceSend, and so is one larger than
/// a packet, which goes reliably, in order with reliable ones. A queued one stands behind all that
/// are not, its repeats are limited (NetConfig::queued_calls_per_function_max), and the block of
/// its object goes before it in the same packet.
enum class CallSendPolicy : std::uint8_t {
    Default,     ///< queued
    ForceSend,   ///< not queued
    ForceQueue,  ///< queued, also an unreliable function of one client
};

// The names of before, for one version.
using RemoteFunctionCall = CurrentCall;
using RemoteFunctionSendPolicy = CallSendPolicy;

}  // namespace replayout
