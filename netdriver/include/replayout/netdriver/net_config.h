// SPDX-License-Identifier: MIT
//
// Every limit and every interval of the driver, each with its default and the reason for it.
#pragma once

#include <replayout/reflection/error.h>

#include <cstddef>
#include <cstdint>

namespace replayout {

struct NetConfig {
    /// Bytes of one datagram, header included. 1,200 passes every path of today's internet
    /// unfragmented (QUIC's minimum, RFC 9000 section 14). 256 to 1,400; the transport must carry
    /// it.
    std::uint32_t packet_bytes_max = 1'200;

    /// Connections of a server at once. 1 to 4,096.
    std::uint32_t connections_max = 1'024;

    /// Open channels of one connection, so objects of one server. 1 to 1,048,576.
    std::uint32_t channels_max = 65'536;

    /// Bytes of one reliable message after reassembly. 1,200 to 1,048,576; Unreal's is 64 KiB.
    std::uint32_t bunch_bytes_max = 64 * 1024;

    /// Reliable bunches that may wait for a missing one, per connection, and the bytes they hold.
    std::uint32_t reliable_waiting_max = 4'096;
    std::uint32_t reliable_waiting_bytes_max = 1'024 * 1024;

    /// Datagrams that one tick_dispatch reads, of whatever content, before it returns to the game.
    std::uint32_t datagrams_per_dispatch_max = 16'384;

    /// References that one object may hold on a client.
    std::uint32_t references_per_object_max = 4'096;

    /// Bits of structs with a NetSerializer that name objects, kept on a client to read them again;
    /// bytes for one object.
    std::uint32_t kept_bytes_per_object_max = 1'024 * 1024;

    /// Memory that the values of one packet may ask for, bytes; see DecodeBudget.
    std::uint32_t decode_allocation_bytes_max = 4 * 1024 * 1024;

    /// Silence after which a side says that it is there.
    std::uint32_t keep_alive_ms = 1'000;
    /// Wait for an answer to the last packet before asking again; doubles up to keep_alive_ms.
    std::uint32_t probe_ms = 100;
    /// Silence after which the other side is given up. More than keep_alive_ms.
    std::uint32_t timeout_ms = 10'000;
    /// How long a goodbye is repeated before the connection is forgotten.
    std::uint32_t linger_ms = 2'000;

    /// Refuses values outside the ranges above, by name.
    [[nodiscard]] Status validate() const;
};

}  // namespace replayout
