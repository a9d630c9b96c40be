// SPDX-License-Identifier: MIT
//
// A receiver of one object, with a transport as a user of the layouts alone would write it: packets
// with a number, each applied in order or not at all.
//
//     ObjectPeer<Guard> bob(sender);
//     bob.send_all();          // what is owed, in packets on their way
//     bob.lose();              // the oldest of them
//     bob.deliver_all();       // the others
//     CHECK(bob.object.health == 60);
#pragma once

#include <replayout/object_replicator.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"

namespace replayout::test {

template <typename T>
class ObjectPeer final : private ReceiverIds {
  public:
    struct Packet {
        std::uint64_t number = 0;
        Bytes block;
        bool more_parts_follow = false;
        RepHandle large_value{0};  ///< other than 0: it is that value, and travels reliably

        friend bool operator==(const Packet&, const Packet&) = default;
    };

    explicit ObjectPeer(BlockSender& sender,
                        MemoryResource* resource = std::pmr::get_default_resource())
        : replicator(sender.state, resource),
          end(std::in_place, sender.state.layout(), resource),
          sender_(&sender) {}

    /// One call of replicate_properties(); what it wrote is on its way.
    SendResult send(std::size_t capacity_bytes = 1'200, PacketRoom room = PacketRoom::Whole) {
        Bytes memory(capacity_bytes);
        BitWriter writer(memory);
        SendContext context = send_context();
        const std::uint64_t number = ++last_number;
        last = replicator.replicate_properties(writer, number, context, room);
        const bool is_part = last == SendResult::Part;
        if (is_part || last == SendResult::Whole) {
            packets.push_back({number, to_bytes(writer.bytes()), is_part, RepHandle{0}});
        } else {
            REQUIRE(writer.bit_count() == 0);
        }
        return last.result;
    }

    /// Everything that is owed; values that are too large for a packet reliably.
    void send_all(std::size_t capacity_bytes = 1'200) {
        for (int i = 0; replicator.owes_any(); ++i) {
            REQUIRE(i < 10'000);
            if (send(capacity_bytes) == SendResult::ValueTooLarge) {
                REQUIRE(send_large_value() == SendResult::Whole);
            }
        }
    }

    SendResult send_large_value() {
        SendContext context = send_context();
        const RepHandle value = replicator.large_value();
        Bytes memory(replicator.measure_large_value(context));
        BitWriter writer(memory);
        last = replicator.replicate_large_value(writer, context);
        if (last == SendResult::Whole) {
            packets.push_back({0, to_bytes(writer.bytes()), false, value});
        }
        return last.result;
    }

    /// The oldest packet arrives, and that is told.
    void deliver() {
        const Packet packet = take();
        REQUIRE(end->receive(&object, packet.block, packet.more_parts_follow));
        REQUIRE(end->bits_left == 0);
        if (packet.large_value.value != 0) {
            replicator.large_value_delivered(packet.large_value);
        } else {
            replicator.packet_delivered(packet.number);
        }
    }
    void lose() {
        const Packet packet = take();
        REQUIRE(packet.large_value.value == 0);
        replicator.packet_lost(packet.number);
    }
    void deliver_all() {
        while (!packets.empty()) {
            deliver();
        }
    }

    /// If the oldest is a large value, the packet behind it overtakes it.
    void overtake() {
        if (packets.size() > 1 && packets[0].large_value.value != 0 &&
            packets[1].large_value.value == 0) {
            std::swap(packets[0], packets[1]);
        }
    }

    /// The receiver has the object from now on.
    void map(NetGUID guid, ObjectHandle target) {
        mapped_.insert(guid.value);
        (void)end->rebind(&object, guid, target);
        replicator.object_mapped(guid);
    }

    /// It makes the object anew; what is under way is not taken, and its fate is told all the same.
    void restart() {
        object = T();
        end.emplace(sender_->state.layout());
        replicator.restart();
        while (!packets.empty()) {
            const Packet packet = take();
            if (packet.large_value.value == 0) {
                replicator.packet_lost(packet.number);
            }
        }
    }

    /// Handles in the newest packet.
    [[nodiscard]] std::vector<std::uint32_t> handles() const {
        ChangeMask mask;
        BitReader reader(packets.back().block);
        read_change_mask(reader, mask, sender_->state.layout().handle_count(),
                         EmptySet::Impossible);
        return handles_of(mask);
    }

    [[nodiscard]] SendContext send_context() {
        SendContext context = sender_->context();
        context.receiver = this;
        return context;
    }

    ObjectReplicator replicator;
    std::optional<BlockReceiver> end;
    T object;
    std::deque<Packet> packets;
    std::uint64_t last_number = 0;
    SentBlock last;

  private:
    [[nodiscard]] bool is_mapped(NetGUID guid) const override {
        return mapped_.contains(guid.value);
    }

    [[nodiscard]] Packet take() {
        REQUIRE_FALSE(packets.empty());
        Packet packet = std::move(packets.front());
        packets.pop_front();
        return packet;
    }

    BlockSender* sender_;
    std::set<std::uint64_t> mapped_;
};

}  // namespace replayout::test
