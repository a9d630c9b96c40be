// SPDX-License-Identifier: MIT
//
// What can happen in the world of sending_rep_state_model.h, step by step. A part of that header;
// included there.
#pragma once

#include "support/replication/sending_rep_state_model.h"

namespace replayout::model {

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
bool Model<Rules, PropertyCount, InFlightMax>::apply(Action action) {
    // What no compare has seen matters to no other step, so edits wait until just before it.
    const bool is_of_object = action.step == Step::Edit || action.step == Step::Compare;
    if (Rules::sends_shadow && !is_of_object && has_edits()) {
        return false;
    }
    const bool has_room = packet_count_ < InFlightMax;
    switch (action.step) {
        case Step::Edit:
            return edit(action.property, action.value);
        case Step::Compare:
            return compare();
        case Step::Send:
            return has_room && send(true);
        case Step::SendParts:
            return packet_count_ + 1 < InFlightMax && send_parts(true);
        case Step::SendFirstPart:
            return has_room && send_parts(false);
        case Step::SendOpenAlone:
            return has_room && open_is_owed_ && owed() != 0 && send(false);
        case Step::Skip:
            return skip();
        case Step::Deliver:
            return resolve(true, true);
        case Step::Lose:
            return resolve(false, false);
        case Step::LoseReceived:
            return resolve(true, false);
        case Step::Open:
            return open();
        case Step::ReopenSameSlot:
            return reopen(true);
        case Step::ReopenNewSlot:
            return reopen(false);
        case Step::Hide:
            return hide();
        case Step::Show:
            return show();
    }
    return false;
}

// The object.

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
bool Model<Rules, PropertyCount, InFlightMax>::has_edits() const {
    for (std::size_t property = 0; property < PropertyCount; ++property) {
        if (object_[property] != history_[property].value()) {
            return true;
        }
    }
    return false;
}

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
bool Model<Rules, PropertyCount, InFlightMax>::edit(std::size_t property, Value value) {
    if (object_[property] == value) {
        return false;
    }
    object_[property] = value;
    return true;
}

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
bool Model<Rules, PropertyCount, InFlightMax>::compare() {
    PropertyMask changed = 0;
    for (std::size_t property = 0; property < PropertyCount; ++property) {
        if (object_[property] != history_[property].value()) {
            history_[property].change(object_[property], version_ + 1);
            changed |= bit(property);
        }
    }
    if (changed == 0) {
        return false;
    }
    ++version_;
    const PropertyMask unchanged = all_properties & ~changed;
    for (Packet& packet : packets_) {
        packet.current &= unchanged;
        packet.fresh &= unchanged;
        packet.covered &= unchanged;
    }
    changed_ |= changed;
    settled_ &= unchanged;
    excused_ &= unchanged;
    return true;
}

// Sending.

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
bool Model<Rules, PropertyCount, InFlightMax>::owes(std::size_t property) const {
    const PropertyHistory& history = history_[property];
    const Version last_changed = history.last_changed();
    const bool is_new = last_changed > pair_.sent_version;
    return is_open_ && is_visible(property) && pair_.owes(last_changed) &&
           (is_new || lost_range_.contains(handle_of(property))) &&
           !Rules::suppresses(pair_, history);
}

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
PropertyMask Model<Rules, PropertyCount, InFlightMax>::owed() const {
    PropertyMask owed = 0;
    for (std::size_t property = 0; property < PropertyCount; ++property) {
        owed |= owes(property) ? bit(property) : PropertyMask{0};
    }
    return owed;
}

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
bool Model<Rules, PropertyCount, InFlightMax>::send(bool has_room_for_update) {
    const bool has_update = has_room_for_update && owed() != 0;
    if (!has_update && !open_is_owed_) {
        return false;
    }
    if (has_update) {
        Update update = begin_update();
        update.record = pair_.send(version_);
        push(packet_of(update, RepRange()));
    } else {
        push(Packet());
    }
    return true;
}

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
bool Model<Rules, PropertyCount, InFlightMax>::send_parts(bool both) {
    constexpr std::uint32_t second_begin = PropertyCount / 2 + 1;
    const RepRange first{1, second_begin};
    const RepRange second{second_begin, RepRange::no_handle_end};
    if ((owed() & properties_in(first)) == 0 || (owed() & properties_in(second)) == 0) {
        return false;
    }
    Update update = begin_update();
    update.record = pair_.take_owed(version_);
    pair_.send_part();
    push(packet_of(update, first));
    if (both) {
        pair_.send_part();
        push(packet_of(update, second));
    } else {
        note_loss(packet_of(update, second));
        pair_.return_unsent(update.record);
    }
    return true;
}

/// Without the record, which is to be taken from the pair.
template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
auto Model<Rules, PropertyCount, InFlightMax>::begin_update() -> Update {
    Update update;
    update.owed = owed();
    update.fresh = update.owed & ~settled_;
    for (std::size_t property = 0; property < PropertyCount; ++property) {
        if (pair_.owes(history_[property].last_changed())) {
            update.covered |= bit(property);
        }
    }
    update.widens = !pair_.lost().is_empty() && !lost_range_.is_whole();
    lost_range_ = {};
    settled_ |= update.covered;
    changed_ = 0;
    excused_ = 0;
    return update;
}

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
auto Model<Rules, PropertyCount, InFlightMax>::packet_of(const Update& update,
                                                         const RepRange& range) const -> Packet {
    const PropertyMask part = properties_in(range);
    Packet packet;
    packet.has_record = true;
    packet.widens = update.widens;
    packet.carried = update.owed & part;
    packet.current = update.owed & part;
    packet.fresh = update.fresh & part;
    packet.covered = update.covered & part;
    packet.record = update.record;
    packet.range = range;
    for (std::size_t property = 0; property < PropertyCount; ++property) {
        if ((packet.carried & bit(property)) != 0) {
            packet.values[property] =
                Rules::sends_shadow ? history_[property].value() : object_[property];
        }
    }
    return packet;
}

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
void Model<Rules, PropertyCount, InFlightMax>::push(Packet packet) {
    packet.opens = open_is_owed_ && (Rules::opens_first || !packet.has_record);
    open_is_owed_ = open_is_owed_ && !packet.opens;
    packets_[packet_count_++] = packet;
}

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
bool Model<Rules, PropertyCount, InFlightMax>::skip() {
    if (!is_open_ || !pair_.owes_any(version_) || owed() != 0) {
        return false;
    }
    pair_.skip(version_);
    lost_range_ = {};
    settled_ = all_properties;
    changed_ = 0;
    excused_ = 0;
    return true;
}

// What becomes of a packet.

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
bool Model<Rules, PropertyCount, InFlightMax>::resolve(bool is_received, bool is_acked) {
    if (packet_count_ == 0) {
        return false;
    }
    const Packet packet = packets_[0];
    std::move(packets_.begin() + 1, packets_.begin() + packet_count_, packets_.begin());
    packets_[--packet_count_] = {};

    if (is_received) {
        receive(packet);
    }
    if (packet.has_record) {
        if (is_acked) {
            pair_.delivered();
        } else {
            note_loss(packet);
            pair_.lose(packet.record);
        }
    }
    if (packet.opens && is_acked) {
        open_is_acked_ = true;
        Rules::on_open_acked(pair_);
    }
    if (packet.opens && !is_acked) {
        open_is_owed_ = true;
        Rules::on_open_lost(pair_);
        owe_everything_again();
    }
    return true;
}

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
void Model<Rules, PropertyCount, InFlightMax>::receive(const Packet& packet) {
    client_has_open_ = client_has_open_ || packet.opens;
    if (packet.is_former == client_has_open_) {
        return;
    }
    for (std::size_t property = 0; property < PropertyCount; ++property) {
        if ((packet.carried & bit(property)) != 0) {
            client_[property] = packet.values[property];
        }
    }
}

/// What the driver knows of a loss, to be called before the pair learns of it: which properties the
/// lost interval will be about. And what the loss may cost: see the test on economy.
template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
void Model<Rules, PropertyCount, InFlightMax>::note_loss(const Packet& packet) {
    const VersionInterval lost = hull(packet.record.sent, packet.record.lost);
    const bool is_first = pair_.lost().is_empty();

    // A hull over a gap also owes what lies in the gap: the price of one interval a pair. The hulls
    // of versions and of parts span a box, which can even hold what newer packets carry.
    const bool bridges =
        has_gap(packet.record.sent, packet.record.lost) || has_gap(pair_.lost(), lost);
    const bool is_box =
        packet.widens || (!is_first && pair_.lost() != lost && lost_range_ != packet.range);
    if (is_box || (bridges && !packet.range.is_whole())) {
        excuse_everything();
    } else {
        excused_ |= bridges ? all_properties : packet.covered;
    }
    lost_range_ = is_first ? packet.range : Rules::lost_range(lost_range_, packet.range);
}

/// Something other than the loss of a record was told to the pair.
template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
void Model<Rules, PropertyCount, InFlightMax>::owe_everything_again() {
    if (Rules::widens_lost_range) {
        lost_range_ = {};
    }
    excuse_everything();
}

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
void Model<Rules, PropertyCount, InFlightMax>::excuse_everything() {
    excused_ = all_properties;
    for (Packet& packet : packets_) {
        packet.fresh = 0;
    }
}

// Opens and conditions.

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
bool Model<Rules, PropertyCount, InFlightMax>::open() {
    is_open_ = true;
    open_is_owed_ = true;
    open_is_acked_ = false;
    pair_ = {};
    hidden_at_ = 0;
    // What still arrives for the copy that is given up, nobody will ever see.
    std::fill_n(packets_.begin(), packet_count_, Packet{});
    client_ = {};
    client_has_open_ = false;
    settled_ = 0;
    owe_everything_again();
    return true;
}

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
bool Model<Rules, PropertyCount, InFlightMax>::reopen(bool keeps_pair) {
    // "The client kept the object" can only be said of a client that is known to have it.
    if (!open_is_acked_) {
        return false;
    }
    open_is_owed_ = true;
    open_is_acked_ = false;
    if (!keeps_pair) {
        pair_ = {};
        hidden_at_ = 0;
    }
    for (std::size_t i = 0; i < packet_count_; ++i) {
        packets_[i].is_former = true;
        if (!keeps_pair) {
            packets_[i].has_record = false;
            packets_[i].record = {};
        }
    }
    pair_.reopen(version_);
    client_has_open_ = false;
    owe_everything_again();
    return true;
}

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
bool Model<Rules, PropertyCount, InFlightMax>::hide() {
    if (is_hidden_) {
        return false;
    }
    is_hidden_ = true;
    hidden_at_ = pair_.held_version();
    return true;
}

template <class Rules, std::size_t PropertyCount, std::size_t InFlightMax>
bool Model<Rules, PropertyCount, InFlightMax>::show() {
    if (!is_hidden_) {
        return false;
    }
    pair_.activate_condition(hidden_at_);
    is_hidden_ = false;
    hidden_at_ = 0;
    owe_everything_again();
    return true;
}

}  // namespace replayout::model
