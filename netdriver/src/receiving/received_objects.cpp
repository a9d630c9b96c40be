// SPDX-License-Identifier: MIT
#include "received_objects.h"

#include <replayout/reflection/hash.h>

#include "scoped_value.h"
#include "stable_name.h"

#include <algorithm>
#include <string>
#include <utility>

namespace replayout {

ReceivedObjects::ReceivedObjects(const ClientEnvironment& environment, ClientChannels& channels,
                                 ReceivedAmounts& amounts, ObjectUpdates& updates,
                                 ReceivedCalls& calls)
    : environment_(environment),
      channels_(channels),
      amounts_(amounts),
      updates_(updates),
      calls_(calls),
      families_(environment.guids.hash(), &environment.memory.channels),
      awaited_(environment.guids.hash(), channels, &environment.memory.channels),
      channels_by_name_(0, environment.guids.hash(), {}, &environment.memory.channels),
      departures_(Allocator<Departure>(&environment.memory.scratch)),
      departing_(Allocator<NetGUID>(&environment.memory.scratch)),
      going_(Allocator<ChannelIndex>(&environment.memory.scratch)) {}

bool ReceivedObjects::must_wait(ChannelIndex index, const BunchHeader& header,
                                std::span<const std::byte> payload) {
    const ActorChannel& channel = channels_[index];
    OpenMessage open;
    if (!header.is_open || channel.is_open() || channel.is_closing ||
        channel.state == ActorChannel::State::Dormant || !read_open(payload, open) ||
        open.outer.is_null() || channels_.contains(open.outer)) {
        return false;
    }
    awaited_.wait(index, open.outer);
    return true;
}

void ReceivedObjects::bunch_arrived(ChannelIndex index, const BunchHeader& header,
                                    std::span<const std::byte> payload, DecodeBudget& budget) {
    if (header.is_open && channels_[index].is_carried_over) {
        leave_to_another(index, payload, budget);
    }
    if (header.is_close && !channels_[index].is_open()) {
        // Ahead of its open. If that waits for an outer it need not any more.
        channels_[index].is_closing = true;
        awaited_.set_ready(index);
    }
}

CloseReason ReceivedObjects::receive_open(ChannelIndex index, std::span<const std::byte> payload) {
    ActorChannel& channel = channels_[index];
    OpenMessage open;
    if (!read_open(payload, open) || channel.is_open()) {
        return CloseReason::MalformedBunch;
    }
    const SessionLayouts::Entry layouts =
        environment_.layouts.find(open.layout_number, open.archetype);
    if (layouts.reading == nullptr) {
        return CloseReason::MalformedBunch;
    }
    if (channel.state == ActorChannel::State::Dormant) {
        return reopen(channel, open);
    }
    if (channels_.contains(open.guid)) {
        return CloseReason::MalformedBunch;
    }
    channel.guid = open.guid;
    channel.class_number = open.layout_number;
    channel.layout = layouts.reading;
    channel.local = layouts.local;
    channel.role = open.role;
    channels_.opened(open.guid, index);
    ++environment_.stats.channels_opened;
    begin_initial_batch();  // its message may come later
    opened_count_ += open.outer.is_null() ? 1u : 0u;
    awaited_.end_wait(index);
    awaited_.arrived(open.guid);
    const ActorChannel* outer = channels_.find(open.outer);
    const bool may_spawn = open.outer.is_null() || (outer != nullptr && !outer->object.is_null());
    ObjectHandle spawned;
    if (layouts.local != nullptr && may_spawn) {
        channel.handler = handler_of(*layouts.local);
        spawned = channel.handler->spawn({open.guid, *layouts.local, open.archetype, open.role,
                                          outer == nullptr ? ObjectHandle() : outer->object,
                                          open.parameters});
    }
    // A server may tell of one name twice, so the world may have found what is shown already.
    if (spawned.is_null() || !environment_.guids.find_guid(spawned).is_null()) {
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
        families_.add(channel, index, open.parameters.stable_name);
    } else if (!open.parameters.stable_name.empty()) {
        channel.name_hash = hash64(open.parameters.stable_name);
        channels_by_name_.emplace(channel.name_hash, index);
    }
    environment_.guids.bind(open.guid, channel.object);
    updates_.object_came(open.guid);
    return CloseReason::None;
}

CloseReason ReceivedObjects::reopen(ActorChannel& channel, const OpenMessage& open) {
    if (open.guid != channel.guid || open.layout_number != channel.class_number) {
        return CloseReason::MalformedBunch;
    }
    channel.is_carried_over = false;
    // What was refused stays so: what comes now is what changed since, and not a whole object.
    channel.state =
        channel.object.is_null() ? ActorChannel::State::Refused : ActorChannel::State::Open;
    ++environment_.stats.channels_opened;
    set_role(channel, open.role);
    return CloseReason::None;
}

void ReceivedObjects::log_refusal(const ActorChannel& channel, const OpenMessage& open,
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
    environment_.log(LogLevel::Error, text);
}

SpawnHandler* ReceivedObjects::handler_of(const RepLayout& layout) const noexcept {
    const auto found = environment_.handlers.find(&layout);
    return found == environment_.handlers.end() ? &environment_.world : found->second;
}

void ReceivedObjects::set_role(ActorChannel& channel, const ObjectRole& role) {
    const ObjectRole previous = std::exchange(channel.role, role);
    if (previous != role && !channel.object.is_null()) {
        environment_.world.role_changed(channel.object, previous, role);
    }
}

CloseReason ReceivedObjects::named_object_ended(NetGUID guid, std::string_view stable_name) {
    // The object of that name may despawn with this packet.
    if (const CloseReason reason =
            departures_.empty() ? CloseReason::None : end_departures(*budget_);
        reason != CloseReason::None) {
        return reason;
    }
    const auto shown = channels_by_name_.find(hash64(stable_name));
    if (shown == channels_by_name_.end()) {
        environment_.world.destroy_named(stable_name);
        return CloseReason::None;
    }
    // Between channels there is no order. The close of what is shown may be on its way still; or
    // the server may say this again, and another object has the name by now.
    ActorChannel& channel = channels_[shown->second];
    channel.is_destroyed = channel.is_destroyed || guid >= channel.guid;
    return CloseReason::None;
}

void ReceivedObjects::begin_initial_batch() {
    if (!has_begun_batch_) {
        has_begun_batch_ = true;
        environment_.world.initial_batch_started();
    }
}

CloseReason ReceivedObjects::receive_message(ChannelIndex index,
                                             std::span<const std::byte> payload) {
    BitReader reader(payload);
    switch (static_cast<ObjectMessageKind>(reader.read_bits(8))) {
        case ObjectMessageKind::Role:
            return receive_role(channels_[index], reader);
        case ObjectMessageKind::PartsDestroyed:
            return receive_destroyed_parts(channels_[index], reader);
    }
    return CloseReason::MalformedBunch;
}

CloseReason ReceivedObjects::receive_role(ActorChannel& channel, BitReader& reader) {
    const std::uint64_t bits = reader.read_packed_uint();
    ObjectRole role;
    if (reader.failed() || reader.bits_left() != 0 || !read_role(bits, role)) {
        return CloseReason::MalformedBunch;
    }
    set_role(channel, role);
    return CloseReason::None;
}

CloseReason ReceivedObjects::receive_destroyed_parts(const ActorChannel& channel,
                                                     BitReader& reader) {
    BitReader names = reader;
    do {
        (void)read_stable_name(reader);
    } while (!reader.failed() && reader.bits_left() > 0);
    if (reader.failed()) {
        return CloseReason::MalformedBunch;
    }
    while (!channel.object.is_null() && names.bits_left() > 0) {
        const std::string_view name = read_stable_name(names);
        // One that is shown goes by its own close: the name was given again meanwhile, or that is
        // still on its way.
        if (!families_.is_shown(channel.guid, name)) {
            environment_.world.destroy_part(channel.object, name);
        }
    }
    return CloseReason::None;
}

CloseReason ReceivedObjects::receive_close(ChannelIndex index, std::span<const std::byte> payload,
                                           DecodeBudget& budget) {
    BitReader reader(payload);
    const auto reason = static_cast<ChannelCloseReason>(reader.read_bits(8));
    if (reader.failed() || reader.bits_left() != 0) {
        return CloseReason::MalformedBunch;
    }
    if (reason >= ChannelCloseReason::Disconnected) {
        return CloseReason::MalformedBunch;
    }
    updates_.set_new_references(budget);
    updates_.run_notifies();
    const CloseReason called = calls_.run_last_of(index);
    if (!channels_[index].is_open()) {
        return called;  // a call ended the connection
    }
    if (reason != ChannelCloseReason::Dormancy) {
        budget_ = &budget;
        close_later(index, reason);
        return called;
    }
    channels_[index].state = ActorChannel::State::Dormant;
    channels_[index].receiver.reset();
    calls_.drop_of(index);
    ++environment_.stats.channels_closed;
    ++environment_.stats.channels_dormant;
    return called;
}

void ReceivedObjects::close_later(ChannelIndex index, ChannelCloseReason reason) {
    channels_[index].receiver.reset();  // bunches that come now belong to its next life
    if (const std::uint32_t number = channels_[index].departure_number; number != 0) {
        departures_[number - 1].is_closed = true;  // it despawns with its outer
        return;
    }
    // Parts despawn with their outer, and before it. The channel of a part stays until its own
    // close comes; until then the client throws away what arrives on it.
    const std::span<const ChannelIndex> family = families_.family_of(index, channels_);
    for (std::size_t i = family.size(); i > 0; --i) {
        departures_.push_back({family[i - 1], reason, i == 1});
        channels_[family[i - 1]].departure_number = static_cast<std::uint32_t>(departures_.size());
    }
}

CloseReason ReceivedObjects::end_departures(DecodeBudget& budget) {
    if (departures_.empty()) {
        return CloseReason::None;
    }
    collect_departing();
    if (!updates_.spend_rebind({departing_.data(), departing_.size()}, budget)) {
        channels_.note_refusal(departures_.back().index);
        forget_departures();
        return CloseReason::MalformedBunch;
    }
    run_departures();
    return CloseReason::None;
}

void ReceivedObjects::collect_departing() {
    departing_.clear();
    for (const Departure& departure : departures_) {
        if (!channels_[departure.index].object.is_null()) {
            departing_.push_back(channels_[departure.index].guid);
        }
    }
    std::sort(departing_.begin(), departing_.end());
}

void ReceivedObjects::forget_departures() noexcept {
    for (const Departure& departure : departures_) {
        channels_[departure.index].departure_number = 0;
    }
    departures_.clear();
}

void ReceivedObjects::run_departures() {
    for (const Departure& departure : departures_) {
        families_.forget_parts_of(channels_[departure.index].guid);  // at once, not part by part
    }
    {
        const ScopedValue letting_go(is_letting_go_, true);
        updates_.objects_go({departing_.data(), departing_.size()});
    }
    forget_names();
    for (const Departure& departure : departures_) {
        release(departure);
        if (departure.is_closed) {
            close(departure.index);
        }
    }
    forget_departures();
}

void ReceivedObjects::forget_names() {
    going_.clear();
    for (const Departure& departure : departures_) {
        if (!channels_[departure.index].object.is_null()) {
            going_.push_back(departure.index);
        }
    }
    // Backwards: a list by ascending channel loses its last entry at the least cost.
    std::sort(going_.rbegin(), going_.rend());
    for (const ChannelIndex index : going_) {
        updates_.forget_mentions(index);
        families_.remove(channels_[index], index);
    }
}

void ReceivedObjects::release(const Departure& departure) {
    ActorChannel& channel = channels_[departure.index];
    if (channel.object.is_null()) {
        return;
    }
    environment_.guids.unbind(channel.guid);
    amounts_.forget_bytes(channel);
    channel.references.clear();
    amounts_.count_references(channel);
    const bool stays_alive = departure.reason == ChannelCloseReason::Relevancy ||
                             departure.reason == ChannelCloseReason::Disconnected;
    const bool is_destroyed = departure.is_closed && channel.is_destroyed && stays_alive;
    channel.handler->despawn(channel.object,
                             is_destroyed ? ChannelCloseReason::Destroyed : departure.reason);
    channel.object = ObjectHandle{};
    channel.handler = nullptr;
    channel.outer = NetGUID{};
    channel.role = ObjectRole();
    if (channel.state == ActorChannel::State::Open && !departure.is_closed) {
        channel.state = ActorChannel::State::Refused;
    }
    calls_.drop_of(departure.index);
}

void ReceivedObjects::close(ChannelIndex index) {
    ActorChannel& channel = channels_[index];
    environment_.stats.channels_closed += channel.is_open() ? 1u : 0u;
    const auto named = channels_by_name_.find(std::exchange(channel.name_hash, 0));
    if (named != channels_by_name_.end() && named->second == index) {
        channels_by_name_.erase(named);
    }
    channel.is_destroyed = false;
    channels_.closed(channel.guid);
    channel.state = ActorChannel::State::Closed;
    channel.guid = NetGUID{};
    channel.layout = nullptr;
    channel.local = nullptr;
    channel.is_closing = false;
    calls_.drop_of(index);
    channel.references.clear();
    amounts_.count_references(channel);
    channel.receiver.reset();
}

void ReceivedObjects::close_all() {
    updates_.finish();
    updates_.run_notifies();
    updates_.forget_new_objects();
    for (ChannelIndex index; index.value < channels_.count(); ++index.value) {
        const ActorChannel* channel = channels_.find(index);
        if (channel != nullptr && channel->state != ActorChannel::State::Closed) {
            close_later(index, ChannelCloseReason::Disconnected);
        }
    }
    collect_departing();
    run_departures();
    for (ChannelIndex index; index.value < channels_.count(); ++index.value) {
        if (ActorChannel* channel = channels_.find(index)) {
            channel->receiver.reset();
        }
    }
    calls_.clear();
}

void ReceivedObjects::begin_carrying_over() {
    updates_.finish();
    for (ChannelIndex index; index.value < channels_.count(); ++index.value) {
        if (channels_.find(index) != nullptr) {
            carry_over(index);
        }
    }
    calls_.clear_received();
    awaited_.clear_ready();
}

void ReceivedObjects::carry_over(ChannelIndex index) {
    ActorChannel& channel = channels_[index];
    channel.receiver.reset();
    channel.is_closing = false;
    if (!channel.awaited.is_null()) {
        awaited_.end_wait(index);
    }
    if (channel.state != ActorChannel::State::Closed) {
        channel.state = ActorChannel::State::Dormant;
        channel.is_carried_over = true;
        channel.references.carry_over_deltas();
    }
}

void ReceivedObjects::leave_to_another(ChannelIndex index, std::span<const std::byte> payload,
                                       DecodeBudget& budget) {
    OpenMessage open;
    if (!read_open(payload, open) || open.guid == channels_[index].guid) {
        return;
    }
    updates_.finish();  // it may be of what goes with that, and what names it is set
    updates_.run_notifies();
    close_later(index, ChannelCloseReason::Relevancy);
    if (end_departures(budget) == CloseReason::None) {
        channels_[index].is_carried_over = false;
    }
}

void ReceivedObjects::end_carrying_over() {
    updates_.finish();
    updates_.run_notifies();
    for (ChannelIndex index; index.value < channels_.count(); ++index.value) {
        ActorChannel* channel = channels_.find(index);
        if (channel != nullptr && std::exchange(channel->is_carried_over, false)) {
            close_later(index, ChannelCloseReason::Relevancy);
        }
    }
    collect_departing();
    run_departures();
}

}  // namespace replayout
