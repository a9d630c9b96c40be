// SPDX-License-Identifier: MIT
//
// Every limit and every interval of the driver, and where its numbers begin, each with its default
// and the reason for it. What happens at each, and the test of it, stands in docs/limits.md.
//
// Limits whose names begin with client_ are of what a server takes of one client, who keeps to them
// as well; those with clients_, of all clients together. A server has much less to take of a client
// than a client of its server. The others say whose they are, or hold for both.
#pragma once

#include <replayout/reflection/error.h>

#include <cstdint>

namespace replayout {

struct NetConfig {
    /// Bytes of one datagram, header included. 256 to 1,400; the transport must carry it. 1,200
    /// passes every path of today's internet unfragmented (QUIC's minimum, RFC 9000 section 14).
    std::uint32_t packet_bytes_max = 1'200;

    /// Bytes of datagrams that this end sends over one connection in any second, but for one packet
    /// at most; 0: no cap. 1,800 to 1,000,000,000, or 0. NetRates::set_bytes_per_second_max() has
    /// one for a single client. Unreal's is 10,000 to 15,000; its floor is this one.
    std::uint32_t bytes_per_second_max = 0;
    /// On: each connection is slower where packets are lost (CongestionRate), within its cap. It
    /// looks at losses and not at delay, so a line with a deep queue is full before it is slower:
    /// have a cap, too. Off, since what a game's server sends is mostly bounded by the game; on
    /// where it shares a line with what it does not know.
    bool has_congestion_control = false;

    /// How many packets with content one connection may lose in a second, over time, in addition to
    /// as many as arrive. 1 to 1,000,000. A client that acknowledges nothing is sent 336 packets at
    /// once and then 32 in each second, 38 KB, whatever it sends and however often it begins a new
    /// session. A connection that loses less than half is not slower for it: see docs/limits.md.
    std::uint32_t lost_packets_per_second_max = 32;

    /// Connections of a server at once. 1 to 4,096. Bounds what strangers can make a server hold;
    /// 1,024 is far above the players of one match.
    std::uint32_t connections_max = 1'024;

    /// Open channels of one connection, so objects of one server. 1 to 1,048,576. A pair takes 16
    /// bytes at most, 18.6 where a cap was reached, and 264 more while something rare is kept of it
    /// (docs/performance.md). So 65,536 objects at rest are 1 MiB for each connection.
    std::uint32_t channels_max = 65'536;

    /// Bytes of one reliable message after reassembly. 1,200 to 1,048,576; Unreal's is 64 KiB.
    std::uint32_t bunch_bytes_max = 64 * 1024;

    /// Reliable bunches of a server that may wait for a missing one, on a client. 1 to 65,536.
    /// 4,096 is as far as one channel may be ahead of a missing bunch; no sender has more on the
    /// way.
    std::uint32_t reliable_waiting_max = 4'096;
    /// Bytes that these, and messages not yet whole, may hold. bunch_bytes_max to 67,108,864.
    /// 1 MiB is sixteen of the largest messages; from four on, large values and all other bunches
    /// each have a share of it. The same limits hold once more for calls.
    std::uint32_t reliable_waiting_bytes_max = 1'024 * 1024;

    /// Reliable calls of one client, and parts of large ones, that may wait for a missing one on
    /// the server. 1 to 65,536. Updates (FunctionFlags::Update) take up half of it at most; the
    /// other half, 256, is more than two seconds of all other calls.
    std::uint32_t client_waiting_max = 512;
    /// Bytes that these, and calls not yet whole, may hold. 1,200 to 67,108,864. 128 KiB are two of
    /// the largest calls; with all else that a client can make a server keep, less than 1 MiB.
    std::uint32_t client_waiting_bytes_max = 128 * 1024;
    /// Of all clients of a server together, beyond 16 KiB of each, which nobody can take from it. 0
    /// to 1,073,741,824. 32 MiB are 180 clients at their limit at once; who would go beyond is
    /// closed, and nobody else.
    std::uint32_t clients_waiting_bytes_max = 32 * 1024 * 1024;
    /// How long anything may wait on a channel on which nothing arrives that it waits for, or a
    /// message may lack a part; then the connection is closed. 1,000 to 3,600,000. A lost bunch is
    /// sent again within round trips; 30 s are Unreal's.
    std::uint32_t waiting_timeout_ms = 30'000;

    /// Channels of objects that were there when their client joined, opened in one tick_flush() for
    /// all clients together, who take turns. 1 to 1,048,576. What comes into the world later is
    /// opened beside these, at once, or under a cap in its turn: NetRates::set_net_priority().
    /// 4,096 of small objects are some 160 KB, and give sixteen who join at once 15,000 objects
    /// each in a second of 60 ticks.
    std::uint32_t initial_opens_per_flush_max = 4'096;

    /// Stable names of destroyed objects that a server remembers, to tell who joins later, parts of
    /// objects that are there included; beyond it an end is logged and not told. 0 to 1,048,576.
    /// 65,536 are as many as there may be objects, and take some 8 MiB.
    std::uint32_t destroyed_names_max = 65'536;

    /// Datagrams that one tick_dispatch reads, of whatever content, before it returns to the game.
    /// 1 to 1,000,000. 16,384 are sixteen from each of 1,024 connections.
    std::uint32_t datagrams_per_dispatch_max = 16'384;

    /// Of these as many of one connection; what comes beyond is dropped unread. 1 to 1,000,000. An
    /// honest peer has no more than 256 packets on the way, so it loses nothing even where the game
    /// stood still.
    std::uint32_t datagrams_per_connection_max = 256;

    /// Packets of one connection that overtook others and are held back until the end of the
    /// tick_dispatch() in which they came, in case those come in the same; 0 to 224. 0: none, and
    /// what was overtaken is lost, and sent again. Worth it where a network swaps packets often.
    /// 32 are Unreal's, and take 45 KB at most.
    std::uint32_t reorder_packets_max = 0;

    /// References that one object may hold on a client, null ones not counted. 0 to 65,536. 4,096
    /// fill two arrays of the greatest length.
    std::uint32_t references_per_object_max = 4'096;
    /// The same of all objects of a client together. 0 to 16,777,216. 262,144 are four in each of
    /// 65,536 objects, and take 74 MB at most, as the driver counts memory: 136 bytes each, 75 for
    /// each object that is named, and 280 for each that names one.
    std::uint32_t references_max = 262'144;

    /// Bits of structs with a NetSerializer that name objects, kept on a client to read them again;
    /// bytes for one object. 0 to 67,108,864.
    std::uint32_t kept_bytes_per_object_max = 1'024 * 1024;
    /// The same of all objects of a client together. 0 to 1,073,741,824. 16 MiB are sixteen objects
    /// at their limit, or 256 bytes in each of 65,536.
    std::uint32_t kept_bytes_max = 16 * 1024 * 1024;

    /// Memory that the values of one packet may ask for, bytes. 1,024 to 1,073,741,824. The default
    /// is that of DecodeBudget, which gives the reason.
    std::uint32_t decode_allocation_bytes_max = 4 * 1024 * 1024;

    /// Memory of the arrays and texts of all objects of a client together, bytes. 0 to
    /// 2,147,483,648. An array counts by its elements, a text by its length; what one object has
    /// may count up to twice. 128 MiB are 1 to 2 KiB in each of 65,536 objects. An array may grow
    /// before its elements arrive, so nine bytes can ask for 128 KiB.
    std::uint32_t dynamic_bytes_max = 128 * 1024 * 1024;

    /// Layouts of a server that a client lets itself be told (NetDriverSettings::layout_policy). 1
    /// to 65,536. 4,096 classes are more than large games replicate.
    std::uint32_t described_layouts_max = 4'096;
    /// Bytes of all that is told of them. 1,024 to 67,108,864. 256 KiB are some 10,000 properties;
    /// a client takes up to about fifty times as much memory to read by them.
    std::uint32_t described_bytes_max = 256 * 1024;

    /// Bytes of one remote call of a server. 0 to 1,048,576. One larger than a packet travels
    /// reliably, in parts, and is no larger than what may wait (reliable_waiting_bytes_max, and as
    /// many parts as reliable_waiting_max); one that fits into a packet always goes. 64 KiB is
    /// Unreal's.
    std::uint32_t call_bytes_max = 64 * 1024;
    /// The same of a client's call, with client_waiting_bytes_max and client_waiting_max. A server
    /// counts each part of it as a call, so 58 of the calls below are one of 64 KiB.
    std::uint32_t client_call_bytes_max = 64 * 1024;
    /// Remote calls that may wait to be sent to one connection, or to be delivered there if they
    /// are reliable; call_function() refuses more (CallResult::Full). 1 to 4,096. 1,024 small ones
    /// take some 450 KiB; Unreal closes a connection at 256 in a channel.
    std::uint32_t calls_waiting_max = 1'024;
    /// How long calls may wait for one client while there is no room for another reliable multicast
    /// to it. Until then the multicast is refused to all (CallResult::Full); after that the server
    /// closes this connection, and the call goes to all others. A call to one client alone is only
    /// refused, and closes nothing. Up to 3,600,000; 0: never, so one client that takes no calls
    /// holds up all others. 2,000 is longer than a lossy line needs for the calls of one burst. If
    /// the oldest call was lost on its way, it has four times as long, since the line is bad then.
    /// If a client takes calls more slowly than they are made, its oldest call is that old as soon
    /// as its queue is full, so it delays nobody. With calls_waiting_max of 1,024, a line that is
    /// dead for the 10 s of timeout_ms closes no client that gets fewer than 102 calls a second.
    std::uint32_t calls_full_timeout_ms = 2'000;
    /// How long the close of an object waits on one connection for the reliable calls of the object
    /// that were made before. After that the object closes without them, which is counted and
    /// logged. 0 to 3,600,000; 0: it does not wait. 10 s end well before waiting_timeout_ms of the
    /// other end, which a call that arrived only in part must not reach. The calls that one
    /// connection waits for are at most reliable_waiting_bytes_max in size.
    std::uint32_t close_waits_for_calls_ms = 10'000;
    /// How often the same unreliable multicast may be queued for one update of an object. 1 to
    /// 1,024. Unreal's documented limit is two.
    std::uint32_t queued_calls_per_function_max = 2;
    /// Objects on which one client may have called reliable functions and that still are there. 1
    /// to 1,048,576. A server keeps some 150 bytes for each, so 1,024 are 150 KiB for a hostile
    /// client.
    std::uint32_t called_channels_max = 1'024;
    /// Reliable calls that a client may make in a second, over time, and at once, and as many
    /// unreliable ones; more are refused to its caller. 1 to 1,000,000 each. 120 are two in each
    /// frame of 60; Unreal's detection is off by default. A server takes somewhat more, so that no
    /// stall closes an honest client (docs/limits.md has the arithmetic).
    std::uint32_t calls_per_second_max = 120;
    std::uint32_t calls_burst_max = 240;
    /// The same for each function, over all objects. 60 is one in each frame: what moves a pawn.
    std::uint32_t function_calls_per_second_max = 60;
    std::uint32_t function_calls_burst_max = 120;
    /// Calls that bring what a client decides as an owner (FunctionFlags::Update), which count
    /// apart from all others. 1 to 1,000,000 each. 1,000 are fifty objects twenty times a second.
    /// replayout sends the SyncVars and collections of owners by such calls, in turns.
    std::uint32_t client_updates_per_second_max = 1'000;
    std::uint32_t client_updates_burst_max = 500;
    /// Calls of one client in a second, over time and at once, that a server may have to drop: they
    /// are beyond its rates and unreliable, or for an object that is not its own; beyond it the
    /// client is closed. 1 to 1,000,000. An honest client that calls in each of 240 frames, four
    /// functions, stays below 1,000.
    std::uint32_t client_strikes_per_second_max = 1'000;

    /// Silence after which a side says that it is there. 1 to timeout_ms - 1. Ten fit into the
    /// default timeout, so some may be lost, and an empty packet a second costs next to nothing.
    std::uint32_t keep_alive_ms = 1'000;
    /// Wait for an answer to the last packet before asking again; doubles up to probe_max_ms, but
    /// not while a reliable call is on its way, and begins anew with whatever arrives. Not with
    /// what is sent: that asks for an answer itself. 1 to probe_max_ms. 100 is more than a common
    /// round trip; sooner, most answers are on their way.
    std::uint32_t probe_ms = 100;
    /// probe_ms to keep_alive_ms. While something is unanswered a loss is noticed as late as this:
    /// at a loss of 30 % each way a probe and its answer come through every other time.
    std::uint32_t probe_max_ms = 400;
    /// Silence after which the other side is given up. 2 to 3,600,000, and more than keep_alive_ms.
    /// 10 s outlast a gap of a mobile network, or a client that stops to load. A side that goes on
    /// speaking, and acknowledges nothing of what is sent to it, is given up after twice that:
    /// until then its objects stay awake, and what was sent to it is remembered.
    std::uint32_t timeout_ms = 10'000;
    /// How long a client may take from its hello to the server's welcome, however much it hears
    /// meanwhile. 1,000 to 3,600,000. 60 s have room for all layouts of a server that describes
    /// them over a slow line.
    std::uint32_t join_timeout_ms = 60'000;
    /// How long a goodbye is repeated before the connection is forgotten. 1 to 60,000. 2 s have
    /// room for six probes after it: at 100, 300, 700, 1,100, 1,500 and 1,900 ms.
    std::uint32_t linger_ms = 2'000;

    /// The number of the first packet of a connection each way, and of the first bunch and the
    /// first call of each channel. 1 to 65,535. The protocol says 1; both ends must say the same,
    /// or do not hear each other. Recordings begin with 1 in any case. For tests: the wire has 16
    /// bits of these numbers, and near 65,535 a session passes the end of them in its first
    /// seconds.
    std::uint32_t first_sequence = 1;

    /// Refuses values outside the ranges above, by name.
    [[nodiscard]] Status validate() const;
};

}  // namespace replayout
