// SPDX-License-Identifier: MIT
//
// The objects of a client as its server opens, closes and tells of them: the world spawns and
// despawns them, by the handler of their class.
//
// Before an object goes, all notifies run, and then the calls of that object. Its parts go with it,
// and first.
#pragma once

#include "awaited_outers.h"
#include "client_channels.h"
#include "client_environment.h"
#include "object_families.h"
#include "object_updates.h"
#include "open_message.h"
#include "received_amounts.h"
#include "received_calls.h"

#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace replayout {

class ReceivedObjects {
  public:
    ReceivedObjects(const ClientEnvironment& environment, ClientChannels& channels,
                    ReceivedAmounts& amounts, ObjectUpdates& updates, ReceivedCalls& calls);

    // What comes in order on a channel. `budget` is the packet's.

    [[nodiscard]] CloseReason receive_open(ChannelIndex index, std::span<const std::byte> payload,
                                           DecodeBudget& budget);
    [[nodiscard]] CloseReason receive_close(ChannelIndex index, std::span<const std::byte> payload,
                                            DecodeBudget& budget);
    /// What this client is to the object, or which of the parts that it makes itself are gone.
    [[nodiscard]] CloseReason receive_message(ChannelIndex index,
                                              std::span<const std::byte> payload);
    /// The open that comes waits for its outer.
    [[nodiscard]] bool must_wait(ChannelIndex index, const BunchHeader& header,
                                 std::span<const std::byte> payload);
    /// A bunch came on that channel, maybe out of order.
    void bunch_arrived(ChannelIndex index, const BunchHeader& header,
                       std::span<const std::byte> payload, DecodeBudget& budget);
    /// Channels on which something may go on.
    [[nodiscard]] AwaitedOuters& awaited() noexcept { return awaited_; }

    /// Tells the world, if it has not been told.
    void begin_initial_batch();
    [[nodiscard]] bool has_begun_initial_batch() const noexcept { return has_begun_batch_; }
    /// Objects that came, without their parts.
    [[nodiscard]] std::uint32_t opened_count() const noexcept { return opened_count_; }
    /// The object with that stable name is gone, and its channel was not closed for that.
    void named_object_ended(NetGUID guid, std::string_view stable_name);

    /// Every object is despawned.
    void close_all();
    /// All objects become as if they had been dormant; what no open takes is despawned then.
    void begin_carrying_over();
    void end_carrying_over();

  private:
    /// The open of an object that is dormant here.
    [[nodiscard]] CloseReason reopen(ActorChannel& channel, const OpenMessage& open);
    void log_refusal(const ActorChannel& channel, const OpenMessage& open, ObjectHandle spawned);
    [[nodiscard]] SpawnHandler* handler_of(const RepLayout& layout) const noexcept;
    void set_role(ActorChannel& channel, const ObjectRole& role);
    [[nodiscard]] CloseReason receive_role(ActorChannel& channel, BitReader& reader);
    [[nodiscard]] CloseReason receive_destroyed_parts(const ActorChannel& channel,
                                                      BitReader& reader);
    /// Takes from the budget what references to all that goes with that channel cost. False: it is
    /// spent.
    [[nodiscard]] bool spend_close(ChannelIndex index, DecodeBudget& budget);
    void close(ChannelIndex index, ChannelCloseReason reason);
    /// The object of a channel is no longer the client's.
    void release(ChannelIndex index, ChannelCloseReason reason);
    void carry_over(ChannelIndex index);
    /// The channel of what was carried over is about to open, maybe for something else.
    void leave_to_another(ChannelIndex index, std::span<const std::byte> payload,
                          DecodeBudget& budget);

    // Keys are a server's choice. Looked up, never walked.
    using KeyTable = std::pmr::unordered_map<std::uint64_t, ChannelIndex, SecretHash>;

    const ClientEnvironment& environment_;
    ClientChannels& channels_;
    ReceivedAmounts& amounts_;
    ObjectUpdates& updates_;
    ReceivedCalls& calls_;
    ObjectFamilies families_;
    AwaitedOuters awaited_;
    // Hash of a stable name -> channel of the object that is there under it.
    KeyTable channels_by_name_;
    bool has_begun_batch_ = false;
    std::uint32_t opened_count_ = 0;
};

}  // namespace replayout
