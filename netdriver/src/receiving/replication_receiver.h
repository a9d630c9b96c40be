// SPDX-License-Identifier: MIT
//
// The objects that a server shows to this client: channels, what arrives on them, and the
// references between them.
//
// A reference names an id. When the object behind it appears, every reference to it is set; before
// that object is destroyed every reference to it is null. For that each id knows the channels that
// mention it.
//
// What a packet brings takes effect in one order, whatever objects it is of:
//
//     bunches: objects come and go, roles, large values    blocks: values    notifies    calls
//
// Before an object goes, all notifies run, and then the calls of that object.
#pragma once

#include <replayout/netdriver/memory_report.h>
#include <replayout/netdriver/net_guid_cache.h>
#include <replayout/netdriver/net_stats.h>
#include <replayout/netdriver/net_world.h>
#include <replayout/netdriver/peer_log.h>
#include <replayout/receive_properties.h>
#include <replayout/reflection/hash.h>

#include "actor_channel.h"
#include "call_work.h"
#include "channel_lists.h"
#include "close_log.h"
#include "kept_calls.h"
#include "open_message.h"
#include "remote_function_receiver.h"
#include "remote_function_runner.h"
#include "remote_function_sender.h"
#include "session_layouts.h"
#include "value_scope.h"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace replayout {

/// By the layout of what is spawned; looked up, never walked.
using SpawnHandlers = std::pmr::unordered_map<const RepLayout*, SpawnHandler*>;

class ReplicationReceiver final : private ReliableMessageHandler {
  public:
    /// `now` is of what the connection receives, and outlives the receiver.
    ReplicationReceiver(const NetConfig& config, const NetTime& now, const SessionLayouts& layouts,
                        NetWorld& world, NetGUIDCache& guids, NetStats& stats,
                        RemoteFunctionSender& outgoing_calls, MemoryMeters& memory,
                        const SpawnHandlers& handlers, bool& is_calling_out, PeerId server,
                        PeerLog& peer_log);
    ~ReplicationReceiver();
    ReplicationReceiver(const ReplicationReceiver&) = delete;
    ReplicationReceiver& operator=(const ReplicationReceiver&) = delete;

    /// A bunch on an object's channel. `account` is the connection's, `budget` the packet's.
    [[nodiscard]] CloseReason receive_bunch(const BunchHeader& header,
                                            std::span<const std::byte> payload,
                                            ReliableAccount& account, DecodeBudget& budget);
    [[nodiscard]] CloseReason receive_blocks(BitReader& reader);

    /// Something on a channel waits since then for what did not come; `account` is the
    /// connection's.
    [[nodiscard]] bool is_stuck_since(const ReliableAccount& account, NetTime time) const;

    /// Whether anything came on an object's channel, ever.
    [[nodiscard]] bool has_channels() const noexcept { return !channels_.empty(); }

    /// The world is told, if it was not.
    void begin_initial_batch();
    [[nodiscard]] bool has_begun_initial_batch() const noexcept { return has_begun_batch_; }
    /// Objects that came, without their parts.
    [[nodiscard]] std::uint32_t opened_count() const noexcept { return opened_count_; }

    /// The object with that stable name is no more, and its channel was not closed for that.
    void named_object_ended(NetGUID guid, std::string_view stable_name);
    /// Of what was refused last.
    [[nodiscard]] const ClosePlace& refused_place() const noexcept { return refused_place_; }

    /// The connection ended: every object is despawned.
    void close_all();
    /// Another connection of the same server takes the place of this one, which had been sent all:
    /// what comes now opens the objects that are here already, as if they had been dormant.
    void begin_carrying_over();
    /// What it did not open is despawned.
    void end_carrying_over();

    [[nodiscard]] ObjectRole role_of(ObjectHandle object) const noexcept;
    [[nodiscard]] NetGUID find_reference(ObjectHandle object, const RepPath& path) const noexcept;
    /// The channel that shows an object, or null. `index` is its channel's.
    [[nodiscard]] const ActorChannel* find_channel_of(ObjectHandle object,
                                                      ChannelIndex& index) const noexcept;

    /// A function that this client calls, of an object that it shows, and that runs here alone.
    void run_here(const RepFunction& function, ObjectHandle object, void* memory,
                  const void* params) {
        call_runner_.run_here(function, memory, params, {object, {}, {}});
    }
    /// Asks the world, which must not call a function meanwhile. Null: it has none.
    [[nodiscard]] void* memory_of(ObjectHandle object) {
        const ValueScope asking(is_asking_memory_, true);
        return world_.object_memory(object);
    }
    [[nodiscard]] bool is_asking_memory() const noexcept { return is_asking_memory_; }
    /// Runs the calls that were kept, as far as the world lets them now, and as far as one packet
    /// may cost; the rest later, as run_put_off_calls() says.
    [[nodiscard]] CloseReason run_kept_calls();
    /// The same of one object.
    [[nodiscard]] CloseReason run_kept_calls_of(ObjectHandle object);
    /// See NetDriver.
    void values_grew(ObjectHandle object, std::uint64_t bytes);
    [[nodiscard]] const RemoteFunctionCall* current_call() const noexcept {
        return call_runner_.current_call();
    }
    /// Goes on with calls that were more than one packet may cost. Once a dispatch, and before any
    /// packet of it.
    [[nodiscard]] CloseReason run_put_off_calls();
    /// So many are put off that no packet should come before some of them ran.
    [[nodiscard]] bool is_full_of_calls() const noexcept {
        return has_put_off_calls_ && calls_.is_full();
    }

  private:
    [[nodiscard]] CloseReason handle_message(const BunchHeader& header,
                                             std::span<const std::byte> payload) override;
    [[nodiscard]] bool must_wait(const BunchHeader& header,
                                 std::span<const std::byte> payload) override;
    /// The open that waits on this channel, if one does, waits no more.
    void await_no_more(std::uint32_t index);
    /// What waited for this object is ready.
    void outer_arrived(NetGUID guid);
    /// The channel of that object, or null.
    [[nodiscard]] const ActorChannel* find_outer(NetGUID guid) const noexcept;
    /// False: the world returns no memory for an object that is shown, which is logged.
    [[nodiscard]] bool has_memory(const ActorChannel& channel, const void* object) const;
    [[nodiscard]] CloseReason receive_open(std::span<const std::byte> payload);
    void log_refusal(const ActorChannel& channel, const OpenMessage& open, ObjectHandle spawned);
    void carry_over(std::uint32_t index);
    /// The channel of what was carried over is about to open, maybe for something else.
    void leave_to_another(std::uint32_t index, std::span<const std::byte> payload);
    /// The open of an object that is dormant here.
    [[nodiscard]] CloseReason reopen_channel(ActorChannel& channel, const OpenMessage& open);
    [[nodiscard]] SpawnHandler* handler_of(const RepLayout& layout) const noexcept;
    void set_role(ActorChannel& channel, const ObjectRole& role);
    [[nodiscard]] CloseReason receive_message(std::span<const std::byte> payload);
    [[nodiscard]] CloseReason receive_role(BitReader& reader);
    [[nodiscard]] CloseReason receive_destroyed_parts(BitReader& reader);
    /// A part is there, under the name that its outer has for it, if that is not empty; or goes.
    void note_named_part(ActorChannel& channel, std::string_view stable_name);
    void forget_named_part(ActorChannel& channel) noexcept;
    [[nodiscard]] CloseReason receive_close(std::span<const std::byte> payload);
    [[nodiscard]] CloseReason receive_block(BitReader& reader, ChannelIndex& last_channel);
    /// What a call brings of an object, and what its turn does.
    static constexpr std::uint8_t blocks_of_object_max = 2;
    [[nodiscard]] bool may_take_block(ActorChannel& channel) const noexcept;
    enum class BlockFrame : std::uint8_t {
        Open,    ///< it ends where its last value does
        Filled,  ///< it is refused, untouched, unless it ends where the reader does
        Part,    ///< likewise, and more parts follow
    };
    [[nodiscard]] CloseReason receive_properties_of(std::uint32_t index, BitReader& reader,
                                                    BlockFrame frame);
    /// Ends the update of an object whose last part has not arrived.
    void finish_update();
    /// Notifies of what that channel's object just received may wait.
    void note_waiting(std::uint32_t index);
    /// Hooks and notifies of all that the packet brought so far: before its calls, and before
    /// anything goes.
    [[nodiscard]] bool is_waiting_to_notify(std::uint32_t index) const noexcept;
    void run_notifies();
    void close_channel(std::uint32_t index, ChannelCloseReason reason);
    void drop_calls_of(std::uint32_t index);
    /// Those that the packet's work has no room for, when their object goes.
    void drop_due_calls_of(std::uint32_t index);
    /// The object of a channel is no more a client's.
    void release_object(std::uint32_t index, ChannelCloseReason reason);
    /// Puts the channel, and those of all parts of its object, into family_: outer before inner.
    void collect_family(std::uint32_t index);
    /// As spend_rebind(), of all that goes with that channel.
    [[nodiscard]] bool spend_close(std::uint32_t index);
    [[nodiscard]] CloseReason receive_call(const BunchHeader& header,
                                           std::span<const std::byte> payload);
    /// Runs what the packet brought, when its blocks are applied, as far as a packet may cost.
    [[nodiscard]] CloseReason run_calls();
    /// The same of one channel, which is about to close: what is not run is dropped then.
    [[nodiscard]] CloseReason run_calls_of(ChannelIndex channel);
    /// Runs the call, or keeps it if the world does not let it run yet. Nothing: it is to be put
    /// off.
    [[nodiscard]] std::optional<CloseReason> run_call(const DueCall& call);
    /// Runs what these bytes call. The channel is open.
    [[nodiscard]] CloseReason run_call_now(ChannelIndex index, std::span<const std::byte> payload);
    /// `is_last`: what may not run now is dropped. Nothing: the rest is to be put off.
    [[nodiscard]] std::optional<CloseReason> run_kept_calls_of(ChannelIndex index, bool is_last);
    /// What run_kept_calls_of() put off runs later.
    [[nodiscard]] CloseReason note_put_off(std::optional<CloseReason> reason) noexcept;
    [[nodiscard]] bool may_run(ChannelIndex index, const RepFunction& function, bool is_last);
    /// The function of a call whose head is read; null: this client has none such, or is not to be
    /// called of it. `reason` is None then, unless the bytes are malformed.
    [[nodiscard]] const RepFunction* read_function(ChannelIndex index, BitReader& reader,
                                                   CloseReason& reason);

    void note_refusal(std::uint32_t index, std::string_view function = {}) noexcept;
    [[nodiscard]] ActorChannel* find_channel(std::uint32_t index) const noexcept {
        return index < channels_.size() ? channels_[index] : nullptr;
    }
    /// For what arrives for that object. Its notifies wait.
    [[nodiscard]] ReceiveContext receive_context(const ActorChannel& channel);
    // Count what the object of a channel holds now, for the limits of all objects together.

    /// A block or a call made arrays and texts of `object`, or what the world keeps beside them,
    /// ask for `asked` more bytes.
    void count_dynamic_bytes(ActorChannel& channel, const void* object, std::uint64_t asked);
    void forget_dynamic_bytes(ActorChannel& channel) noexcept;
    void count_references(ActorChannel& channel) noexcept;
    /// And logs the last one that failed.
    void count_values(const ReceiveContext& context);
    void update_mentions(std::uint32_t index);
    void forget_mentions(std::uint32_t index);
    void rebind(NetGUID guid, ObjectHandle target);
    /// Takes from the packet's budget what rebind() is going to cost. False: it is spent.
    [[nodiscard]] bool spend_rebind(NetGUID guid);

    // Keys are a server's choice.
    using KeyTable = std::pmr::unordered_map<std::uint64_t, std::uint32_t, SecretHash>;

    const NetConfig& config_;
    const SessionLayouts& layouts_;
    NetWorld& world_;
    const SpawnHandlers& handlers_;
    NetGUIDCache& guids_;
    NetStats& stats_;
    MemoryResource* resource_;
    Vector<ActorChannel*> channels_;  // by channel index; null: never used
    // Looked up, never walked.
    KeyTable channels_by_guid_;
    // Hash of a stable name -> channel of the object that is there under it.
    KeyTable channels_by_name_;
    ChannelLists mentions_;  // that have a reference to the object
    ChannelLists parts_;     // of its parts
    ChannelLists awaiting_;  // with an open that waits for this outer
    // Parts with stable names that are shown: hash of outer and name -> how many.
    KeyTable named_parts_;
    bool has_begun_batch_ = false;
    std::uint32_t opened_count_ = 0;
    Vector<std::uint32_t> ready_;      // channels that need not wait any more
    Vector<std::uint32_t> family_;     // scratch
    std::size_t reference_count_ = 0;  // of all channels
    std::uint64_t dynamic_bytes_ = 0;  // of all channels
    std::size_t value_bytes_ = 0;      // likewise
    ReceiveScratch scratch_;
    Vector<std::uint32_t> waiting_channels_;  // of the updates whose notifies wait, in their order
    Vector<NetGUID> named_;                   // by the block being read
    Vector<NetGUID> dropped_;                 // by the block being read
    std::uint32_t current_channel_ = 0;       // of the bunch being read
    // Of which parts have arrived, and not the last; 0: none. Anything else that arrives ends its
    // update, so there is one in a connection at most.
    std::uint32_t updating_channel_ = 0;
    DecodeBudget* budget_ = nullptr;  // while a bunch is read
    std::uint32_t packet_count_ = 0;  // that had blocks to be read; wraps
    // What small messages of one packet may still cost in keyed arrays.
    std::uint64_t small_message_steps_ = DecodeBudget::array_steps_default;
    RemoteFunctionSender& outgoing_calls_;
    RemoteFunctionReceiver calls_;
    KeptCalls kept_calls_;
    CallWork call_work_;              // of the packet, or of the dispatch
    bool has_put_off_calls_ = false;  // due, or kept
    bool is_asking_memory_ = false;
    bool& is_calling_out_;  // the driver's: off while the world may call it
    RemoteFunctionRunner call_runner_;
    PeerId server_;
    const NetTime& now_;
    PeerLog& peer_log_;
    std::string failure_;  // of the value that failed last, until it is logged
    ClosePlace refused_place_;
};

}  // namespace replayout
