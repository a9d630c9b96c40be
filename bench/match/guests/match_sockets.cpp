// SPDX-License-Identifier: MIT
#include "match/guests/match_sockets.h"

#if REPLAYOUT_MATCH_HAS_UDP
#include <replayout/transports/udp_transport.h>
#endif
#if REPLAYOUT_MATCH_HAS_ENET
#include <replayout/transports/enet_transport.h>
#endif
#if REPLAYOUT_MATCH_HAS_WEBSOCKET
#include <replayout/transports/websocket_transport.h>
#endif

#include <type_traits>
#include <utility>

namespace replayout::match {

namespace {

using Made = Result<std::unique_ptr<SocketTransport>>;

template <typename Transport>
[[nodiscard]] Made as_socket(Result<std::unique_ptr<Transport>> made) {
    if (!made) {
        return made.error();
    }
    return std::unique_ptr<SocketTransport>(*std::move(made));
}

[[nodiscard]] Error not_built(MatchTransport transport) {
    return {ErrorCode::InvalidArgument,
            "this build has no transport \"" + std::string(name_of(transport)) + "\""};
}

/// listen() or connect() of the transport's class, to which its default settings are given.
template <typename Open>
[[nodiscard]] Made open(MatchTransport transport, Open&& open) {
    switch (transport) {
#if REPLAYOUT_MATCH_HAS_UDP
        case MatchTransport::Udp:
            return open(static_cast<UdpTransport*>(nullptr), UdpSettings());
#endif
#if REPLAYOUT_MATCH_HAS_ENET
        case MatchTransport::Enet:
            return open(static_cast<EnetTransport*>(nullptr), EnetSettings());
#endif
#if REPLAYOUT_MATCH_HAS_WEBSOCKET
        case MatchTransport::WebSocket:
            return open(static_cast<WebSocketTransport*>(nullptr), WebSocketSettings());
#endif
        default:
            (void)open;
            return not_built(transport);
    }
}

}  // namespace

bool is_built(MatchTransport transport) noexcept {
    switch (transport) {
        case MatchTransport::Udp:
            return REPLAYOUT_MATCH_HAS_UDP;
        case MatchTransport::Enet:
            return REPLAYOUT_MATCH_HAS_ENET;
        case MatchTransport::WebSocket:
            return REPLAYOUT_MATCH_HAS_WEBSOCKET;
        case MatchTransport::Loopback:
            break;
    }
    return true;
}

Made listen_at(MatchTransport transport, const std::string& address) {
    return open(transport, [&](auto* kind, auto settings) {
        // All clients of a match may be processes of one machine.
        settings.peers_per_address_max = settings.peers_max;
        return as_socket(std::remove_pointer_t<decltype(kind)>::listen(address, settings));
    });
}

Made connect_to(MatchTransport transport, const std::string& address) {
    return open(transport, [&](auto* kind, const auto& settings) {
        return as_socket(std::remove_pointer_t<decltype(kind)>::connect(address, settings));
    });
}

}  // namespace replayout::match
