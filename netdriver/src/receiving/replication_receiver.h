// SPDX-License-Identifier: MIT
//
// The receiving end of a client: what arrives on the channels of the objects that its server
// shows. Each kind of content has an owner; this is the order between them. What a packet brings
// takes effect in one order, whatever objects it is of:
//
//     bunches: objects come and go, roles, large values    blocks: values    notifies    calls
//     ReceivedObjects                                      ObjectUpdates ReceivedCalls
#pragma once

#include "client_channels.h"
#include "client_environment.h"
#include "client_world.h"
#include "object_updates.h"
#include "received_amounts.h"
#include "received_calls.h"
#include "received_objects.h"

#include <string_view>

namespace replayout {

class ReplicationReceiver final : private ReliableMessageHandler {
  public:
    /// Both outlive the receiver.
    ReplicationReceiver(const ClientEnvironment& environment, CallQueue& outgoing_calls);
    ReplicationReceiver(const ReplicationReceiver&) = delete;
    ReplicationReceiver& operator=(const ReplicationReceiver&) = delete;

    /// A bunch on an object's channel. `account` is the connection's, `budget` the packet's.
    [[nodiscard]] CloseReason receive_bunch(const BunchHeader& header,
                                            std::span<const std::byte> payload,
                                            ReliableAccount& account, DecodeBudget& budget);
    [[nodiscard]] CloseReason receive_blocks(BitReader& reader);
    /// The channel, class and function whose content was refused last.
    [[nodiscard]] const CloseDetails& refusal() const noexcept { return channels_.refusal(); }
    /// Something on a channel waits since then for what did not come; `account` is the
    /// connection's.
    [[nodiscard]] bool is_stuck_since(const ReliableAccount& account, NetTime time) const;
    /// The connection ended: every object is despawned.
    void close_all();

    [[nodiscard]] const ClientChannels& channels() const noexcept { return channels_; }
    [[nodiscard]] ClientWorld& world() noexcept { return world_; }
    [[nodiscard]] ReceivedObjects& objects() noexcept { return objects_; }
    [[nodiscard]] const ReceivedObjects& objects() const noexcept { return objects_; }
    [[nodiscard]] ReceivedCalls& calls() noexcept { return calls_; }
    [[nodiscard]] const ReceivedCalls& calls() const noexcept { return calls_; }
    [[nodiscard]] ObjectRole role_of(ObjectHandle object) const noexcept;
    [[nodiscard]] NetGUID find_reference(ObjectHandle object, const RepPath& path) const noexcept;

  private:
    /// What a call brings of an object, and what its turn does.
    static constexpr std::uint8_t blocks_of_object_max = 2;

    [[nodiscard]] CloseReason handle_message(const BunchHeader& header,
                                             std::span<const std::byte> payload) override;
    [[nodiscard]] bool must_wait(const BunchHeader& header,
                                 std::span<const std::byte> payload) override;
    /// One that is larger than a packet.
    [[nodiscard]] CloseReason receive_value(std::span<const std::byte> payload);
    /// Does what the bunches of a packet left to be done together, before the packet's blocks.
    [[nodiscard]] CloseReason end_bunches(DecodeBudget& budget);
    [[nodiscard]] CloseReason receive_block(BitReader& reader, ChannelIndex& last_channel);
    [[nodiscard]] bool may_take_block(ActorChannel& channel) const noexcept;

    const ClientEnvironment& environment_;
    ClientChannels channels_;
    ClientWorld world_;
    ReceivedAmounts amounts_;
    ObjectUpdates updates_;
    ReceivedCalls calls_;
    ReceivedObjects objects_;
    ChannelIndex current_channel_;    // of the bunch being read
    DecodeBudget* budget_ = nullptr;  // while a bunch is read
    std::uint32_t packet_count_ = 0;  // that had blocks to be read; wraps
    // What small messages of one packet may still cost in keyed arrays.
    std::uint64_t small_message_steps_ = DecodeBudget::array_steps_default;
};

}  // namespace replayout
