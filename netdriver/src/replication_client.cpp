// SPDX-License-Identifier: MIT
#include "replication_client.h"

#include "control_message.h"

#include <random>

namespace replayout {

namespace {

// Sorts out packets of an earlier session of the same peer; it need not be secret, only different.
[[nodiscard]] std::uint16_t choose_session(std::uint64_t seed) {
    return static_cast<std::uint16_t>(std::mt19937_64(seed)());
}

}  // namespace

ReplicationClient::ReplicationClient(const NetDriverSettings& settings, const LayoutTable& layouts,
                                     Transport& transport, NetWorld& world, NetGUIDCache& guids,
                                     NetStats& stats, PeerId server, NetTime now)
    : stats_(stats),
      connection_(settings.config,
                  {server, choose_session(settings.seed), settings.config.packet_bytes_max},
                  transport, stats, ConnectionState::Connecting, now, settings.resource),
      receiver_(settings.config, layouts, world, guids, stats, settings.resource) {
    const HelloMessage hello({wire_version, layouts.digest(), layouts.count()});
    connection_.send_control(hello.bytes());
}

void ReplicationClient::receive(PeerId peer, std::span<const std::byte> datagram, NetTime now) {
    if (peer != connection_.peer()) {
        ++stats_.packets_dropped;
        return;
    }
    connection_.receive(datagram, now, *this);
    close_when_ended();
}

void ReplicationClient::flush(NetTime now) {
    connection_.flush(now);
    close_when_ended();
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
                                            std::span<const std::byte> payload) {
    return receiver_.receive_bunch(header, payload, connection_.account());
}

CloseReason ReplicationClient::handle_control(std::span<const std::byte> message) {
    if (connection_.state() != ConnectionState::Connecting || !read_welcome(message)) {
        return CloseReason::NotAllowed;
    }
    connection_.set_joined();
    return CloseReason::None;
}

CloseReason ReplicationClient::handle_blocks(BitReader& reader) {
    return receiver_.receive_blocks(reader);
}

}  // namespace replayout
