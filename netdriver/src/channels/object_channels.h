// SPDX-License-Identifier: MIT
//
// Channels of objects on one connection: opened, closed, and used again. An open that was lost goes
// out again, and everything sent since the first one is owed again, because the client threw it
// away.
//
//     bunch 1   the open             then   values, messages    last   the close
//
// A part opens behind its outer or with it. An object that goes while it is dormant is opened once
// more, without its state, and closed: the client kept it.
#pragma once

#include <replayout/netdriver/channel_close_reason.h>
#include <replayout/netdriver/net_stats.h>
#include <replayout/netdriver/transport.h>
#include <replayout/reflection/memory.h>

#include "call_queue.h"
#include "closing_names.h"
#include "connection_pairs.h"
#include "incoming_calls.h"
#include "object_bunch.h"
#include "open_message.h"
#include "packet_stream.h"
#include "part_notice_sender.h"
#include "role_sender.h"
#include "send_outcome.h"
#include "waiting_values.h"

#include <cstdint>

namespace replayout {

/// Whether a client may call functions of an object.
enum class CallableState : std::uint8_t {
    Yes,
    Late,  ///< it may not have heard yet that the object is gone, or dormant
    No,    ///< it knows of no such object
};

class ObjectChannels {
  public:
    /// What it works with, all of which outlives it.
    struct Parts {
        const ObjectStore& objects;
        ConnectionPairs& pairs;
        WaitingValues& values;
        RoleSender& roles;
        PartNoticeSender& part_notices;
        ClosingNames& closing_names;
        PacketStream& packets;
        CallQueue& calls;
        IncomingCalls& incoming_calls;
        NetStats& stats;
        PeerId peer;
    };
    ObjectChannels(const Parts& parts, MemoryResource* resource);
    [[nodiscard]] const Parts& parts() const noexcept { return parts_; }

    /// Opens the channel of the object, with parts of it as far as the packet has room for them.
    /// Where its outer must come first, that is opened; Done, and the object's is still closed. So
    /// it is where another object of its stable name has to go first.
    [[nodiscard]] SendOutcome open_channel(ObjectIndex index);
    /// The open of the object is that which most clients get, and no part of the object goes with
    /// it. Requires a channel that is closed.
    [[nodiscard]] bool opens_as_usual(ObjectIndex index) const noexcept {
        return parts_.objects.is_alone(index) && frozen_roles_.empty() &&
               !parts_.pairs.dormancy().is_kept_or_frozen(index) &&
               (parts_.objects.destroyed_part_count() == 0 ||
                parts_.objects.destroyed_parts_of(index) == nullptr) &&
               !is_owner(index);
    }
    /// The role of some object is that of before (freeze_role()).
    [[nodiscard]] bool has_frozen_roles() const noexcept { return !frozen_roles_.empty(); }
    /// The open of such an object, whose layout does not need the held version, goes out now.
    SendingRepState& begin_shared_open(ObjectIndex index) {
        ++parts_.stats.channels_opened;
        SendingRepState& pair = parts_.pairs.begin_plain(index);
        add_bunches(pair, 1);
        return pair;
    }
    /// The same where no pair is validated. `is_recent`: the object is one of RecentObjects.
    SendingRepState& begin_shared_open(ObjectIndex index, bool is_recent) {
        ++parts_.stats.channels_opened;
        SendingRepState& pair = parts_.pairs.begin_plain(index, is_recent);
        add_bunches(pair, 1);
        return pair;
    }
    /// Closes an object of which nothing rare is kept, as close_object() does. False, and nothing
    /// done: something rare may be kept. Requires that the pair is not about to leave.
    [[nodiscard]] bool close_plain(ObjectIndex index, ChannelCloseReason reason);
    /// The open of an object was delivered of which there is no bunch (KeptBunches).
    void shared_open_delivered(ObjectIndex index) {
        if (parts_.pairs.validator() != nullptr) {
            (void)bunch_delivered({BunchTag::Kind::Open, index, 0});
            return;
        }
        SendingRepState& pair = parts_.pairs.edit_channel(index);
        resolve_bunch(pair);
        if (channel_state(pair) != ChannelState::Closing) {
            open_delivered(index);  // it is no part
        } else if (bunch_count(pair) == 0) {
            finish_close(index);
        }
    }
    /// The same of a close.
    void close_delivered(ObjectIndex index) {
        if (parts_.pairs.validator() != nullptr) {
            (void)bunch_delivered({BunchTag::Kind::Close, index, 0});
            return;
        }
        SendingRepState& pair = parts_.pairs.edit_channel(index);
        resolve_bunch(pair);
        if (bunch_count(pair) == 0) {
            finish_close(index);
        }
    }
    /// The client is to have the object no more.
    void close_object(ObjectIndex index, ChannelCloseReason reason);
    /// The object's channel is to close: from now on the server takes no call of the client on it.
    void stop_incoming_calls(ObjectIndex index);
    /// The close alone: of a channel that is open, to which nothing more is to be said.
    void queue_close(ObjectIndex index, ChannelCloseReason reason) {
        if (reason == ChannelCloseReason::TearOff) {
            note_closing_name(index);
        }
        queue_close(index, end_messages(index), reason, false);
    }
    /// The object's channel is about to close. Until then the client may find the object under its
    /// stable name when another object of that name opens.
    void note_closing_name(ObjectIndex index);
    /// Whether the client is to have the object. A dormant state is to be applied again.
    void set_relevant(ObjectIndex index, bool is_relevant);

    /// Of an object's channel. True: it is not about to close, so who sent the bunch may go on.
    [[nodiscard]] bool bunch_delivered(const BunchTag& tag);
    void bunch_lost(const BunchTag& tag);

    /// The client has the outer of a subobject, or will have it first.
    [[nodiscard]] bool is_outer_ready(ObjectIndex index) const noexcept;
    /// No other object has to come, or to go, before the channel may be opened.
    [[nodiscard]] bool may_open(ObjectIndex index) const noexcept {
        return is_outer_ready(index) && !is_name_taken(index);
    }
    /// The other end lets no more opens wait than are under way, or not this one.
    [[nodiscard]] bool is_held_back(ObjectIndex index) const noexcept {
        return is_held_back(open_payload_of(index));
    }
    /// The client has a subobject, or will have it before it hears of a close.
    [[nodiscard]] bool has_part_for_certain(ObjectIndex index) const noexcept;
    /// The object is hidden, and its role for the client changes. If its channel opens once more
    /// for calls, its open says what the role was before.
    void freeze_role(ObjectIndex index, const ObjectOwnership& before) {
        frozen_roles_.try_emplace(index, before.role_of(parts_.peer));
    }
    [[nodiscard]] CallableState callable(ChannelIndex channel) const noexcept;
    /// No close is under way.
    [[nodiscard]] bool is_idle() const noexcept { return closing_count_ == 0; }

  private:
    [[nodiscard]] bool is_owner(ObjectIndex index) const noexcept {
        return parts_.objects.has_owner(index) &&
               parts_.objects.at(index)->ownership().owner == parts_.peer;
    }
    [[nodiscard]] bool has_outer_for_certain(ObjectIndex index) const noexcept;
    /// Of its stable name; 0: it has none.
    [[nodiscard]] std::uint64_t name_key_of(ObjectIndex index) const noexcept;
    /// The client still has another object of its name.
    [[nodiscard]] bool is_name_taken(ObjectIndex index) const noexcept;
    /// Its channel is about to open.
    void begin(ObjectIndex index);
    [[nodiscard]] OpenPayload open_payload_of(ObjectIndex index) const noexcept;
    [[nodiscard]] bool is_held_back(const OpenPayload& payload) const noexcept {
        return !parts_.packets.reliable().has_room_for(PacketUse::Objects, payload.bytes().size());
    }
    /// Opens parts of an object behind it, as far as the packet has room for them.
    void open_parts(ObjectIndex index);
    void queue_open(ObjectIndex index, const OpenPayload& payload);
    void open_delivered(ObjectIndex index);
    /// What did not go out by now comes too late. What lies beside the pair is forgotten. Returns
    /// the sequence of the channel's last bunch.
    [[nodiscard]] std::uint16_t end_messages(ObjectIndex index);
    void queue_close(ObjectIndex index, std::uint16_t sequence, ChannelCloseReason reason,
                     bool is_behind_open);
    void finish_close(ObjectIndex index);
    /// The dormant object of that slot is about to be removed.
    void remove_dormant(ObjectIndex index, ChannelCloseReason reason);
    void destroy_kept(ObjectIndex index, const RemovedObject& removed);
    /// False: the channel is free.
    [[nodiscard]] bool finish_dormant_close(ObjectIndex index);

    Parts parts_;
    FlatMap<ObjectIndex, RemovedObject> removed_;    // by object index
    FlatMap<ObjectIndex, ObjectRole> frozen_roles_;  // as at the hide, if they changed since
    std::uint32_t closing_count_ = 0;
};

}  // namespace replayout
