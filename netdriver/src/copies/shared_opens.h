// SPDX-License-Identifier: MIT
//
// Opens that many clients get alike. The open of an object is laid down once (OpenBunch), and so is
// its first block (SharedPayload), so both are copied:
//
//     packet   [ open A ][ open B ] ... [ block A ][ block B ] ...
//                 ^ OpenBunch of A           ^ payload of A from version 0 on
//
// That concerns plain objects that the client has never seen, with all of what they are owed in the
// open packet. All else goes the way of its own open (ObjectChannels) and block (PropertySender),
// which write the same bytes. Objects that several clients get one after another in the same order
// are copied together (OpenRuns).
#pragma once

#include <replayout/send_properties.h>
#include <replayout/shared_serialization.h>

#include "connection_pairs.h"
#include "object_channels.h"
#include "object_store.h"
#include "open_runs.h"
#include "packet_stream.h"
#include "property_sender.h"

namespace replayout {

class SharedOpens {
  public:
    /// All of them outlive this.
    struct Parts {
        const ObjectStore& objects;
        ConnectionPairs& pairs;
        ObjectChannels& channels;
        PropertySender& properties;
        PacketStream& packets;
        SendContext& context;
        OpenRuns& runs;
    };

    /// Objects in the order in which they are to be opened: those of a row before `end`, and so
    /// many at most.
    struct Order {
        const BitRow& row;
        ObjectIndex end = BitRow::no_bit;
        std::uint64_t count_max = OpenRun::opens_max;
    };

    explicit SharedOpens(const Parts& parts) : parts_(parts) {}

    /// Opens the channel of an object, which is closed, and writes the first block of the object.
    /// False, and nothing done: it is to go the other way.
    [[nodiscard]] bool open(ObjectIndex index);
    /// Does the same with objects that follow each other, from `index` on, as many as were laid
    /// down in that order, and calls `visit(entry)` for each. Returns how many. Requires that no
    /// open waits to go out.
    template <typename Visitor>
    std::uint32_t open_several(ObjectIndex index, const Order& order, Visitor visit) {
        const std::uint32_t begin = parts_.runs.find(index);
        if (begin == OpenRuns::none || !may_open_several()) {
            return 0;
        }
        const std::uint32_t end = end_of_several(begin, order);
        if (begin == end) {
            return 0;
        }
        write(begin, end);
        parts_.runs.used();
        opened(begin, end, visit);
        return end - begin;
    }
    /// Whether the client gets these entries, which are of one run, as they were laid down; but for
    /// room.
    [[nodiscard]] bool may_open(std::uint32_t begin, std::uint32_t end) const noexcept;
    /// They are in the open packet. Notes that, and calls `visit(entry)` for each.
    template <typename Visitor>
    void note_opened(std::uint32_t begin, std::uint32_t end, Visitor visit) {
        parts_.packets.note_opens(parts_.runs.run_part(begin, end), payload_bytes(begin, end));
        parts_.runs.used();
        opened(begin, end, visit);
    }
    /// Some may be.
    [[nodiscard]] bool has_several() const noexcept { return !parts_.runs.is_empty(); }

  private:
    /// The client gets the open as most do.
    [[nodiscard]] bool is_usual(PairRef ref) const;
    /// An open may go out now, and this one.
    [[nodiscard]] bool may_write(const OpenBunch& bunch) const noexcept;
    /// The open packet has room for the open and for this block, if any, or is sent to make room.
    [[nodiscard]] bool make_room(ObjectIndex index, const OpenBunch& bunch,
                                 const SharedPayload* block);
    /// Whether runs may be copied for the client at all.
    [[nodiscard]] bool may_open_several() const noexcept;
    /// Behind the last entry, from `begin` on, that the client gets as it was laid down.
    [[nodiscard]] std::uint32_t end_of_several(std::uint32_t begin,
                                               const Order& order) const noexcept;
    [[nodiscard]] std::size_t payload_bytes(std::uint32_t begin, std::uint32_t end) const noexcept {
        return parts_.runs.sums_before(end).payload_bytes -
               parts_.runs.sums_before(begin).payload_bytes;
    }
    /// Their opens go out.
    template <typename Visitor>
    void opened(std::uint32_t begin, std::uint32_t end, Visitor& visit) {
        for (const OpenRuns::Entry& entry : parts_.runs.entries().subspan(begin, end - begin)) {
            SendingRepState& pair =
                parts_.channels.begin_shared_open(entry.object_index, entry.is_recent);
            if (entry.version > 0) {
                (void)pair.send(entry.version);
            }
            parts_.pairs.pending().clear(entry.object_index);
            visit(entry);
        }
    }
    [[nodiscard]] bool is_as_laid_down(const OpenRuns::Entry& entry) const noexcept;
    void write(std::uint32_t begin, std::uint32_t end);
    void write_blocks(std::uint32_t begin, std::uint32_t end);
    /// The object was opened by itself: others may copy that.
    void lay_down(PairRef ref, Version version, const SharedPayload* block);

    Parts parts_;
};

}  // namespace replayout
