// SPDX-License-Identifier: MIT
//
// Remote calls that a server makes on this client: they run after the values and notifies of their
// packet, in their order, as far as one packet may cost. Those that the world does not let run yet
// are kept.
#pragma once

#include "call_queue.h"
#include "call_runner.h"
#include "call_work.h"
#include "client_channels.h"
#include "client_environment.h"
#include "client_world.h"
#include "incoming_calls.h"
#include "kept_calls.h"
#include "object_updates.h"
#include "received_amounts.h"

#include <optional>

namespace replayout {

class ReceivedCalls {
  public:
    /// `outgoing` are this client's own, which end with their object.
    ReceivedCalls(const ClientEnvironment& environment, ClientChannels& channels,
                  ClientWorld& world, ReceivedAmounts& amounts, ObjectUpdates& updates,
                  CallQueue& outgoing);

    /// A call, or a part of one.
    [[nodiscard]] CloseReason receive(const BunchHeader& header,
                                      std::span<const std::byte> payload);
    /// Blocks of the packet took so many steps of keyed arrays, before any call.
    void spend_blocks(std::uint64_t array_steps) noexcept { work_.spend_blocks(array_steps); }
    /// Runs what the packet brought, when its blocks are applied, as far as a packet may cost.
    [[nodiscard]] CloseReason run_all();
    /// The packet is refused, so what it brought does not run.
    void drop_due() { calls_.drop_due(); }
    /// Goes on with calls that were more than one packet may cost. Once a dispatch, and before any
    /// packet of it.
    [[nodiscard]] CloseReason run_put_off();
    /// So many are put off that no packet should come before some of them ran.
    [[nodiscard]] bool is_full() const noexcept { return has_put_off_ && calls_.is_full(); }

    /// Runs the calls that were kept, as far as the world lets them now, and as far as one packet
    /// may cost; the rest later, as run_put_off() says.
    [[nodiscard]] CloseReason run_kept();
    /// The same of one object.
    [[nodiscard]] CloseReason run_kept_of(ObjectHandle object);

    /// The channel is about to close: runs what it has, and drops, counts and logs those for which
    /// the packet's work has no room.
    [[nodiscard]] CloseReason run_last_of(ChannelIndex index);
    /// The object of the channel goes, or the channel closes: nothing of its calls is left.
    void drop_of(ChannelIndex index);
    void clear();
    /// What waits for calls before it, as if they had never come.
    void clear_received() { calls_.clear(); }

    /// A function that this client calls, of an object that it shows, and that runs here alone.
    void run_here(const RepFunction& function, ObjectHandle object, void* memory,
                  const void* params) {
        runner_.run_here(function, memory, params, {object, {}, {}});
    }
    [[nodiscard]] const CurrentCall* current() const noexcept { return runner_.current_call(); }
    [[nodiscard]] bool is_stuck_since(NetTime time) const noexcept {
        return calls_.is_stuck_since(time);
    }
    /// See NetDriver.
    void values_grew(ObjectHandle object, std::uint64_t bytes);

  private:
    /// What of one channel is due. What is not run is dropped then.
    [[nodiscard]] CloseReason run_due_of(ChannelIndex channel);
    void drop_due_of(ChannelIndex index);
    /// Runs the call, or keeps it if the world does not let it run yet. Nothing: it is to be put
    /// off.
    [[nodiscard]] std::optional<CloseReason> run(const DueCall& call);
    /// Runs what these bytes call. The channel is open.
    [[nodiscard]] CloseReason run_now(ChannelIndex index, std::span<const std::byte> payload);
    /// `is_last`: what may not run now is dropped. Nothing: the rest is to be put off.
    [[nodiscard]] std::optional<CloseReason> run_kept_of(ChannelIndex index, bool is_last);
    /// What run_kept_of() put off runs later.
    [[nodiscard]] CloseReason note_put_off(std::optional<CloseReason> reason) noexcept;
    [[nodiscard]] bool may_run(ChannelIndex index, const RepFunction& function, bool is_last);
    /// The function of a call whose head is read; null: this client has none such, or is not to be
    /// called of it. `reason` is None then, unless the bytes are malformed.
    [[nodiscard]] const RepFunction* read_function(ChannelIndex index, BitReader& reader,
                                                   CloseReason& reason);

    const ClientEnvironment& environment_;
    ClientChannels& channels_;
    ClientWorld& world_;
    ReceivedAmounts& amounts_;
    ObjectUpdates& updates_;
    CallQueue& outgoing_;
    IncomingCalls calls_;
    KeptCalls kept_;
    CallWork work_;             // of the packet, or of the dispatch
    bool has_put_off_ = false;  // due, or kept
    CallRunner runner_;
};

}  // namespace replayout
