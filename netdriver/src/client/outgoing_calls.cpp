// SPDX-License-Identifier: MIT
#include "outgoing_calls.h"

#include "call_refusals.h"
#include "scoped_value.h"

#include <algorithm>
#include <string>

namespace replayout {

OutgoingCalls::OutgoingCalls(const ClientEnvironment& environment,
                             const NetDriverSettings& settings, const LayoutTable& layouts,
                             NetConnection& connection, CallQueue& calls,
                             ReplicationReceiver& receiver, bool has_server)
    : environment_(environment),
      layouts_(layouts),
      connection_(connection),
      calls_(calls),
      receiver_(receiver),
      has_server_(has_server),
      limiter_(settings.config, CallLimiter::Side::Client, environment.now,
               &environment.memory.in_flight),
      waiting_channels_(Allocator<ChannelIndex>(&environment.memory.scratch)),
      scratch_(&environment.memory.scratch),
      context_{environment.guids, environment.stats.replication, scratch_, settings.sharing,
               nullptr,           settings.is_validating},
      encoder_(ReceiveLimits::of_client(settings.config), &environment.memory.scratch) {}

CallResult OutgoingCalls::call_function(ObjectHandle object, const CalledFunction& function,
                                        const CallArguments& params) {
    REPLAYOUT_EXPECT(!is_encoding_, CallResult::Misused,
                     "call_function: called from within a net_serialize of parameters; do it after "
                     "that call");
    REPLAYOUT_EXPECT(!receiver_.world().is_asking(), CallResult::Misused,
                     "call_function: called from within object_memory() of the world; do it after "
                     "that call");
    ChannelIndex index;
    const ActorChannel* channel = receiver_.channels().find_open(object, index);
    if (channel == nullptr || connection_.state() != ConnectionState::Joined) {
        return CallResult::NoChannel;
    }
    if (!has_server_) {
        return CallResult::NoChannel;  // nobody is there to run it
    }
    const RepLayout& layout = *channel->local;
    const std::optional<FunctionIndex> found = find_called(layout, function);
    if (!found.has_value()) {
        environment_.log(LogLevel::Warning, unknown_function(layout, function.name).c_str());
        return CallResult::UnknownFunction;
    }
    REPLAYOUT_EXPECT(is_callable(layout, *found, params), CallResult::Misused, "%s",
                     uncallable(layout, *found, params).c_str());
    const RepFunction& called = layout.functions()[found->value];
    if (!called.runs_on_server()) {
        void* const memory = receiver_.world().memory_of(object);
        REPLAYOUT_EXPECT(
            memory != nullptr || !called.function->thunk, CallResult::Misused,
            "call_function: \"%s\" of object %llu, a \"%s\": object_memory() of the "
            "world is null for handle %llu: let the driver despawn an object before "
            "its memory goes",
            called.function->name.c_str(), static_cast<unsigned long long>(channel->guid.value),
            std::string(layout.name()).c_str(), static_cast<unsigned long long>(object.value));
        receiver_.calls().run_here(called, object, memory, params.memory());
        return CallResult::Ran;
    }
    if (channel->layout != channel->local) {
        return CallResult::NoSuchVersion;
    }
    if (!channel->role.is_owned) {
        log_not_owned(*channel, called.function->name);
        return CallResult::NotOwned;
    }
    const bool is_reliable = called.has(FunctionFlags::Reliable);
    const CallResult result = encode(layout, *found, params.memory());
    if (result != CallResult::Sent) {
        return result;
    }
    const std::size_t bytes = encoder_.bytes().size();
    const CallKind kind = call_kind_of(is_reliable, called.has(FunctionFlags::Update));
    // Updates leave half of what may be under way to all other calls.
    const bool has_room = kind == CallKind::Update ? calls_.has_room_for_update(bytes)
                                                   : calls_.has_room_for(is_reliable, bytes);
    if (!has_room || !may_call(layout, *found, kind, bytes)) {
        return CallResult::Full;
    }
    (void)calls_.add(index, *found, is_reliable, encoder_.bytes());
    return CallResult::Sent;
}

void OutgoingCalls::log_not_owned(const ActorChannel& channel, std::string_view function) {
    environment_.log_printable(
        LogLevel::Warning,
        "a call of \"" + std::string(function) + "\" of object " +
            std::to_string(channel.guid.value) + ", of class \"" +
            std::string(channel.local->name()) +
            "\", is not made: this client does not own it, and a server runs the calls of an "
            "object's owner alone: the server makes it this client's, with NetDriver::set_owner(), "
            "or "
            "assign_client_authority() in Unity's words");
}

bool OutgoingCalls::may_call(const RepLayout& layout, FunctionIndex function, CallKind kind,
                             std::size_t bytes) {
    const std::uint32_t number = layouts_.number_of(layout);
    if (limiter_.take(number, function, kind, bytes, connection_.now())) {
        return true;
    }
    if (kind != CallKind::Update &&
        limiter_.note_refused(number, function, kind, connection_.now())) {
        environment_.peer_log.write(
            LogLevel::Warning, {},
            "calls of \"" + std::string(layout.name()) + "." +
                std::string(layout.functions()[function.value].function->name) +
                "\" are refused: they are more than "
                "NetConfig::function_calls_per_second_max, or all calls are more than "
                "calls_per_second_max",
            connection_.now());
    }
    return false;
}

CallResult OutgoingCalls::encode(const RepLayout& layout, FunctionIndex function,
                                 const void* params) {
    const ScopedValue encoding(is_encoding_, true);
    const CallResult result =
        encoder_.set(layout, function, params, environment_.guids, context_.counters);
    return result == CallResult::Sent ? encoder_.write(context_) : result;
}

void OutgoingCalls::send() {
    PacketStream& packets = connection_.packets();
    waiting_channels_.clear();
    for (auto call = calls_.calls().begin(); call != calls_.calls().end();) {
        const bool is_behind = std::find(waiting_channels_.begin(), waiting_channels_.end(),
                                         call->channel) != waiting_channels_.end();
        if (call->is_in_flight || is_behind) {
            ++call;
            continue;
        }
        if (call->is_in_parts() && !packets.write_parts_ahead(calls_, *call)) {
            waiting_channels_.push_back(call->channel);
            ++call;
            continue;
        }
        if (!packets.can_write()) {
            return;
        }
        const std::optional<CallPart> part = calls_.next_part(*call);
        if (!part.has_value()) {
            ++call;
        } else if (packets.write_call(*part)) {
            call = calls_.sent(call);
        } else {
            packets.flush_full();  // and again, into an empty one
        }
    }
}

}  // namespace replayout
