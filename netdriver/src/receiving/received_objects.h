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

    [[nodiscard]] CloseReason receive_open(ChannelIndex index, std::span<const std::byte> payload);
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
    /// Despawns the objects whose closes came, together, so that a struct that names many of them
    /// is read again once. Called before anything else of the packet takes effect.
    [[nodiscard]] CloseReason end_departures(DecodeBudget& budget);
    /// A close of its object, or of the outer of that, came and did not take effect yet.
    [[nodiscard]] bool is_going(ChannelIndex index) const noexcept {
        const ActorChannel* channel = channels_.find(index);
        return channel != nullptr && channel->departure_number != 0;
    }
    /// References to the object are being set to null, because it despawns.
    [[nodiscard]] bool is_leaving(const ActorChannel& channel) const noexcept {
        return is_letting_go_ && channel.departure_number != 0;
    }
    /// Channels on which something may go on.
    [[nodiscard]] AwaitedOuters& awaited() noexcept { return awaited_; }

    /// Tells the world, if it has not been told.
    void begin_initial_batch();
    [[nodiscard]] bool has_begun_initial_batch() const noexcept { return has_begun_batch_; }
    /// Objects that came, without their parts.
    [[nodiscard]] std::uint32_t opened_count() const noexcept { return opened_count_; }
    /// The object with that stable name is gone, and its channel was not closed for that.
    [[nodiscard]] CloseReason named_object_ended(NetGUID guid, std::string_view stable_name);

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
    /// An object that despawns, by a close of its own or with its outer.
    struct Departure {
        ChannelIndex index;
        ChannelCloseReason reason;
        bool is_closed;  ///< its channel closes as well; else the close of that comes later
    };

    /// The object of that channel, which is not closed, will despawn with its parts.
    void close_later(ChannelIndex index, ChannelCloseReason reason);
    /// Collects the ids of all objects that despawn into departing_.
    void collect_departing();
    /// Despawns all of them.
    void run_departures();
    void forget_departures() noexcept;
    /// Takes the objects that despawn out of the lists of mentions and of parts.
    void forget_names();
    /// The object of a channel is no longer the client's.
    void release(const Departure& departure);
    void close(ChannelIndex index);
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
    Vector<Departure> departures_;    // closes without effect yet, in the order of despawns
    Vector<NetGUID> departing_;       // scratch: their ids, ascending
    Vector<ChannelIndex> going_;      // scratch: their channels
    DecodeBudget* budget_ = nullptr;  // of the packet that brought these closes
    bool is_letting_go_ = false;      // references are being set
    bool has_begun_batch_ = false;
    std::uint32_t opened_count_ = 0;
};

}  // namespace replayout
