// SPDX-License-Identifier: MIT
#include "object_updates.h"

#include "gone_before.h"

#include <algorithm>
#include <utility>

namespace replayout {

ObjectUpdates::ObjectUpdates(const ClientEnvironment& environment, ClientChannels& channels,
                             ClientWorld& world, ReceivedAmounts& amounts)
    : environment_(environment),
      channels_(channels),
      world_(world),
      amounts_(amounts),
      mentions_(environment.guids.hash(), &environment.memory.channels),
      scratch_(&environment.memory.scratch),
      waiting_channels_(Allocator<ChannelIndex>(&environment.memory.scratch)),
      named_(Allocator<NetGUID>(&environment.memory.scratch)),
      dropped_(Allocator<NetGUID>(&environment.memory.scratch)),
      came_(Allocator<NetGUID>(&environment.memory.scratch)),
      mentioning_(Allocator<ChannelIndex>(&environment.memory.scratch)),
      gone_(Allocator<NetGUID>(&environment.memory.scratch)) {}

ReceiveContext ObjectUpdates::context_of(const ActorChannel& channel, PackageMap& ids) {
    named_.clear();
    dropped_.clear();
    ReceiveContext context{ids, scratch_, amounts_.references_max(channel), &named_, &dropped_};
    context.kept_bytes_max = amounts_.kept_bytes_max(channel);
    context.failure = &failure_;
    context.waits_to_notify = true;
    return context;
}

CloseReason ObjectUpdates::skip(const ActorChannel& channel, BitReader& reader,
                                ReceiveContext& context) {
    ++environment_.stats.blocks_skipped;
    return skip_properties(*channel.layout, reader, context) ? CloseReason::None
                                                             : CloseReason::MalformedBlock;
}

CloseReason ObjectUpdates::receive(ChannelIndex index, BitReader& reader, Frame frame) {
    // A value of this block may name a new object, and would be set a second time later.
    set_new_references(*reader.budget());
    // A second update of an object in one packet: each has notifies of its own, with the value
    // before and the value after it.
    if (index != updating_channel_ && is_waiting_to_notify(index)) {
        run_notifies();
    }
    ActorChannel& channel = channels_[index];
    ReceiveContext context = context_of(channel, environment_.guids);
    context.must_fill_reader = frame != Frame::Open;
    context.more_parts_follow = frame == Frame::Part;
    if (channel.state == ActorChannel::State::Refused) {
        return skip(channel, reader, context);
    }
    // The packet may ask for at most what the limit of all objects leaves.
    DecodeBudget& budget = *reader.budget();
    const std::uint64_t withheld =
        budget.allocation_bytes - std::min(budget.allocation_bytes, amounts_.bytes_left());
    budget.allocation_bytes -= withheld;
    const std::uint64_t granted = budget.allocation_bytes;
    void* const object = world_.memory_of(channel);
    if (object == nullptr) {
        return skip(channel, reader, context);
    }
    const bool is_received =
        receive_properties(*channel.layout, reader, object, channel.references, context);
    const std::uint64_t asked = granted - budget.allocation_bytes;
    budget.allocation_bytes += withheld;
    amounts_.count_references(channel);
    note_waiting(index);
    updating_channel_ = scratch_.is_update_under_way() ? index : ChannelIndex();
    count_values(context);
    if (!is_received) {
        return withheld > 0 && budget.is_allocation_refused ? CloseReason::TooMuchMemory
                                                            : CloseReason::MalformedBlock;
    }
    amounts_.count_bytes(channel, object, asked);
    ++environment_.stats.blocks_received;
    update_mentions(index);
    return context.has_too_many_references ? CloseReason::TooManyReferences : CloseReason::None;
}

void ObjectUpdates::finish_unless_of(ChannelIndex index) {
    if (index != updating_channel_) {
        finish();
    }
}

void ObjectUpdates::finish() {
    if (updating_channel_.is_control()) {
        return;
    }
    const ChannelIndex index = std::exchange(updating_channel_, {});
    ActorChannel& channel = channels_[index];
    ReceiveContext context = context_of(channel, environment_.guids);
    finish_update(*channel.layout, world_.memory_of(channel.object), channel.references, context);
    amounts_.count_references(channel);
    note_waiting(index);
    update_mentions(index);
}

void ObjectUpdates::note_waiting(ChannelIndex index) {
    // An update that was under way, and the one that ended it, may be two.
    waiting_channels_.resize(scratch_.waiting_count(), index);
}

bool ObjectUpdates::is_waiting_to_notify(ChannelIndex index) const noexcept {
    return std::find(waiting_channels_.begin(), waiting_channels_.end(), index) !=
           waiting_channels_.end();
}

void ObjectUpdates::run_notifies() {
    if (waiting_channels_.empty()) {
        return;
    }
    for (std::size_t number = 0; number < waiting_channels_.size(); ++number) {
        const ActorChannel& channel = channels_[waiting_channels_[number]];
        if (void* const object = world_.memory_of(channel)) {
            run_waiting_notifies(scratch_, number, *channel.layout, object);
        }
    }
    scratch_.drop_waiting();
    waiting_channels_.clear();
}

void ObjectUpdates::count_values(const ReceiveContext& context) {
    environment_.stats.values_refused += context.values_refused;
    environment_.stats.values_failed += context.values_failed;
    environment_.stats.values_unmapped += context.values_unmapped;
    if (!failure_.empty()) {
        environment_.log(LogLevel::Error, failure_);
        failure_.clear();
    }
}

void ObjectUpdates::update_mentions(ChannelIndex index) {
    const ReceivingRepState& references = channels_[index].references;
    for (const NetGUID guid : dropped_) {
        if (!references.names(guid)) {
            mentions_.remove(guid, index);
        }
    }
    for (const NetGUID guid : named_) {
        mentions_.add(guid, index);
    }
}

void ObjectUpdates::forget_mentions(ChannelIndex index) {
    NetGUID last;  // many in a row name the same
    for (const auto& [path, reference] : channels_[index].references.references()) {
        if (reference.guid != last) {
            mentions_.remove(reference.guid, index);
            last = reference.guid;
        }
    }
    for (const auto& [path, value] : channels_[index].references.values()) {
        for (const NetGUID guid : value.guids) {
            mentions_.remove(guid, index);
        }
    }
}

void ObjectUpdates::collect_mentioning(std::span<const NetGUID> guids) {
    mentioning_.clear();
    for (const NetGUID guid : guids) {
        for (const ChannelIndex index : mentions_.of(guid)) {
            ActorChannel* channel = channels_.find(index);
            // A dormant channel too: the engine follows its references all the same.
            if (channel != nullptr && !channel->object.is_null() && !channel->is_marked) {
                channel->is_marked = true;
                mentioning_.push_back(index);
            }
        }
    }
    for (const ChannelIndex index : mentioning_) {
        channels_[index].is_marked = false;
    }
    std::sort(mentioning_.begin(), mentioning_.end());
}

bool ObjectUpdates::spend_rebind(std::span<const NetGUID> guids, DecodeBudget& budget) {
    if (budget.steps == 0) {
        return false;
    }
    collect_mentioning(guids);
    for (const ChannelIndex index : mentioning_) {
        const std::uint64_t steps = channels_[index].references.rebind_steps(guids);
        budget.steps -= std::min(steps, budget.steps);
    }
    return true;
}

void ObjectUpdates::set_new_references(DecodeBudget& budget) {
    if (came_.empty()) {
        return;
    }
    std::sort(came_.begin(), came_.end());
    came_.erase(std::unique(came_.begin(), came_.end()), came_.end());
    const std::span<const NetGUID> guids(came_.data(), came_.size());
    if (!spend_rebind(guids, budget)) {
        return;  // the next packet has a budget of its own
    }
    run_notifies_of_mentioning();
    for (const ChannelIndex index : mentioning_) {
        rebind(index, guids, environment_.guids, true);
    }
    came_.clear();
}

void ObjectUpdates::objects_go(std::span<const NetGUID> guids) {
    collect_mentioning(guids);
    run_notifies_of_mentioning();
    for (const ChannelIndex index : mentioning_) {
        const ActorChannel& channel = channels_[index];
        GoneBefore ids(environment_.guids, channels_, channel.departure_number);
        // The objects are there until these notifies ran.
        rebind(index, channel.departure_number == 0 ? guids : gone_before(channel, guids), ids,
               false);
    }
}

std::span<const NetGUID> ObjectUpdates::gone_before(const ActorChannel& channel,
                                                    std::span<const NetGUID> guids) {
    gone_.clear();
    channel.references.find_named(guids, gone_);
    gone_.erase(std::remove_if(gone_.begin(), gone_.end(),
                               [&](NetGUID guid) {
                                   const ActorChannel* named = channels_.find(guid);
                                   return named == nullptr ||
                                          named->departure_number >= channel.departure_number;
                               }),
                gone_.end());
    return {gone_.data(), gone_.size()};
}

void ObjectUpdates::run_notifies_of_mentioning() {
    if (std::any_of(waiting_channels_.begin(), waiting_channels_.end(), [this](ChannelIndex index) {
            return std::binary_search(mentioning_.begin(), mentioning_.end(), index);
        })) {
        run_notifies();
    }
}

void ObjectUpdates::rebind(ChannelIndex index, std::span<const NetGUID> guids, PackageMap& ids,
                           bool waits_to_notify) {
    ActorChannel& channel = channels_[index];
    void* const object = guids.empty() ? nullptr : world_.memory_of(channel);
    if (object == nullptr) {
        return;
    }
    ReceiveContext context = context_of(channel, ids);
    context.waits_to_notify = waits_to_notify;
    rebind_references(*channel.layout, object, channel.references, guids, context);
    note_waiting(index);
    amounts_.count_references(channel);
    count_values(context);
}

}  // namespace replayout
