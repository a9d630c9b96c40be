// SPDX-License-Identifier: MIT
#include "replication_client.h"

#include "control_message.h"
#include "stable_name.h"

#include <random>

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
    : stats_(stats),
      close_log_(layouts, now),
      connection_(
          settings.config,
          PacketStream::Settings::of(settings.config, server, choose_session(settings.seed, now)),
          ReceiveLimits::of_server(settings.config), transport, stats,
          playing.has_value() ? ConnectionState::Joined : ConnectionState::Connecting, now, memory,
          close_log_),
      server_layouts_(layouts, settings.config, server, peer_log_, connection_.now(),
                      &memory.layout_table),
      environment_{settings.config, connection_.now(), server_layouts_, world,  guids,    stats,
                   memory,          handlers,          is_calling_out,  server, peer_log_},
      handshake_(settings, layouts, server_layouts_, connection_),
      calls_(settings.config, ReceiveLimits::of_client(settings.config),
             connection_.packets().first_sequence(), &memory.in_flight),
      receiver_(environment_, calls_),
      batch_(receiver_.objects()),
      outgoing_calls_(environment_, settings, layouts, connection_, calls_, receiver_,
                      !playing.has_value()),
      is_playing_(playing.has_value()),
      is_join_told_(playing.has_value() && playing->is_join_told) {
    if (!is_playing_) {
        handshake_.send_hello();
    }
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
        outgoing_calls_.send();
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
    const NetTime since =
        now.plus_milliseconds(-std::int64_t{environment_.config.waiting_timeout_ms});
    if (connection_.is_control_stuck_since(since) ||
        receiver_.is_stuck_since(connection_.account(), since)) {
        connection_.close(CloseReason::ReliableOverflow, now);
    }
}

void ReplicationClient::tell_of_peers() {
    if (!is_join_told_ && connection_.state() == ConnectionState::Joined) {
        is_join_told_ = true;
        environment_.world.peer_joined(connection_.peer());
    }
    if (is_open_) {
        batch_.tell_end(environment_.world);
    }
    if (!is_end_told_ && !is_open_) {
        is_end_told_ = true;
        environment_.world.peer_left(connection_.peer(), connection_.close_reason());
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

void ReplicationClient::run_kept_calls(ObjectHandle object) {
    close_unless_none(object.is_null() ? receiver_.calls().run_kept()
                                       : receiver_.calls().run_kept_of(object));
}

void ReplicationClient::run_put_off_calls() {
    if (is_open_) {
        close_unless_none(receiver_.calls().run_put_off());
        close_when_ended();
    }
}

void ReplicationClient::close_unless_none(CloseReason reason) {
    if (reason != CloseReason::None) {
        connection_.blame(receiver_.refusal());
        connection_.close(reason, connection_.now());
    }
}

CloseReason ReplicationClient::handle_bunch(const BunchHeader& header,
                                            std::span<const std::byte> payload,
                                            DecodeBudget& budget) {
    const CloseReason reason =
        receiver_.receive_bunch(header, payload, connection_.account(), budget);
    connection_.blame(reason == CloseReason::None ? CloseDetails() : receiver_.refusal());
    return reason;
}

CloseReason ReplicationClient::handle_control(std::span<const std::byte> message) {
    if (connection_.state() != ConnectionState::Connecting) {
        return batch_.receive(message) ? CloseReason::None : receive_destruction_notice(message);
    }
    if (RefusedLayout refused; read_refused_layout(message, refused)) {
        return handshake_.receive_refusal(refused);
    }
    if (!read_welcome(message)) {
        return handshake_.receive_layout(message, !receiver_.channels().is_empty());
    }
    connection_.set_joined();
    return CloseReason::None;
}

CloseReason ReplicationClient::receive_destruction_notice(std::span<const std::byte> message) {
    BitReader objects(message);
    if (!read_destruction_notice(message, objects)) {
        return CloseReason::NotAllowed;
    }
    while (objects.bits_left() > 0) {
        const DestroyedObject object = read_destroyed_object(objects);
        const CloseReason reason =
            receiver_.objects().named_object_ended(object.guid, object.stable_name);
        if (reason != CloseReason::None) {
            return reason;
        }
    }
    return CloseReason::None;
}

CloseReason ReplicationClient::handle_blocks(BitReader& reader) {
    const CloseReason reason = receiver_.receive_blocks(reader);
    connection_.blame(reason == CloseReason::None ? CloseDetails() : receiver_.refusal());
    return reason;
}

// Playing: packets come from a recording, and nothing is sent.

CloseReason ReplicationClient::add_layout(std::span<const std::byte> message) {
    REPLAYOUT_ASSERT(is_playing_ && receiver_.channels().is_empty());
    std::uint32_t name_hash = 0;
    return server_layouts_.add(message, name_hash);
}

void ReplicationClient::play(std::span<const std::byte> content, bool has_bunches, NetTime now) {
    REPLAYOUT_ASSERT(is_playing_);
    run_put_off_calls();
    connection_.play(content, has_bunches, now, *this);
    close_when_ended();
}

void ReplicationClient::begin_checkpoint() {
    REPLAYOUT_ASSERT(is_playing_);
    connection_.play_anew();
    batch_.begin_anew();
    receiver_.objects().begin_carrying_over();
}

void ReplicationClient::end_checkpoint() {
    receiver_.objects().end_carrying_over();
}

void ReplicationClient::stop_playing() {
    if (is_open_) {
        is_open_ = false;
        is_end_told_ = true;
        receiver_.close_all();
    }
}

}  // namespace replayout
