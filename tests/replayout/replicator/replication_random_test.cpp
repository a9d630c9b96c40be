// SPDX-License-Identifier: MIT
//
// A random game over a lossy network, decided by one seed: objects of every kind of property are
// edited at random, receivers join late, lose packets and opens, and get parts of the object. Two
// senders run in lock step, one that shares and one that does not. What must hold:
//
//     always             both owe the same and write the same bytes
//     a pair at rest     (nothing lost, nothing in flight, nothing new) holds what the server holds
//     at the end         every receiver does
//
// A failure names its seed; see support/checks/run_seed.h for how to run it alone.
#include <replayout/receive_properties.h>
#include <replayout/send_properties.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/value_difference.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/random_editor.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"
#include "support/types/type_counters_sum.h"

namespace replayout {
namespace {

constexpr std::uint32_t object_count = 6;

/// Knows ids as the server gave them, and of the objects those that are here.
class PartialPackageMap final : public PackageMap {
  public:
    explicit PartialPackageMap(ServerPackageMap& server) noexcept : server_(server) {}

    [[nodiscard]] NetGUID guid_of(ObjectHandle object) override { return server_.guid_of(object); }
    [[nodiscard]] ObjectHandle object_of(NetGUID guid) override {
        const ObjectHandle object = server_.object_of(guid);
        return present_.contains(object) ? object : ObjectHandle{};
    }

    void set_present(ObjectHandle object, bool is_present) {
        if (is_present) {
            present_.insert(object);
        } else {
            present_.erase(object);
        }
    }

  private:
    ServerPackageMap& server_;
    std::set<ObjectHandle> present_;
};

/// What happened in the games of a test, so that none of them passes by doing nothing.
struct Events {
    std::uint64_t blocks = 0;
    std::uint64_t losses = 0;
    std::uint64_t parts = 0;
    std::uint64_t lost_ranges = 0;
    std::uint64_t large_values = 0;
    std::uint64_t stops = 0;
    std::uint64_t reopens = 0;
    std::uint64_t payloads_reused = 0;
    std::uint64_t rests = 0;
};

/// One object, its two senders and whoever receives it.
template <typename T>
class Game {
  public:
    Game(BuildType build, std::uint64_t seed, Events& events)
        : events_(events),
          random_(seed),
          archetype_(make_archetype(build)),
          layout_(build, options()),
          server_(archetype_),
          on_(*layout_),
          off_(*layout_),
          on_counters_(*layout_, std::pmr::get_default_resource()),
          off_counters_(*layout_, std::pmr::get_default_resource()) {
        off_.is_sharing = false;
        on_.type_counters = &on_counters_;
        off_.type_counters = &off_counters_;
        loss_percent_ = below(60);
        for (std::uint64_t handle = 1; handle <= object_count; ++handle) {
            REQUIRE(on_.package_map.guid_of(ObjectHandle{handle}) ==
                    off_.package_map.guid_of(ObjectHandle{handle}));
        }
    }

    void play(int tick_count) {
        for (int tick = 0; tick < tick_count; ++tick) {
            // Between busy spells there are quiet ones, in which receivers can come to rest.
            const bool is_quiet = tick % 8 >= 5;
            for (std::uint64_t edits = is_quiet ? 0 : below(4); edits > 0; --edits) {
                RandomEditor(random_, object_count).edit(layout_->type(), &server_);
            }
            update();
            if (receivers_.size() < 4 && below(8) == 0) {
                receivers_.push_back(std::make_unique<Receiver>(*this));
            }
            for (const auto& receiver : receivers_) {
                disturb(*receiver);
                receiver->resolve(is_quiet ? 1'000 : below(3));
                if (below(3) != 0) {
                    replicate(*receiver);
                }
                check_at_rest(*receiver);
            }
        }
    }

    /// Without edits and losses everybody comes to hold everything.
    void finish() {
        receivers_.push_back(std::make_unique<Receiver>(*this));
        loss_percent_ = 0;
        may_stop_early_ = false;
        for (const auto& receiver : receivers_) {
            receiver->set_all_present();
            for (int round = 0; round < 4; ++round) {
                receiver->resolve(1'000);
                replicate(*receiver);
            }
            receiver->resolve(1'000);
            REQUIRE(receiver->pair.is_exact());
            REQUIRE_FALSE(receiver->pair.owes_any(on_.state.version()));
            REQUIRE(find_difference(layout_->type(), &server_, &receiver->object).empty());
        }
        for (const BlockSender* sender : {&on_, &off_}) {
            TypeCountersSum sum;
            sum.add(*sender->type_counters);
            REQUIRE(sum.find_difference(sender->counters, false) == "");
        }
    }

  private:
    struct Flight {
        SentVersions versions;
        RepRange range;
        bool is_lost;
    };

    struct Receiver {
        explicit Receiver(Game& game)
            : object(game.archetype_),
              package_map(game.on_.package_map),
              state(std::pmr::get_default_resource()),
              scratch(std::pmr::get_default_resource()),
              layout(*game.layout_) {}

        void receive(const Bytes& block) {
            DecodeBudget budget;
            BitReader reader(block, &budget);
            ReceiveContext context{package_map, scratch};
            REQUIRE(receive_properties(layout, reader, &object, state, context));
            REQUIRE(reader.bits_left() == 0);
        }

        void set_present(ObjectHandle target, bool is_present) {
            package_map.set_present(target, is_present);
            ReceiveContext context{package_map, scratch};
            const NetGUID guid = package_map.guid_of(target);
            (void)rebind_references(layout, &object, state, {&guid, 1}, context);
        }

        void set_all_present() {
            for (std::uint64_t handle = 1; handle <= object_count; ++handle) {
                set_present(ObjectHandle{handle}, true);
            }
        }

        /// The fate of the oldest packets becomes known.
        void resolve(std::uint64_t count) {
            for (; count > 0 && !flights.empty(); --count) {
                const Flight flight = flights.front();
                flights.pop_front();
                if (flight.is_lost) {
                    widen_lost_range(flight.range);
                    pair.lose(flight.versions);
                } else {
                    pair.delivered();
                }
            }
        }

        void widen_lost_range(const RepRange& range) {
            lost_range = pair.lost().is_empty() ? range : hull(lost_range, range);
        }

        [[nodiscard]] OwedVersions position() const {
            return OwedVersions(pair, pair.lost().is_empty() ? RepRange() : lost_range);
        }

        T object;
        SendingRepState pair;
        RepRange lost_range;
        std::deque<Flight> flights;
        PartialPackageMap package_map;
        ReceivingRepState state;
        ReceiveScratch scratch;
        const RepLayout& layout;
    };

    [[nodiscard]] std::uint64_t below(std::uint64_t count) { return random_() % count; }

    T make_archetype(BuildType build) {
        // A layout of its own: the type is needed before the archetype's layout is built.
        const TestLayout layout(build);
        T archetype;
        for (std::uint64_t edits = below(10); edits > 0; --edits) {
            RandomEditor(random_, 0).edit(layout->type(), &archetype);
        }
        clear_names(archetype);
        return archetype;
    }

    /// A name belongs to the registry that made it.
    static void clear_names(T& object) {
        if constexpr (requires { object.tag; }) {
            object.tag = Name{};
        }
    }

    RepLayoutOptions options() {
        RepLayoutOptions result;
        result.archetype = &archetype_;
        return result;
    }

    void update() {
        const bool is_changed = on_.update(&server_);
        REQUIRE(off_.update(&server_) == is_changed);
        REQUIRE(on_.state.version() == off_.state.version());
    }

    void disturb(Receiver& receiver) {
        if (below(4) == 0) {
            receiver.set_present(ObjectHandle{1 + below(object_count)}, below(2) == 0);
        }
        if (below(40) == 0) {
            // The open was lost: what came after it was dropped, and is owed anew.
            receiver.object = archetype_;
            receiver.state.clear();
            receiver.lost_range = RepRange();
            receiver.pair.lose_everything();
            ++events_.reopens;
        }
    }

    void check_at_rest(Receiver& receiver) {
        if (receiver.pair.is_exact() && receiver.pair.sent_version == on_.state.version()) {
            ++events_.rests;
            receiver.set_all_present();
            REQUIRE(find_difference(layout_->type(), &server_, &receiver.object).empty());
        }
    }

    void replicate(Receiver& receiver) {
        const Version version = on_.state.version();
        if (!receiver.pair.owes_any(version)) {
            return;
        }
        const OwedVersions position = receiver.position();
        events_.lost_ranges += position.lost_range.is_whole() ? 0u : 1u;
        const ChangeMask owed = on_.collect(position);
        REQUIRE(off_.collect(position) == owed);
        if (!owed.any()) {
            receiver.pair.skip(version);
            return;
        }
        const std::size_t capacity_bytes = 24 + below(below(4) == 0 ? 60 : 1'500);
        const Written whole = write_whole(position, owed, capacity_bytes);
        if (whole.result == SendResult::Whole) {
            check_payload(position, owed, whole.bytes);
            deliver(receiver, receiver.pair.send(version), RepRange(), whole.bytes);
        } else {
            replicate_parts(receiver, position, owed, capacity_bytes);
        }
    }

    struct Written {
        SendResult result;
        Bytes bytes;
    };

    Written write_whole(const OwedVersions& position, const ChangeMask& owed,
                        std::size_t capacity_bytes) {
        Written written[2];
        for (BlockSender* sender : {&on_, &off_}) {
            Bytes memory(capacity_bytes);
            BitWriter writer(memory);
            SendContext context = sender->context();
            Written& entry = written[sender == &on_ ? 0 : 1];
            entry.result = send_properties(sender->state, position, owed, writer, context).result;
            entry.bytes = to_bytes(writer.bytes());
        }
        REQUIRE(written[0].result == written[1].result);
        REQUIRE(written[0].bytes == written[1].bytes);
        return written[0];
    }

    /// Whole blocks are kept for the next receiver in the same position; it must be the same block.
    void check_payload(const OwedVersions& position, const ChangeMask& owed, const Bytes& block) {
        if (!layout_->is_fully_shared()) {
            return;
        }
        SharedSerialization& shared = on_.state.shared();
        if (const SharedPayload* payload =
                shared.find_payload({on_.state.version(), position, {}})) {
            REQUIRE(Bytes(payload->bytes.begin(), payload->bytes.end()) == block);
            REQUIRE(payload->property_count == owed.count());
            ++events_.payloads_reused;
        } else {
            shared.keep_payload({on_.state.version(), position, {}}, owed.count(), block);
        }
    }

    void replicate_parts(Receiver& receiver, const OwedVersions& position, const ChangeMask& owed,
                         std::size_t capacity_bytes) {
        const SentVersions versions = receiver.pair.take_owed(on_.state.version());
        RepCursor cursor;
        while (cursor.element > 0 || owed.next(cursor.handle.value - 1) < owed.bit_count()) {
            if (may_stop_early_ && below(10) == 0) {
                // The window is full: the rest is owed again.
                receiver.widen_lost_range(RepRange::from(cursor.handle));
                receiver.pair.return_unsent(versions);
                ++events_.stops;
                return;
            }
            RepCursor unshared_cursor = cursor;
            RepRange range;
            RepRange unshared_range;
            const Written part = write_part(on_, position, owed, cursor, range, capacity_bytes);
            const Written unshared =
                write_part(off_, position, owed, unshared_cursor, unshared_range, capacity_bytes);
            REQUIRE(part.result == unshared.result);
            REQUIRE(part.bytes == unshared.bytes);
            REQUIRE(range == unshared_range);
            if (part.result == SendResult::ValueTooLarge) {
                // Travels apart, and reliably.
                ++events_.large_values;
                const Bytes value = on_.single(position, RepHandle{range.handle_begin});
                REQUIRE(off_.single(position, RepHandle{range.handle_begin}) == value);
                receiver.receive(value);
                continue;
            }
            receiver.pair.send_part();
            ++events_.parts;
            deliver(receiver, versions, range, part.bytes);
        }
    }

    static Written write_part(BlockSender& sender, const OwedVersions& position,
                              const ChangeMask& owed, RepCursor& cursor, RepRange& range,
                              std::size_t capacity_bytes) {
        Bytes memory(capacity_bytes);
        BitWriter writer(memory);
        SendContext context = sender.context();
        const SentBlock part =
            send_part(sender.state, position, owed, cursor, range, writer, context);
        return {part.result, to_bytes(writer.bytes())};
    }

    void deliver(Receiver& receiver, const SentVersions& versions, const RepRange& range,
                 const Bytes& block) {
        const bool is_lost = below(100) < loss_percent_;
        receiver.flights.push_back({versions, range, is_lost});
        ++events_.blocks;
        events_.losses += is_lost ? 1u : 0u;
        if (!is_lost) {
            receiver.receive(block);
        }
    }

    Events& events_;
    std::mt19937_64 random_;
    T archetype_;
    TestLayout layout_;
    T server_;
    BlockSender on_;
    BlockSender off_;
    TypeCounters on_counters_;
    TypeCounters off_counters_;
    std::vector<std::unique_ptr<Receiver>> receivers_;
    std::uint64_t loss_percent_ = 0;
    bool may_stop_early_ = true;
};

template <typename T>
Events play(BuildType build, std::uint64_t seed_count) {
    Events events;
    const SeedRange seeds = seed_range(run_seed() * 1'000'000, seed_count);
    for (const std::uint64_t seed : seeds) {
        INFO("REPLAYOUT_SEED=" << seed);
        Game<T> game(build, seed, events);
        game.play(40);
        game.finish();
    }
    if (!seeds.is_default) {
        return events;
    }
    CHECK(events.blocks > 20 * seed_count);
    CHECK(events.losses > 3 * seed_count);
    CHECK(events.reopens > seed_count / 2);
    CHECK(events.rests > 5 * seed_count);
    return events;
}

/// Counts of events are promised of the runs whose length is written here.
[[nodiscard]] bool is_whole_run() {
    return seed_range(0, 0).is_default;
}

TEST_CASE("Random game: objects of every kind arrive at all receivers, shared or not",
          "[replayout][replication_random]") {
    const Events events = play<Soldier>(build_soldier, 400);
    if (!is_whole_run()) {
        return;
    }
    CHECK(events.parts > 400);
    CHECK(events.lost_ranges > 100);
    CHECK(events.stops > 50);
    CHECK(events.large_values > 10);
    CHECK(events.payloads_reused == 0);  // the secret is nobody else's
}

TEST_CASE("Random game: arrays in arrays arrive at all receivers, shared or not",
          "[replayout][replication_random]") {
    const Events events = play<Ledger>(build_ledger, 400);
    if (!is_whole_run()) {
        return;
    }
    CHECK(events.parts > 400);
    CHECK(events.lost_ranges > 100);
    CHECK(events.stops > 50);
    CHECK(events.large_values > 10);
    CHECK(events.payloads_reused > 400);
}

TEST_CASE("Random game: objects of many handles arrive at all receivers, shared or not",
          "[replayout][replication_random]") {
    const Events events = play<Depot>(build_depot, 100);
    CHECK((!is_whole_run() || events.payloads_reused > 100));
}

TEST_CASE("Random game: plain objects arrive at all receivers, shared or not",
          "[replayout][replication_random]") {
    const Events events = play<Beacon>(build_beacon, 100);
    CHECK((!is_whole_run() || events.payloads_reused > 100));
}

TEST_CASE("Random game: optional values arrive at all receivers, shared or not",
          "[replayout][replication_random]") {
    const Events events = play<Locker>(build_locker, 400);
    if (!is_whole_run()) {
        return;
    }
    CHECK(events.payloads_reused > 400);
    CHECK(events.parts > 10);
}

TEST_CASE("Random game: quantised objects arrive at all receivers, shared or not",
          "[replayout][replication_random]") {
    const Events events = play<Drone>(build_drone, 400);
    if (!is_whole_run()) {
        return;
    }
    CHECK(events.payloads_reused > 400);
    CHECK(events.lost_ranges > 10);
}

}  // namespace
}  // namespace replayout
