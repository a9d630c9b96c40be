// SPDX-License-Identifier: MIT
#include "replication_client.h"

#include <replayout/layout_description.h>

#include "control_message.h"
#include "packet_builder.h"
#include "stable_name.h"

#include <algorithm>
#include <array>
#include <random>
#include <string>

namespace replayout {

namespace {

// Sorts out packets of an earlier session of the same peer; it need not be secret, only different.
[[nodiscard]] std::uint16_t choose_session(std::uint64_t seed, NetTime now) {
    const auto time = static_cast<std::uint64_t>(now.microseconds);
    return static_cast<std::uint16_t>(std::mt19937_64(seed ^ time)());
}

// The same numbers in turn for each process that begins with the same; all 65,536 come.
[[nodiscard]] std::uint16_t session_after(std::uint16_t session) {
    return static_cast<std::uint16_t>(session * 0x6A4Du + 0x3C6Fu);
}

}  // namespace

ReplicationClient::ReplicationClient(const NetDriverSettings& settings, const LayoutTable& layouts,
                                     Transport& transport, NetWorld& world, NetGUIDCache& guids,
                                     NetStats& stats, PeerId server, NetTime now,
                                     MemoryMeters& memory, const SpawnHandlers& handlers,
                                     bool& is_calling_out, const std::optional<Playing>& playing)
    : layouts_(layouts),
      policy_(settings.layout_policy),
      stats_(stats),
      close_log_(layouts, now),
      connection_(
          settings.config,
          PacketSender::Settings::of(settings.config, server, choose_session(settings.seed, now)),
          ReceiveLimits::of_server(settings.config), transport, stats,
          playing.has_value() ? ConnectionState::Joined : ConnectionState::Connecting, now, memory,
          close_log_),
      server_layouts_(layouts, settings.config, server, peer_log_, connection_.now(),
                      &memory.layout_table),
      calls_(settings.config, ReceiveLimits::of_client(settings.config),
             connection_.packets().first_sequence(), &memory.in_flight),
      limiter_(settings.config, CallLimiter::Side::Client, now, &memory.in_flight),
      waiting_channels_(Allocator<ChannelIndex>(&memory.scratch)),
      call_scratch_(&memory.scratch),
      call_context_{guids,   stats.replication,     call_scratch_, settings.sharing,
                    nullptr, settings.is_validating},
      call_encoder_(ReceiveLimits::of_client(settings.config), &memory.scratch),
      receiver_({settings.config, connection_.now(), server_layouts_, world, guids, stats, memory,
                 handlers, is_calling_out, server, peer_log_},
                calls_),
      world_(world),
      guids_(guids),
      resource_(settings.resource),
      message_bytes_max_(fragment_bytes(settings.config.packet_bytes_max)),
      waiting_timeout_ms_(settings.config.waiting_timeout_ms),
      is_playing_(playing.has_value()),
      is_join_told_(playing.has_value() && playing->is_join_told) {
    if (!is_playing_) {
        send_hello(settings.config);
    }
}

void ReplicationClient::send_hello(const NetConfig& config) {
    // One bunch in one packet, so that a server can judge it before it keeps anything.
    std::array<std::byte, PacketBuilder::packet_bytes_limit> ids;
    std::array<std::byte, PacketBuilder::packet_bytes_limit> message;
    const std::size_t room_bytes = fragment_bytes(config.packet_bytes_max) - hello_bytes;
    const std::size_t id_bytes = layouts_.write_ids(std::span(ids).first(room_bytes));
    BitWriter writer(message);
    write_hello(writer, {wire_version, layouts_.digest(), layouts_.count(),
                         std::span(ids).first(id_bytes), policy_ == LayoutPolicy::SkipUnknown});
    connection_.send_control(writer.bytes());
}

void ReplicationClient::receive(PeerId peer, std::span<const std::byte> datagram, NetTime now) {
    if (peer != connection_.peer()) {
        ++stats_.packets_dropped;
        return;
    }
    if (receiver_.calls().is_full()) {
        ++stats_.packets_dropped;
        ++stats_.packets_over_rate;
        return;
    }
    connection_.receive(datagram, now, *this, *this);
    close_when_ended();
}

void ReplicationClient::receive_held(NetTime now) {
    connection_.receive_held(now, *this, *this);
    close_when_ended();
}

void ReplicationClient::flush(NetTime now) {
    connection_.begin_flush(now);
    if (connection_.is_session_taken()) {
        connection_.begin_session(session_after(connection_.session()));
    }
    close_when_stuck(now);
    if (connection_.state() == ConnectionState::Joined &&
        connection_.packets().write_first_bunches(false)) {
        send_calls();
    }
    connection_.flush(now);
    close_when_ended();
}

void ReplicationClient::close_when_stuck(NetTime now) {
    constexpr std::int64_t interval_ms = 1'000;  // it looks at every channel
    if (now < next_look_) {
        return;
    }
    next_look_ = now.plus_milliseconds(interval_ms);
    const NetTime since = now.plus_milliseconds(-std::int64_t{waiting_timeout_ms_});
    if (connection_.is_control_stuck_since(since) ||
        receiver_.is_stuck_since(connection_.account(), since)) {
        connection_.close(CloseReason::ReliableOverflow, now);
    }
}

void ReplicationClient::tell_of_peers() {
    if (!is_join_told_ && connection_.state() == ConnectionState::Joined) {
        is_join_told_ = true;
        world_.peer_joined(connection_.peer());
    }
    if (is_initial_finished_ && !is_initial_end_told_ && is_open_) {
        is_initial_end_told_ = true;
        world_.initial_batch_finished();
    }
    if (!is_end_told_ && !is_open_) {
        is_end_told_ = true;
        world_.peer_left(connection_.peer(), connection_.close_reason());
    }
}

void ReplicationClient::disconnect(NetTime now) {
    connection_.close(CloseReason::Requested, now);
    close_when_ended();
}

void ReplicationClient::close_when_ended() {
    const ConnectionState state = connection_.state();
    if (is_open_ && (state == ConnectionState::Closing || state == ConnectionState::Closed)) {
        is_open_ = false;
        receiver_.close_all();
    }
}

CloseReason ReplicationClient::handle_bunch(const BunchHeader& header,
                                            std::span<const std::byte> payload,
                                            DecodeBudget& budget) {
    const CloseReason reason =
        receiver_.receive_bunch(header, payload, connection_.account(), budget);
    connection_.blame(reason == CloseReason::None ? ClosePlace() : receiver_.refused_place());
    return reason;
}

CloseReason ReplicationClient::handle_control(std::span<const std::byte> message) {
    if (connection_.state() != ConnectionState::Connecting) {
        return receive_initial_batch(message) ? CloseReason::None
                                              : receive_destruction_notice(message);
    }
    if (RefusedLayout refused; read_refused_layout(message, refused)) {
        return receive_refusal(refused);
    }
    if (!read_welcome(message)) {
        return receive_layout(message);
    }
    connection_.set_joined();
    return CloseReason::None;
}

bool ReplicationClient::receive_initial_batch(std::span<const std::byte> message) {
    std::uint32_t count = 0;
    if (!initial_count_.has_value() && read_initial_batch_started(message, count)) {
        initial_count_ = count;
        receiver_.objects().begin_initial_batch();
        return true;
    }
    if (initial_count_.has_value() && !is_initial_finished_ &&
        read_initial_batch_finished(message)) {
        is_initial_finished_ = true;
        return true;
    }
    return false;
}

InitialBatchProgress ReplicationClient::initial_batch() const noexcept {
    InitialBatchProgress progress;
    progress.object_count = initial_count_.value_or(0);
    progress.spawned_count = receiver_.objects().opened_count();
    if (initial_count_.has_value()) {
        progress.spawned_count = std::min(progress.spawned_count, *initial_count_);
    }
    progress.is_started = receiver_.objects().has_begun_initial_batch();
    progress.is_finished = is_initial_end_told_;
    return progress;
}

CloseReason ReplicationClient::receive_destruction_notice(std::span<const std::byte> message) {
    BitReader objects(message);
    if (!read_destruction_notice(message, objects)) {
        return CloseReason::NotAllowed;
    }
    while (objects.bits_left() > 0) {
        const DestroyedObject object = read_destroyed_object(objects);
        receiver_.objects().named_object_ended(object.guid, object.stable_name);
    }
    return CloseReason::None;
}

CloseReason ReplicationClient::receive_layout(std::span<const std::byte> message) {
    // Channels that are open already were opened by numbers which would now mean something else.
    if (policy_ != LayoutPolicy::SkipUnknown || !receiver_.channels().is_empty()) {
        return CloseReason::NotAllowed;
    }
    std::uint32_t name_hash = 0;
    const CloseReason reason = server_layouts_.add(message, name_hash);
    connection_.blame_layout(name_hash);
    if (reason == CloseReason::LayoutMismatch) {
        find_described(message);
    }
    return reason;
}

CloseReason ReplicationClient::receive_refusal(const RefusedLayout& refused) {
    connection_.blame_layout(refused.name_hash);
    const RepLayout* const ours = layouts_.find_by_hash(refused.name_hash);
    const bool is_theirs = !refused.explanation.empty();
    if (ours != nullptr && is_theirs) {
        Result<LayoutDifference> found = find_layout_difference(*ours, refused.explanation);
        if (!found) {
            return CloseReason::MalformedBunch;
        }
        tell_difference({std::string(ours->name()), *std::move(found)});
    } else if (ours != nullptr) {
        tell_difference({std::string(ours->name()), {LayoutAspect::Class, {}, "present", {}}});
    } else if (is_theirs) {
        const Result<std::string_view> name = explained_name(refused.explanation);
        if (!name) {
            return CloseReason::MalformedBunch;
        }
        tell_difference({std::string(*name), {LayoutAspect::Class, {}, {}, "present"}});
    }
    return CloseReason::LayoutMismatch;
}

void ReplicationClient::find_described(std::span<const std::byte> message) {
    std::span<const std::byte> description;
    if (!read_described_layout(message, description)) {
        return;
    }
    const std::string name(described_name(description));
    const RepLayout* const ours = layouts_.find_by_name(name);
    if (ours == nullptr) {
        tell_difference({name, {LayoutAspect::Class, {}, {}, "present"}});
        return;
    }
    // Where only a limit of this driver is in the way, the line of the log that names it is there.
    Result<LayoutDifference> found = find_described_difference(*ours, description);
    if (found && found->aspect != LayoutAspect::Other) {
        tell_difference({name, *std::move(found)});
    }
}

void ReplicationClient::tell_difference(ClassDifference difference) {
    difference_ = std::move(difference);
    difference_sentence_ = to_sentence(difference_.difference);
    ClosePlace place;
    place.layout_class = difference_.class_name;
    place.layout_difference = difference_sentence_;
    connection_.blame(place);
    connection_.set_last_words(
        layout_difference_message(difference_, message_bytes_max_, resource_));
}

CloseReason ReplicationClient::handle_blocks(BitReader& reader) {
    const CloseReason reason = receiver_.receive_blocks(reader);
    connection_.blame(reason == CloseReason::None ? ClosePlace() : receiver_.refused_place());
    return reason;
}

}  // namespace replayout
