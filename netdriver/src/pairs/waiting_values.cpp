// SPDX-License-Identifier: MIT
#include "waiting_values.h"

#include <algorithm>

namespace replayout {

namespace {

[[nodiscard]] bool is_array(const RepLayout& layout, RepHandle handle) noexcept {
    return replayout::is_array(layout.cmd(layout.cmd_of(layout.root(), handle)).type);
}

[[nodiscard]] bool is_delta(const RepLayout& layout, RepHandle handle) noexcept {
    return replayout::is_delta(layout.cmd(layout.cmd_of(layout.root(), handle)).type);
}

}  // namespace

WaitingValues::WaitingValues(const ObjectStore& objects, ConnectionPairs& pairs,
                             SendContext& context, MemoryMeters& memory)
    : objects_(objects),
      pairs_(pairs),
      context_(context),
      turns_(&memory.pairs),
      unmapped_(&memory.pairs),
      put_off_(&memory.pairs),
      missed_(Allocator<RepHandle>(&memory.scratch)) {}

void WaitingValues::value_delivered(const BunchTag& tag) {
    PairExtra* extra = pairs_.find_extra(tag.object_index);
    REPLAYOUT_ASSERT(extra != nullptr);
    extra->paused.fragment_delivered(RepHandle{tag.handle}, tag.is_taken_back);
    resume_values(tag.object_index);
}

void WaitingValues::message_delivered(const BunchTag& tag) {
    PairExtra* extra = pairs_.find_extra(tag.object_index);
    REPLAYOUT_ASSERT(extra != nullptr);
    extra->order.message_delivered(static_cast<std::uint16_t>(tag.handle));
    resume_values(tag.object_index);
}

void WaitingValues::resume_values(ObjectIndex index) {
    PairExtra* extra = pairs_.find_extra(index);
    // The client takes the bunches of a channel in order, the open first.
    if (extra == nullptr || channel_state(pairs_[index]) != ChannelState::Open) {
        return;
    }
    while (extra->order.may_resume_value()) {
        const auto value = extra->paused.take_delivered();
        if (!value.has_value()) {
            return;
        }
        extra->order.value_resumed();
        resume_value(index, *value);
        extra->ahead.value_resolved(extra->paused.is_empty());
        if (value->is_taken_back) {
            extra->ahead.stop();
        } else if (extra->paused.is_empty()) {
            extra->end_state_ahead();
        }
    }
}

bool WaitingValues::is_initial_value(ObjectIndex index, const PausedValues::Entry& value) const {
    const ServerObject& info = *objects_.at(index);
    return info.changelist_state().conditions().is_initial(
        RepHandle{value.handles.handle_begin},
        passing_conditions(pairs_.flags_for(info.ownership())));
}

void WaitingValues::owe_waiting(ObjectIndex index) {
    PairExtra* extra = pairs_.find_extra(index);
    if (extra == nullptr) {
        return;
    }
    while (const auto value = extra->paused.take_waiting()) {
        extra->waited_since =
            extra->waited_since == 0 ? value->since : std::min(extra->waited_since, value->since);
        end_pause(index, *value);
        if (is_initial_value(index, *value)) {
            pairs_.owe_initial(index, value->handles);  // as if its block were lost
        }
    }
}

void WaitingValues::end_turn(ObjectIndex index) noexcept {
    if (PairExtra* extra = pairs_.find_extra(index)) {
        extra->waited_since = 0;
    }
}

void WaitingValues::resume_value(ObjectIndex index, const PausedValues::Entry& value) {
    end_pause(index, value);
    if (value.is_taken_back && value.is_initial && is_initial_value(index, value)) {
        pairs_.owe_initial(index, value.handles);  // as if its block were lost
    }
    if (DeltaStates* deltas = pairs_.find_deltas(index)) {
        const RepHandle handle{value.handles.handle_begin};
        if (value.is_taken_back) {
            deltas->value_taken_back(handle, missed_);
        } else {
            deltas->value_delivered(handle, missed_);
        }
        owe_missed_deltas(index);
    }
}

void WaitingValues::end_pause(ObjectIndex index, const PausedValues::Entry& value) {
    SendingRepState& pair = pairs_.edit(index);
    pair.delivered();
    // Whatever it became while it was paused is owed now, and what was lost of it, and only that;
    // all of it, if it was taken back.
    const VersionInterval missed = value.missed(pair.sent_version);
    if (!missed.is_empty()) {
        pairs_.owe_part(index, {missed, value.handles});
    }
    pairs_.pending().set(index);
    // What it named may have come while it was paused.
    const auto is_ready = [&](const UnmappedValues::Entry& entry) {
        return value.handles.contains(entry.handle) && is_mapped(entry.guid);
    };
    unmapped_.take_of(index, is_ready, [&](const UnmappedValues::Entry& entry) {
        pairs_.owe_again(index, entry.handle);
    });
}

bool WaitingValues::is_mapped(NetGUID guid) const {
    const ObjectIndex index = objects_.find_index(guid);
    return pairs_.contains(index) && (channel_state(pairs_[index]) == ChannelState::Open ||
                                      pairs_.dormancy().kept.test(index));
}

bool WaitingValues::is_paused(ObjectIndex index, RepHandle handle) const {
    const PairExtra* extra = pairs_.find_extra(index);
    return extra != nullptr && extra->paused.contains(handle);
}

void WaitingValues::note_sent(PairRef ref, const ChangeMask& owed, const RepRange& handles,
                              const OwedVersions& position, const BlockFindings& findings) {
    const RepLayout& layout = ref.layout();
    // What a value waits for is said anew each time it is sent; of an array, only what is sent of
    // it.
    const auto is_outdated = [&](const UnmappedValues::Entry& entry) {
        return handles.contains(entry.handle) && owed.test(entry.handle.value - 1) &&
               !is_array(layout, entry.handle);
    };
    unmapped_.take_of(ref.index, is_outdated, [](const UnmappedValues::Entry&) {});
    if (DeltaStates* deltas = pairs_.deltas_of(ref)) {
        deltas->note_unchanged(findings.unchanged);
    }
    for (const UnmappedValue& value : findings.unmapped) {
        unmapped_.add({value.guid, ref.index, value.handle});
    }
    const Vector<RepHandle>& put_off = findings.put_off;
    if (!put_off_.is_empty()) {
        put_off_.take_of(ref.index, [&](RepHandle handle) {
            return handles.contains(handle) && owed.test(handle.value - 1) &&
                   std::find(put_off.begin(), put_off.end(), handle) == put_off.end();
        });
    }
    for (std::size_t i = 0; i < put_off.size(); ++i) {
        if (i == 0 || put_off[i] != put_off[i - 1]) {  // else another element of the same array
            put_off_.add(ref.index, put_off[i]);
        }
    }
    note_left_out(ref, findings.left_out, position);
}

void WaitingValues::owe_put_off() {
    put_off_.take_due([this](ObjectIndex index, RepHandle handle) {
        if (is_paused(index, handle)) {
            return false;
        }
        pairs_.owe_again(index, handle);
        return true;
    });
}

void WaitingValues::note_left_out(PairRef ref, std::span<const RepHandle> handles,
                                  const OwedVersions& position) {
    const ChangelistState& state = ref.state();
    for (const RepHandle handle : handles) {
        if (is_delta(state.layout(), handle)) {
            // It may have nothing to say for good, where values differ that it never sends.
            if (PairValidator* validator = pairs_.validator()) {
                validator->value_unknown(ref.index, handle);
            }
            continue;
        }
        pairs_.extra_of(ref.index).left_out.note(state.layout(), {&handle, 1}, position,
                                                 state.version());
        if (PairValidator* validator = pairs_.validator()) {
            validator->value_left_out(ref.index, handle);
        }
    }
}

void WaitingValues::owe_left_out(PairRef ref) {
    PairExtra* extra = pairs_.find_extra(ref.index);
    if (extra == nullptr) {
        return;
    }
    extra->left_out.owe_with(
        context_.scratch.owed,
        [&] { pairs_.collect_owed(ref, pairs_.position_of(ref.index), context_.scratch.owed); },
        [&](const LeftOutValues::Entry& value) {
            pairs_.owe_part(ref.index, {value.versions, value.handles});
        });
}

void WaitingValues::resolve_deltas(ObjectIndex index, bool is_delivered) {
    if (DeltaStates* deltas = pairs_.find_deltas(index)) {
        deltas->block_resolved(is_delivered, missed_);
        owe_missed_deltas(index);
    }
}

void WaitingValues::owe_missed_deltas(ObjectIndex index) {
    while (!missed_.empty()) {
        const RepHandle handle = missed_.back();
        missed_.pop_back();
        pairs_.owe_again(index, handle);
    }
}

void WaitingValues::forget_object(ObjectIndex index) {
    turns_.leave(index);
    if (!put_off_.is_empty()) {
        put_off_.take_of(index, [](RepHandle) { return true; });
    }
    if (unmapped_.is_empty()) {
        return;  // most often
    }
    const auto any = [](const UnmappedValues::Entry&) { return true; };
    unmapped_.take_of(index, any, [](const UnmappedValues::Entry&) {});
    PairValidator* const validator = pairs_.validator();
    unmapped_.take_waiting_for(objects_.at(index)->guid(), any,
                               [&](const UnmappedValues::Entry& entry) {
                                   if (validator != nullptr) {
                                       // The client has null, and the value names what is no more:
                                       // equal, and not to the bit.
                                       validator->value_unknown(entry.index, entry.handle);
                                   }
                               });
}

void WaitingValues::object_mapped(ObjectIndex index) {
    if (unmapped_.is_empty()) {
        return;
    }
    const auto is_ready = [&](const UnmappedValues::Entry& entry) {
        return !is_paused(entry.index, entry.handle);
    };
    unmapped_.take_waiting_for(
        objects_.at(index)->guid(), is_ready,
        [&](const UnmappedValues::Entry& entry) { pairs_.owe_again(entry.index, entry.handle); });
}

}  // namespace replayout
