// SPDX-License-Identifier: MIT
//
// Remote calls to one client, each with the state that it means.
//
// A call means its target and the objects that its parameters name, as they were when it was made.
// So of each of them either the client's copy is complete as of then, or the call goes in one
// packet with everything that changed since the version as of which it is (CompleteVersions):
//
//     complete as of 7     in flight (7, 9] (9, 12]     version at the call 14
//     packet   [ call ][ block of all that changed since 7 ]
//
// Whatever becomes of the packets before it, a packet that arrives brings the state with the call.
// One that is lost makes both owed again. A call whose state does not fit beside it waits until
// that was delivered; if that does not come to pass, the state goes ahead reliably (StateAhead).
// For a call larger than a packet, all this applies to its last part; the others go ahead as soon
// as the channel is open.
//
// CallQueue keeps the calls, this decides when each goes, and with what.
#pragma once

#include <replayout/reflection/memory.h>
#include <replayout/send_properties.h>

#include "call_encoder.h"
#include "call_queue.h"
#include "connection_pairs.h"
#include "hidden_states.h"
#include "object_channels.h"
#include "packet_stream.h"
#include "send_outcome.h"
#include "sender_settings.h"
#include "sent_records.h"
#include "state_ahead_objects.h"
#include "waiting_values.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

class CallSender {
  public:
    /// What it works with, all of which outlives it.
    struct Parts {
        const ObjectStore& objects;
        ConnectionPairs& pairs;
        WaitingValues& values;
        SentRecords& records;
        ObjectChannels& channels;
        HiddenStates& hidden_states;
        StateAheadObjects& ahead;
        PacketStream& packets;
        CallQueue& calls;
        SendContext& context;
    };
    /// `body` has room for a packet, and is scratch between two calls of a function here.
    CallSender(const Parts& parts, const SenderSettings& settings, std::span<std::byte> body,
               MemoryMeters& memory);

    /// Adds the call that `encoder` holds. Returns Sent, Queued, the encoder's refusal, or Full
    /// where there is no room for one so large. Requires has_room_for_call().
    [[nodiscard]] CallResult add_call(const NewCall& call, CallEncoder& encoder,
                                      SendContext& context);
    /// Adds objects to those that the last added call names.
    void name_in_last_call(std::span<const ObjectIndex> indices);
    /// Not too many of that function are queued.
    [[nodiscard]] bool may_queue_call(ObjectIndex index, FunctionIndex function) const noexcept;
    [[nodiscard]] bool has_room_for_call(bool is_reliable) const noexcept {
        return parts_.calls.has_room_for(is_reliable, PacketBuilder::packet_bytes_limit);
    }

    /// Sends each call whose state has arrived or fits beside it, while the window has room.
    void send_calls();

  private:
    /// A block that is to go with a call, in Scratch::body.
    struct CallBlock {
        ObjectIndex index{};
        std::size_t offset = 0;
        std::size_t size = 0;
        SentBlock sent;  // its findings are those of the last block that was collected
        BlockValues values;
    };

    /// Memory that is used again.
    struct Scratch {
        Scratch(std::span<std::byte> body_bytes, MemoryResource* resource)
            : body(body_bytes),
              waiting_channels(Allocator<ChannelIndex>(resource)),
              opening_channels(Allocator<ChannelIndex>(resource)),
              call_blocks(Allocator<CallBlock>(resource)),
              carried(Allocator<ObjectIndex>(resource)) {}

        std::span<std::byte> body;
        Vector<ChannelIndex> waiting_channels;  // with a call that waits
        Vector<ChannelIndex> opening_channels;  // with a call that needs an open first
        Vector<CallBlock> call_blocks;
        // Objects of which the open packet, of that number, carries all that changed since what
        // was delivered.
        Vector<ObjectIndex> carried;
        std::uint64_t carried_packet = 0;
    };

    /// The calls that were made since the last flush mean what their objects are now.
    void note_versions();
    void note_versions(OutgoingCall& call);
    enum class Opens : std::uint8_t { NotNeeded, Needed };

    /// False: the window of packets is full.
    [[nodiscard]] bool send_calls_of(bool are_queued);
    [[nodiscard]] bool send_calls_of(bool are_queued, Opens opens);
    /// An object that the call means is not open, and is to be opened for it.
    [[nodiscard]] bool needs_open(const OutgoingCall& call) const noexcept;
    [[nodiscard]] SendOutcome send_call(OutgoingCall& call);
    /// Opens what the call means and is not open. Done: all of it is open, or is being opened.
    [[nodiscard]] SendOutcome open_named(const OutgoingCall& call);
    /// The parts of calls that have begun, but the last of each: where more begin meanwhile, each
    /// waits long for its end. Returns whether the last part of any may be due.
    [[nodiscard]] bool send_begun_parts();
    /// The last parts go before older calls, which may be many and may all have waited for the
    /// state of one object: a client gives up a call of which nothing comes for
    /// NetConfig::waiting_timeout_ms. False: the window of packets is full.
    [[nodiscard]] bool send_last_parts();
    /// Sends that call if its turn has come, and goes on to the next. False: the window of packets
    /// is full.
    [[nodiscard]] bool send_next(CallQueue::Calls::iterator& call);
    /// Whether the last part of a call in parts could go now with the state that the call means.
    [[nodiscard]] bool could_end(const OutgoingCall& call);
    /// Collects the blocks that must go with a call, and adds their size. False: the call waits.
    [[nodiscard]] bool collect_call_blocks(const OutgoingCall& call, std::size_t& bytes);
    /// The call waits for all objects whose blocks were collected: together they do not fit.
    void hold_back_blocks();
    /// The call was sent: nothing goes ahead of it any more.
    void stop_ahead(const OutgoingCall& call) noexcept;
    [[nodiscard]] bool is_waited_for(ObjectIndex index) const noexcept;
    /// Nothing of its state can travel with a call: it has to be delivered first.
    [[nodiscard]] bool must_be_delivered(ObjectIndex index, Version complete) const;
    /// Adds the block that brings the object from `complete` to what it is, as `bytes` counts.
    /// False: it does not fit beside the others.
    [[nodiscard]] bool collect_block(ObjectIndex index, Version complete, std::size_t& bytes);
    void keep_opens_of(const OutgoingCall& call);
    [[nodiscard]] bool collect_first_blocks_of_outers(ObjectIndex part, std::size_t& bytes);
    [[nodiscard]] std::size_t call_array_steps() const noexcept;
    /// Where the next of them goes in Scratch::body.
    [[nodiscard]] std::size_t call_blocks_end() const noexcept;
    void write_call_blocks();
    /// Whether the call waits for `named`: it is alive, and is the target, or neither dormant nor
    /// hidden.
    [[nodiscard]] bool is_meant(const OutgoingCall& call, const NamedObject& named) const noexcept;
    [[gnu::cold, gnu::noinline]] [[nodiscard]] bool is_leaving_behind_calls(
        ObjectIndex index) const noexcept;
    [[nodiscard]] bool is_named_alive(const NamedObject& named) const noexcept;
    /// It was hidden, and so was the target: what it was then goes with the call.
    [[nodiscard]] bool is_meant_as_hidden(const OutgoingCall& call,
                                          const NamedObject& named) const noexcept;
    /// The call cannot go before the client's channel of `named` is open, or is being opened.
    [[nodiscard]] bool needs_channel(const OutgoingCall& call,
                                     const NamedObject& named) const noexcept;
    /// Adds its block to those that go with the call, and its size to `bytes`. False: the call
    /// waits.
    [[nodiscard]] bool collect_hidden_block(ObjectIndex index, std::size_t& bytes);

    Parts parts_;
    SenderSettings settings_;
    Scratch scratch_;
};

}  // namespace replayout
