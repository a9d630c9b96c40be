// SPDX-License-Identifier: MIT
#include "replication_receiver.h"

#include <replayout/reflection/hash.h>

#include "message_budget.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace replayout {

ReplicationReceiver::ReplicationReceiver(const NetConfig& config, const NetTime& now,
                                         const SessionLayouts& layouts, NetWorld& world,
                                         NetGUIDCache& guids, NetStats& stats,
                                         RemoteFunctionSender& outgoing_calls, MemoryMeters& memory,
                                         const SpawnHandlers& handlers, bool& is_calling_out,
                                         PeerId server, PeerLog& peer_log)
    : config_(config),
      layouts_(layouts),
      world_(world),
      handlers_(handlers),
      guids_(guids),
      stats_(stats),
      resource_(&memory.channels),
      channels_(Allocator<ActorChannel*>(resource_)),
      channels_by_guid_(0, guids.hash(), {}, resource_),
      channels_by_name_(0, guids.hash(), {}, resource_),
      mentions_(guids.hash(), resource_),
      parts_(guids.hash(), resource_),
      awaiting_(guids.hash(), resource_),
      named_parts_(0, guids.hash(), {}, resource_),
      ready_(Allocator<std::uint32_t>(resource_)),
      family_(Allocator<std::uint32_t>(resource_)),
      scratch_(&memory.scratch),
      waiting_channels_(Allocator<std::uint32_t>(&memory.scratch)),
      named_(Allocator<NetGUID>(&memory.scratch)),
      dropped_(Allocator<NetGUID>(&memory.scratch)),
      outgoing_calls_(outgoing_calls),
      calls_(ReceiveLimits::of_server(config), now, nullptr, config.channels_max, resource_),
      kept_calls_(ReceiveLimits::of_server(config), now, resource_),
      is_calling_out_(is_calling_out),
      call_runner_(config, guids, stats, memory, is_calling_out, peer_log, now),
      server_(server),
      now_(now),
      peer_log_(peer_log) {}

ReplicationReceiver::~ReplicationReceiver() {
    for (ActorChannel* channel : channels_) {
        if (channel != nullptr) {
            std::destroy_at(channel);
            resource_->deallocate(channel, sizeof(ActorChannel), alignof(ActorChannel));
        }
    }
}

CloseReason ReplicationReceiver::receive_bunch(const BunchHeader& header,
                                               std::span<const std::byte> payload,
                                               ReliableAccount& account, DecodeBudget& budget) {
    const std::uint32_t index = header.channel.value;
    refused_place_ = ClosePlace();
    if (index > config_.channels_max) {
        return CloseReason::TooManyChannels;
    }
    if (header.is_call) {
        return receive_call(header, payload);
    }
    if (index >= channels_.size()) {
        channels_.resize(index + 1, nullptr);
    }
    if (channels_[index] == nullptr) {
        void* memory = resource_->allocate(sizeof(ActorChannel), alignof(ActorChannel));
        channels_[index] = ::new (memory) ActorChannel(account, resource_);
    }
    current_channel_ = index;
    budget_ = &budget;
    if (header.is_open && channels_[index]->is_carried_over) {
        leave_to_another(index, payload);
    }
    if (header.is_close && !channels_[index]->is_open()) {
        // Ahead of its open. If that waits for an outer it need not any more.
        channels_[index]->is_closing = true;
        ready_.push_back(index);
    }
    CloseReason reason = channels_[index]->receiver.receive(header, payload, *this);
    // One after the other, not each inside of the one before: a chain of them may be long.
    while (reason == CloseReason::None && !ready_.empty()) {
        current_channel_ = ready_.back();
        ready_.pop_back();
        reason = channels_[current_channel_]->receiver.retry(*this);
    }
    ready_.clear();
    budget_ = nullptr;
    if (reason != CloseReason::None) {
        note_refusal(current_channel_);
    }
    return reason;
}

bool ReplicationReceiver::is_stuck_since(const ReliableAccount& account, NetTime time) const {
    const auto is_stuck = [time](const ActorChannel* channel) {
        return channel != nullptr && channel->receiver.is_stuck_since(time);
    };
    return (!account.is_empty() && std::any_of(channels_.begin(), channels_.end(), is_stuck)) ||
           calls_.is_stuck_since(time);
}

bool ReplicationReceiver::must_wait(const BunchHeader& header, std::span<const std::byte> payload) {
    ActorChannel& channel = *channels_[current_channel_];
    OpenMessage open;
    if (!header.is_open || channel.is_open() || channel.is_closing ||
        channel.state == ActorChannel::State::Dormant || !read_open(payload, open) ||
        open.outer.is_null() || channels_by_guid_.contains(open.outer.value)) {
        return false;
    }
    if (channel.awaited.is_null()) {
        channel.awaited = open.outer;
        awaiting_.add(open.outer, current_channel_);
    }
    return true;
}

void ReplicationReceiver::await_no_more(std::uint32_t index) {
    awaiting_.remove(std::exchange(channels_[index]->awaited, NetGUID()), index);
}

void ReplicationReceiver::outer_arrived(NetGUID guid) {
    for (const std::uint32_t index : awaiting_.of(guid)) {
        channels_[index]->awaited = NetGUID();
        ready_.push_back(index);
    }
    awaiting_.erase(guid);
}

CloseReason ReplicationReceiver::handle_message(const BunchHeader& header,
                                                std::span<const std::byte> payload) {
    finish_update();
    const ActorChannel& channel = *channels_[current_channel_];
    if (header.is_open) {
        return receive_open(payload);
    }
    if (!channel.is_open()) {
        return CloseReason::MalformedBunch;  // in order, and yet before the open
    }
    if (header.is_close) {
        return receive_close(payload);
    }
    if (header.is_message) {
        return receive_message(payload);
    }
    if (payload.empty()) {
        return CloseReason::None;  // a value that was taken back
    }
    // Many messages may have waited for this packet, so each adds to the packet's budget.
    DecodeBudget earned = message_budget(config_, payload.size());
    budget_->allocation_bytes += earned.allocation_bytes;
    budget_->steps += earned.steps;
    // Keyed arrays are not paid for out of the packet's: blocks behind the message were written for
    // that. What travels as a message is more than a packet holds, and is always taken; what is
    // less is nobody's but a forger's, and must not come by the dozen.
    std::uint64_t& array_steps =
        is_small_message(config_, payload.size()) ? small_message_steps_ : earned.array_steps;
    std::swap(budget_->array_steps, array_steps);
    BitReader reader(payload, budget_);
    const CloseReason reason = receive_properties_of(current_channel_, reader, BlockFrame::Filled);
    std::swap(budget_->array_steps, array_steps);
    return reason;
}

CloseReason ReplicationReceiver::receive_open(std::span<const std::byte> payload) {
    ActorChannel& channel = *channels_[current_channel_];
    OpenMessage open;
    if (!read_open(payload, open) || channel.is_open()) {
        return CloseReason::MalformedBunch;
    }
    const SessionLayouts::Entry layouts = layouts_.find(open.layout_number, open.archetype);
    if (layouts.reading == nullptr) {
        return CloseReason::MalformedBunch;
    }
    if (channel.state == ActorChannel::State::Dormant) {
        return reopen_channel(channel, open);
    }
    if (channels_by_guid_.contains(open.guid.value) || !spend_rebind(open.guid)) {
        return CloseReason::MalformedBunch;
    }
    channel.guid = open.guid;
    channel.class_number = open.layout_number;
    channel.layout = layouts.reading;
    channel.local = layouts.local;
    channel.role = open.role;
    channels_by_guid_.emplace(open.guid.value, current_channel_);
    ++stats_.channels_opened;
    begin_initial_batch();  // its message may come later
    opened_count_ += open.outer.is_null() ? 1u : 0u;
    await_no_more(current_channel_);
    outer_arrived(open.guid);
    const ActorChannel* outer = find_outer(open.outer);
    const bool may_spawn = open.outer.is_null() || (outer != nullptr && !outer->object.is_null());
    ObjectHandle spawned;
    if (layouts.local != nullptr && may_spawn) {
        channel.handler = handler_of(*layouts.local);
        spawned = channel.handler->spawn({open.guid, *layouts.local, open.archetype, open.role,
                                          outer == nullptr ? ObjectHandle() : outer->object,
                                          open.parameters});
    }
    // A server may tell of one name twice, so the world may have found what is shown already.
    if (spawned.is_null() || !guids_.find_guid(spawned).is_null()) {
        channel.state = ActorChannel::State::Refused;
        if (may_spawn) {
            log_refusal(channel, open, spawned);  // else its outer is gone, or was refused
        }
        return CloseReason::None;
    }
    channel.object = spawned;
    channel.state = ActorChannel::State::Open;
    channel.outer = open.outer;
    if (outer != nullptr) {
        parts_.add(open.outer, current_channel_);
        note_named_part(channel, open.parameters.stable_name);
    } else if (!open.parameters.stable_name.empty()) {
        channel.name_hash = hash64(open.parameters.stable_name);
        channels_by_name_.emplace(channel.name_hash, current_channel_);
    }
    guids_.bind(open.guid, channel.object);
    rebind(open.guid, channel.object);
    return CloseReason::None;
}

void ReplicationReceiver::named_object_ended(NetGUID guid, std::string_view stable_name) {
    const auto shown = channels_by_name_.find(hash64(stable_name));
    if (shown == channels_by_name_.end()) {
        world_.destroy_named(stable_name);
        return;
    }
    // Between channels there is no order. The close of what is shown may be on its way still; or
    // this is told again, and another object has the name by now.
    ActorChannel& channel = *channels_[shown->second];
    channel.is_destroyed = channel.is_destroyed || guid >= channel.guid;
}

void ReplicationReceiver::begin_initial_batch() {
    if (!has_begun_batch_) {
        has_begun_batch_ = true;
        world_.initial_batch_started();
    }
}

const ActorChannel* ReplicationReceiver::find_outer(NetGUID guid) const noexcept {
    const auto found = channels_by_guid_.find(guid.value);
    return guid.is_null() || found == channels_by_guid_.end() ? nullptr : channels_[found->second];
}

void ReplicationReceiver::log_refusal(const ActorChannel& channel, const OpenMessage& open,
                                      ObjectHandle spawned) {
    std::string text = channel.local == nullptr ? "there is no class or archetype here for object "
                       : !spawned.is_null()     ? "what was spawned is shown already for object "
                       : open.parameters.stable_name.empty() ? "nothing was spawned for object "
                                                             : "nothing was found for object ";
    text += std::to_string(open.guid.value) + " of class \"" + std::string(channel.layout->name()) +
            '"';
    if (open.archetype.value != 0) {
        text += ", archetype " + std::to_string(open.archetype.value);
    }
    if (!open.parameters.stable_name.empty()) {
        text += ", stable name \"" + std::string(open.parameters.stable_name) + '"';
    }
    peer_log_.write(LogLevel::Error, server_, text, now_);
}

CloseReason ReplicationReceiver::reopen_channel(ActorChannel& channel, const OpenMessage& open) {
    if (open.guid != channel.guid || open.layout_number != channel.class_number) {
        return CloseReason::MalformedBunch;
    }
    channel.is_carried_over = false;
    // What was refused stays so: what comes now is what changed since, and not a whole object.
    channel.state =
        channel.object.is_null() ? ActorChannel::State::Refused : ActorChannel::State::Open;
    ++stats_.channels_opened;
    set_role(channel, open.role);
    return CloseReason::None;
}

void ReplicationReceiver::set_role(ActorChannel& channel, const ObjectRole& role) {
    const ObjectRole previous = std::exchange(channel.role, role);
    if (previous != role && !channel.object.is_null()) {
        world_.role_changed(channel.object, previous, role);
    }
}

SpawnHandler* ReplicationReceiver::handler_of(const RepLayout& layout) const noexcept {
    const auto found = handlers_.find(&layout);
    return found == handlers_.end() ? &world_ : found->second;
}

ObjectRole ReplicationReceiver::role_of(ObjectHandle object) const noexcept {
    const auto found = channels_by_guid_.find(guids_.find_guid(object).value);
    return found == channels_by_guid_.end() ? nobodys_role : channels_[found->second]->role;
}

}  // namespace replayout
