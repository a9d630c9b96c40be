// SPDX-License-Identifier: MIT
//
// The regular pairs of one connection on their way out: what each is owed of this flush's changes
// is what all regular pairs are owed, so it is taken from bundles, with one record for as many as
// lie in one packet.
//
//     bundle       [ 3 ][ 4 ][ 9 ][ 12 ] ... [ 70 ]
//     regular        x    x         x          x        copied: 3 4, 12 ... 70
//
// What is not regular, or finds no room, goes the way of its own pair (PropertySender).
#pragma once

#include <replayout/send_properties.h>

#include "bundle_choice.h"
#include "connection_pairs.h"
#include "packet_stream.h"
#include "property_sender.h"
#include "sender_settings.h"
#include "sent_records.h"
#include "server_bundles.h"

#include <cstdint>
#include <span>

namespace replayout {

class BundleSender {
  public:
    /// Reads the settings; all else may be made later, as it keeps references and uses none yet.
    BundleSender(const ObjectStore& objects, ConnectionPairs& pairs, SentRecords& records,
                 PropertySender& properties, PacketStream& packets, SendContext& context,
                 const SenderSettings& settings);

    /// Sends all regular pairs what changed. What finds no room is pending, and not regular; false:
    /// there is such a pair. `is_all`: in this flush nothing else is to be sent, as far as is
    /// known.
    bool take(ServerBundles& bundles, bool is_all) {
        find_regular(bundles.run());
        return take_found(bundles, is_all);
    }
    /// Sends all of it to a connection without a cap that keeps no account and has nothing but
    /// regular pairs. Returns false and sends nothing if there is no room for all of it, or no
    /// other connection was sent all of it before. Requires ServerBundles::may_be_copied().
    [[nodiscard]] bool send_whole(ServerBundles& bundles);
    /// The same where has_room_for_all() was just asked, and nothing was sent since.
    bool take_found(ServerBundles& bundles, bool is_all);
    /// Under a cap: what take() would send is known to find room.
    [[nodiscard]] bool has_room_for_all(const ServerBundles& bundles);
    /// Nothing is taken from bundles: regular pairs of what changed are pending, and not regular.
    void decline(const FlushChanges& changes);

  private:
    /// What regular_blocks() goes by.
    void find_regular(const BundleRun& run);
    [[nodiscard]] bool are_regular(std::span<const ObjectBits> objects) const noexcept;
    /// Those of its blocks that are of regular pairs.
    [[nodiscard]] std::uint64_t regular_blocks(const BundleRun& run, std::uint32_t number) const;
    /// The first bundle from `begin` on that may have any; else their count.
    [[nodiscard]] std::uint32_t next_regular(const BundleRun& run,
                                             std::uint32_t begin) const noexcept {
        const auto end = static_cast<std::uint32_t>(run.bundles().size());
        return is_chosen_ ? choice_.next(begin, end) : begin;
    }
    /// Sends bundles from `begin` on that make whole packets, if nothing else may be in these, as
    /// they lie there and as many as there is room for. Returns the first that was not sent.
    [[nodiscard]] std::uint32_t send_packets(ServerBundles& bundles, std::uint32_t begin,
                                             bool is_all);
    /// The first packet from `begin` on that does not go out as it lies there.
    [[nodiscard]] std::uint32_t packets_end(const BundleRun& run, std::uint32_t begin,
                                            bool is_all) const;
    /// All its blocks are of regular pairs.
    [[nodiscard]] bool is_regular_packet(const BundleRun& run, std::uint32_t packet) const;
    /// Sends these blocks. Those that find no room are pending, and not regular; false: there are.
    bool send_blocks(ServerBundles& bundles, std::uint32_t bundle, std::uint64_t blocks);
    // Sends these blocks, as far as there is room. Returns those that were sent.
    /// As they were laid down.
    [[nodiscard]] std::uint64_t send_copied(ServerBundles& bundles, std::uint32_t bundle,
                                            std::uint64_t blocks);
    /// Each encoded, or copied alone.
    [[nodiscard]] std::uint64_t send_written(ServerBundles& bundles, std::uint32_t bundle,
                                             std::uint64_t blocks);
    /// Blocks begin <= i < end of the bundle, as many as the open packet has room for. Returns the
    /// first that was not copied.
    [[nodiscard]] std::uint32_t copy_blocks(const ServerBundles& bundles, std::uint32_t bundle,
                                            std::uint32_t begin, std::uint32_t end);
    [[nodiscard]] bool has_keyed_arrays(const BundleBlock& block) const noexcept;
    /// Blocks begin <= i < end of a bundle.
    struct BlockRange {
        std::uint32_t begin;
        std::uint32_t end;
    };
    /// What these may cost their receiver in keyed arrays is taken from what the open packet has
    /// left. `first`: of the bundle, in the run. Returns the first for which it has not enough.
    [[nodiscard]] std::uint32_t spend_array_steps(const ServerBundles& bundles, std::uint32_t first,
                                                  const BlockRange& blocks);
    [[nodiscard]] BlockWriter::RegularBlock encode(const BundleBlock& block);
    /// Of blocks that lie in the open packet.
    void add_record(ServerBundles& bundles, const SentBundle& sent);
    void count_copied(ServerBundles& bundles, const SentBundle& sent);
    /// Whole bundles: begin <= i < end.
    void count_copied(ServerBundles& bundles, std::uint32_t begin, std::uint32_t end);
    /// The same, where each block is the first of its kind, or none is.
    void count_whole(const BundleRun& run, std::uint32_t begin, std::uint32_t end, bool is_reused);
    void validate_copied(const ServerBundles& bundles, const SentBundle& sent);
    /// One by one; those that are `fresh` are the first of their kind.
    void count_blocks(const ServerBundles& bundles, const SentBundle& sent, std::uint64_t fresh);
    void count_by_type(const ServerBundles& bundles, const Bundle& bundle, std::uint32_t number,
                       bool is_reused);
    void leave(ObjectIndex index);

    const ObjectStore& objects_;
    ConnectionPairs& pairs_;
    SentRecords& records_;
    PropertySender& properties_;
    PacketStream& packets_;
    SendContext& context_;
    std::span<TypeCounters> type_counters_;  // by layout number; empty: nobody counts
    const FlushChanges& changes_;
    std::uint32_t lane_;
    BundleChoice& choice_;
    bool are_all_regular_ = false;  // all pairs of which the bundles at hand have blocks
    bool is_chosen_ = false;        // else: which of them are is in choice_
};

}  // namespace replayout
