// SPDX-License-Identifier: MIT
//
// What became of each packet. Both ends number their packets, and every packet says what its sender
// has processed of the other side's. PacketNotify turns these headers into exactly one event for
// every packet sent, delivered or lost, in the order of sending. It belongs to a connection and to
// its thread; it reads no clock and allocates nothing.
//
// The header, little-endian, 11 to 39 bytes. Packet payload follows at the next byte.
//
//     byte  field
//      0    u16 session     chosen in the handshake; sorts out packets of an earlier session
//      2    u16 sequence    low 16 bits; the first is 1, or NetConfig::first_sequence
//      4    u16 ack         low 16 bits of the highest processed; before the first: none yet
//      6    u8  flags       bits 0..2 ack word count - 1     bit 3 has_bunches
//                           bit 4 ack_requested              bits 5..7 zero, or malformed
//      7    u32 ack_words   1 to 8; bit i of word j: packet (ack - 1 - 32 * j - i) was processed
//
// The events are the truth. A receiver processes packets in strictly increasing sequence only; what
// comes late or twice is dropped. So once it acknowledges packet n, whatever it has not processed
// before n it never will: `lost` is as final as `delivered`.
//
// 256 packets in flight, no more. Three things follow, and each is checked on arrival:
//   - When a packet is sent, every packet 256 or more before it is resolved. So eight words always
//     reach back to the oldest packet that the sender still waits for.
//   - A sender that resolves only what was acknowledged is never more than 256 ahead of the highest
//     sequence that its peer processed. A longer jump is not from a sender of ours.
//   - Fewer words do when the peer is known to have resolved more. The ack that a packet carried is
//     known to the peer once that packet is delivered; bits are owed for later sequences only.
//
// A reserve against standstill. When every packet of a full window is lost, only a packet after
// them can be acknowledged and resolve them; if no number were left for it, both sides would wait
// for ever. So data stops at can_send(), and the last 32 numbers are for empty probes
// (can_probe()), sent so seldom that they outlast the silence timeout.
#pragma once

#include <replayout/reflection/diagnostics.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

inline constexpr std::uint32_t ack_words_max = 8;

/// Packets sent and not yet resolved: as many as the ack vector has bits.
inline constexpr std::uint32_t packets_in_flight_max = 32 * ack_words_max;

inline constexpr std::size_t packet_header_bytes_min = 11;
inline constexpr std::size_t packet_header_bytes_max = 39;

/// The header of a packet as it stands on the wire: sequences are their low 16 bits.
struct PacketHeader {
    std::uint16_t session = 0;
    std::uint16_t sequence = 0;
    std::uint16_t ack = 0;
    /// The payload begins with bunches; otherwise it is property blocks alone, or empty.
    bool has_bunches = false;
    /// The peer should answer soon, also when it has nothing of its own to say.
    bool ack_requested = false;
    /// 1 to 8. Words past the count are zero and not written.
    std::uint8_t ack_word_count = 1;
    std::array<std::uint32_t, ack_words_max> ack_words{};

    friend bool operator==(const PacketHeader&, const PacketHeader&) noexcept = default;
};

/// Size of the header on the wire: 7 + 4 * ack_word_count bytes.
[[nodiscard]] std::size_t packet_header_bytes(const PacketHeader& header) noexcept;

/// Writes the header to the front of `target`, which must have room. Returns its size in bytes.
std::size_t write_packet_header(std::span<std::byte> target, const PacketHeader& header) noexcept;

/// Writes another sequence into a header that stands at the front of `target`.
inline void write_packet_sequence(std::span<std::byte> target, std::uint16_t sequence) noexcept {
    REPLAYOUT_ASSERT(target.size() >= packet_header_bytes_min);
    target[2] = static_cast<std::byte>(sequence & 0xff);
    target[3] = static_cast<std::byte>(sequence >> 8);
}

/// Reads the header at the front of a datagram. Returns its size in bytes, or 0 when the bytes are
/// too short or a reserved bit is set; `header` is then as it was.
[[nodiscard]] std::size_t read_packet_header(std::span<const std::byte> datagram,
                                             PacketHeader& header) noexcept;

/// Learns the fate of each packet.
class PacketNotifyHandler {
  public:
    virtual void packet_delivered(std::uint64_t sequence) = 0;
    /// All from `first` to `last`, told at once. Calls packet_delivered() for each, unless somebody
    /// knows better.
    virtual void packets_delivered(std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t sequence = first; sequence <= last; ++sequence) {
            packet_delivered(sequence);
        }
    }
    virtual void packet_lost(std::uint64_t sequence) = 0;

  protected:
    ~PacketNotifyHandler() = default;
};

/// What came of a header. An honest network produces the first three. The rest no peer of ours
/// sends: OutOfRange is dropped, because a stray packet of long ago can look like it, and Ack... is
/// a reason to close.
enum class PacketReceipt : std::uint8_t {
    Accepted,           ///< Process the payload now, or close: it counts as processed.
    Stale,              ///< Not newer than the newest processed: late or repeated. Drop it.
    OtherSession,       ///< Of another session. Drop it.
    OutOfRange,         ///< Further ahead than a sender may be.
    AckOfUnsentPacket,  ///< Acknowledges a packet that was never sent.
    AckGoesBack,        ///< A newer packet with an older ack.
    AckTooShort,        ///< Too few words to tell the fate of all packets that it resolves.
};

struct PacketNotifySettings {
    std::uint16_t session = 0;
    /// Packets in flight at most, 1 to packets_in_flight_max.
    std::uint32_t window_packets = packets_in_flight_max;
    /// How many of them are kept for probes; less than the window. 32 probes spread over a silence
    /// timeout of 10 s are one in 312 ms, and data keeps 224 packets, 262 KiB of them a round trip.
    std::uint32_t reserved_packets = 32;
    /// The first sequence each way; both ends agree. The protocol says 1, a test what it likes.
    std::uint64_t first_sequence_sent = 1;
    std::uint64_t first_sequence_received = 1;
};

/// Both directions of one connection: what became of what it sent, and acks for what it received.
///
/// A value of about 1 KiB without pointers: a copy is a snapshot, and equal states compare equal
/// until one of them moves on.
class PacketNotify {
  public:
    explicit PacketNotify(const PacketNotifySettings& settings) noexcept;

    /// Packets belong to another session from now on; their sequences go on. Requires that nothing
    /// was received.
    void set_session(std::uint16_t session) noexcept { session_ = session; }

    // Sending.

    /// Whether a packet with content may be sent.
    [[nodiscard]] bool can_send() const noexcept { return sendable_count() > 0; }

    /// How many packets with content may be sent.
    [[nodiscard]] std::uint32_t sendable_count() const noexcept {
        const std::uint32_t data_packets = window_packets_ - reserved_packets_;
        return in_flight_count() < data_packets ? data_packets - in_flight_count() : 0;
    }

    /// Whether an empty packet may be sent that does no more than carry and ask for acks. When not
    /// even that is left, the peer has been silent for a whole window: close.
    [[nodiscard]] bool can_probe() const noexcept { return in_flight_count() < window_packets_; }

    /// The header of the next packet, with acks as of now. The caller sets has_bunches and
    /// ack_requested. Changes nothing: a packet that ends up empty is simply not committed.
    [[nodiscard]] PacketHeader next_header() const noexcept;

    /// The packet with this header, from next_header(), goes out. Requires can_probe(). Returns its
    /// sequence, under which its fate will be told.
    std::uint64_t commit_send(const PacketHeader& header) noexcept;
    /// The same of `count` packets one behind the other, of which that is the header of the first
    /// and all have its acks. Requires that as many may be in flight. Returns the first sequence.
    std::uint64_t commit_sends(const PacketHeader& header, std::uint32_t count) noexcept;

    /// Packets sent and not resolved.
    [[nodiscard]] std::uint32_t in_flight_count() const noexcept {
        return static_cast<std::uint32_t>(highest_sent_ - highest_acked_);
    }

    /// The newest sequence sent; the one before the first when there is none.
    [[nodiscard]] std::uint64_t highest_sent() const noexcept { return highest_sent_; }

    /// Everything sent up to this sequence is resolved.
    [[nodiscard]] std::uint64_t highest_acked() const noexcept { return highest_acked_; }

    // Receiving.

    /// Judges a header from the peer, as read by read_packet_header(). Accepted: tells the handler
    /// the fate of each packet that it resolves, in order of sending, before it returns. Otherwise
    /// nothing changes and nothing is told. At most one step for every packet in flight. The
    /// handler may send once it was told all of a run of packets (packets_delivered()); it must not
    /// call receive().
    [[nodiscard]] PacketReceipt receive(const PacketHeader& header, PacketNotifyHandler& handler);

    /// The newest sequence processed from the peer; the one before the first when there is none.
    [[nodiscard]] std::uint64_t highest_received() const noexcept { return highest_received_; }

    friend bool operator==(const PacketNotify&, const PacketNotify&) noexcept = default;

  private:
    [[nodiscard]] std::uint32_t& carried_ack(std::uint64_t sequence) noexcept;
    [[nodiscard]] std::uint8_t ack_word_count() const noexcept;
    [[nodiscard]] PacketReceipt judge(const PacketHeader& header, std::uint64_t sequence,
                                      std::uint64_t ack) const noexcept;
    void mark_received(std::uint64_t sequence) noexcept;
    void resolve(const PacketHeader& header, std::uint64_t ack, PacketNotifyHandler& handler);

    std::uint16_t session_;
    std::uint32_t window_packets_;
    std::uint32_t reserved_packets_;

    // In flight are the sequences in (highest_acked_, highest_sent_], never more than the window.
    std::uint64_t highest_sent_;
    std::uint64_t highest_acked_;

    // Received. Bits as in the header, with ack = highest_received_, in words of twice the size.
    std::uint64_t highest_received_;
    bool received_any_ = false;
    std::array<std::uint64_t, ack_words_max / 2> received_words_{};

    // The peer has resolved its packets up to this sequence, and is proven to have.
    std::uint64_t known_to_peer_;

    // For each sequence in flight, by its low 8 bits, the ack that its packet carried: the low half
    // of it. Behind all else, which thus lies together.
    std::array<std::uint32_t, packets_in_flight_max> carried_acks_{};
};

}  // namespace replayout
