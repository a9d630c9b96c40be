// SPDX-License-Identifier: MIT
//
// The part of one connection that takes a copy of what it is sent in a flush, or sends the
// connection the copy of another one (FlushCopy).
#pragma once

#include <replayout/send_properties.h>

#include "connection_pairs.h"
#include "flush_changes.h"
#include "flush_copy.h"
#include "packet_stream.h"
#include "shared_opens.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace replayout {

class FlushCopier final : private PacketObserver {
  public:
    /// All of them outlive this.
    struct Parts {
        ConnectionPairs& pairs;
        PacketStream& packets;
        SharedOpens& opens;
        const FlushChanges& changes;
        SendContext& context;
        const OpenRuns& runs;
        FlushCopies& copies;
    };

    explicit FlushCopier(const Parts& parts) : parts_(parts) {}

    /// Sends the connection what another one was sent that was owed the same, and calls
    /// `opened(entry)` for each object that was opened. False, and nothing done: it goes the long
    /// way. Requires that the open packet is empty and that nothing but bundles, pending objects
    /// and closes waits.
    template <typename Visitor>
    [[nodiscard]] bool copy(Visitor opened) {
        const FlushCopy* const found = find();
        if (found == nullptr) {
            return false;
        }
        parts_.packets.begin_copies();
        parts_.pairs.caught_up();
        std::uint32_t bundle = 0;
        std::uint32_t range = 0;
        for (std::uint32_t i = 0; i < found->packet_count; ++i) {
            const FlushCopy::Packet& packet = found->packets[i];
            write(packet, std::span(found->bundles.data(), packet.bundles_end).subspan(bundle));
            bundle = packet.bundles_end;
            for (; range < packet.opens_end; ++range) {
                parts_.opens.note_opened(found->opens[range].begin, found->opens[range].end,
                                         opened);
            }
            if (i + 1 < found->packet_count || !found->is_last_open) {
                parts_.packets.flush_full();
            }
        }
        count(found->counts);
        parts_.copies.used(*found);
        ++parts_.context.counters.flushes_copied;
        return true;
    }
    /// Sends only closes and bundles from a copy. The caller sends what is pending the long way.
    /// False, and nothing done: there is no such copy.
    [[nodiscard]] bool copy_start();
    /// Returns whether the lane is sending, and has several connections.
    [[nodiscard]] bool is_open() const noexcept { return parts_.copies.is_open(); }
    /// Notes what this connection is owed, before it is sent that the long way.
    void begin();
    /// Notes what its first packet has after closes and bundles were written.
    void start_sent();
    /// Takes the copy, if others may be sent the same. Call it when the connection was sent all.
    void end();

  private:
    /// Returns the copy for this connection, or null.
    [[nodiscard]] const FlushCopy* find() const noexcept;
    [[nodiscard]] bool has_same_pending(const FlushCopy& copy) const noexcept;
    /// Returns whether the same closes wait, and the same pairs are regular.
    [[nodiscard]] bool has_same_start(const FlushCopy& copy) const noexcept;
    /// Returns whether there is room for so many packets and opens, and for the closes of the copy.
    [[nodiscard]] bool has_room(const FlushCopy& copy, std::uint32_t packets, std::uint32_t opens,
                                std::size_t open_bytes) const noexcept;
    [[nodiscard]] bool may_send(const FlushCopy& copy) const noexcept;
    /// Writes a packet with these bundles, but for what opens change of their pairs.
    void write(const FlushCopy::Packet& packet, std::span<const SentBundle> bundles);
    void count(const FlushCopy::Counts& counts) noexcept;
    [[nodiscard]] FlushCopy::Counts counts_since_begin() const noexcept;
    [[nodiscard]] FlushCopy::Counts counts_so_far() const noexcept;
    void packet_ends() override { is_alike_ = is_alike_ && take_packet(*filling_); }
    /// Notes what the open packet has. Returns false if that is more than a copy may have.
    [[nodiscard]] bool take_packet(FlushCopy& copy) const;
    /// Notes an open of the open packet, or several. Returns false if they are special to this
    /// client.
    [[nodiscard]] bool take_opens(FlushCopy& copy, const KeptBunch& kept) const;
    [[nodiscard]] bool is_complete(const FlushCopy& copy) const noexcept;

    Parts parts_;
    // Between begin() and end():
    FlushCopy* filling_ = nullptr;
    bool is_alike_ = false;  // so far all may go to others
    std::uint64_t packet_number_ = 0;
    FlushCopy::Counts counts_before_;
};

}  // namespace replayout
