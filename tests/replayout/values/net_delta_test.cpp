// SPDX-License-Identifier: MIT
//
// Structs with a NetDeltaSerializer: what is written from, who takes it, and who does not.
#include <replayout/call_parameters.h>
#include <replayout/delta_states.h>
#include <replayout/layout_description.h>
#include <replayout/materialized_shadow.h>

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/delta_types.h"
#include "support/types/test_layout.h"

namespace replayout::test::net_delta_test {
namespace {

/// One receiver, and the sender's account of it.
class Link {
  public:
    explicit Link(const RepLayout& layout) : copy_(layout, map_, resource()), receiver_(layout) {}

    /// What the receiver is owed goes out. Returns the block; empty: nothing.
    Bytes send(BlockSender& sender) {
        if (!pair.owes_any(sender.state.version())) {
            return {};
        }
        const OwedVersions position(pair);
        ChangeMask& owed = sender.scratch.owed;
        sender.state.collect_owed(position, owed);
        deltas.remove_held(sender.state, owed);
        Bytes memory(64 * 1024);
        BitWriter writer(memory);
        SendContext context = sender.context();
        context.delta_states = &deltas;
        const SentBlock block = owed.any()
                                    ? send_properties(sender.state, position, owed, writer, context)
                                    : SentBlock();
        if (owed.any()) {
            deltas.note_unchanged(block.findings->unchanged);
        }
        if (block == SendResult::Nothing) {
            pair.skip(sender.state.version());
            return {};
        }
        REQUIRE(block == SendResult::Whole);
        deltas.block_sent(block.deltas());
        in_flight_.push_back({to_bytes(writer.bytes()), pair.send(sender.state.version())});
        return in_flight_.back().block;
    }

    /// The oldest block arrives, or does not.
    void resolve(BlockSender& sender, bool is_delivered) {
        const Flight flight = in_flight_.front();
        in_flight_.pop_front();
        if (is_delivered) {
            REQUIRE(receiver_.receive(&client, flight.block));
            REQUIRE(copy_.apply(flight.block));
            pair.delivered();
        } else {
            pair.lose(flight.versions);
        }
        Vector<RepHandle> missed{Allocator<RepHandle>(resource())};
        deltas.block_resolved(is_delivered, missed);
        for (const RepHandle handle : missed) {
            const Version version = sender.state.last_changed(handle);
            if (version <= pair.sent_version) {
                pair.return_unsent({{version - 1, version}, {}});
            }
        }
    }
    void drop_oldest() { in_flight_.pop_front(); }
    [[nodiscard]] std::size_t in_flight() const { return in_flight_.size(); }
    [[nodiscard]] const MaterializedShadow& copy() const { return copy_; }
    [[nodiscard]] BlockReceiver& receiver() { return receiver_; }

    Table client;
    SendingRepState pair;
    DeltaStates deltas{resource()};

  private:
    struct Flight {
        Bytes block;
        SentVersions versions;
    };
    [[nodiscard]] static MemoryResource* resource() { return std::pmr::get_default_resource(); }

    std::deque<Flight> in_flight_;
    ClientPackageMap map_;
    MaterializedShadow copy_;
    BlockReceiver receiver_;
};

TEST_CASE("Net delta: a receiver is sent what is new since what it holds",
          "[replayout][net_delta]") {
    const TestLayout layout(build_table);
    CHECK(layout->has_delta_structs());
    BlockSender sender(*layout);
    Link link(*layout);
    Table server;
    for (std::uint32_t key = 0; key < 100; ++key) {
        server.scores.values[key] = 1'000'000;
    }
    REQUIRE(sender.update(&server));
    const std::size_t first = link.send(sender).size();
    server.scores.values[50] = 1'000'001;
    REQUIRE(sender.update(&server));
    const std::size_t second = link.send(sender).size();
    CHECK(first > 300);
    CHECK(second < 12);
    link.resolve(sender, true);
    link.resolve(sender, true);
    CHECK(link.client.scores == server.scores);
    CHECK(link.send(sender).empty());
}

TEST_CASE("Net delta: copies of the value are taken from the packet's budget",
          "[replayout][net_delta]") {
    const TestLayout layout(build_table);
    BlockSender sender(*layout);
    Link link(*layout);
    Table server;
    for (std::uint32_t key = 0; key < 1'000; ++key) {
        server.scores.values[key] = 1;
    }
    REQUIRE(sender.update(&server));
    (void)link.send(sender);
    link.resolve(sender, true);
    server.scores.values[50] = 2;
    REQUIRE(sender.update(&server));
    const Bytes block = link.send(sender);
    CHECK(block.size() < 12);
    for (const std::size_t steps : {1'000u, 2'000u}) {
        DecodeBudget budget;
        budget.steps = steps;
        BitReader reader(block, &budget);
        ReceiveContext context = link.receiver().context();
        Table client = link.client;
        ReceivingRepState state(std::pmr::get_default_resource());
        state.set_delta_version(RepHandle{2}, 1);
        CHECK(receive_properties(*layout, reader, &client, state, context) == (steps == 2'000));
        CHECK((client.scores == server.scores) == (steps == 2'000));
    }
}

TEST_CASE("Net delta: what builds on a lost delta is left alone, and the value is owed anew",
          "[replayout][net_delta]") {
    const TestLayout layout(build_table);
    BlockSender sender(*layout);
    Link link(*layout);
    Table server;
    const auto set = [&](std::uint32_t key, std::int32_t value) {
        server.scores.values[key] = value;
        REQUIRE(sender.update(&server));
        REQUIRE_FALSE(link.send(sender).empty());
    };
    set(1, 10);
    set(2, 20);
    set(3, 30);
    link.resolve(sender, false);  // the first is lost
    server.scores.values.erase(2);
    server.tail = 1;
    REQUIRE(sender.update(&server));
    REQUIRE_FALSE(link.send(sender).empty());  // from the archetype
    link.resolve(sender, true);
    CHECK(link.client.scores.values.empty());
    link.resolve(sender, false);
    REQUIRE(link.in_flight() == 1);
    CHECK(link.send(sender).empty());  // what is in flight brings it all
    link.resolve(sender, true);
    CHECK(link.client.scores == server.scores);
    CHECK(link.send(sender).empty());
}

TEST_CASE("Net delta: what a receiver threw away does not count, though it arrived",
          "[replayout][net_delta]") {
    const TestLayout layout(build_table);
    BlockSender sender(*layout);
    Link link(*layout);
    Table server;
    server.scores.values = {{1, 10}};
    REQUIRE(sender.update(&server));
    REQUIRE_FALSE(link.send(sender).empty());
    link.deltas.restart();
    link.pair.lose_everything();
    Vector<RepHandle> missed{Allocator<RepHandle>(std::pmr::get_default_resource())};
    link.deltas.block_resolved(true, missed);
    link.pair.delivered();
    link.drop_oldest();
    CHECK(link.deltas.base(RepHandle{2}).version == 0);
    REQUIRE(missed.size() == 1);
    REQUIRE_FALSE(link.send(sender).empty());
    link.resolve(sender, true);
    CHECK(link.client.scores == server.scores);
}

/// Twins that differ in whether they share play the same game with the same receivers.
struct Twins {
    Twins(const RepLayout& layout, std::size_t link_count)
        : shared(layout), alone(layout), layout_(layout) {
        alone.is_sharing = false;
        for (std::size_t i = 0; i < link_count; ++i) {
            join();
        }
    }
    void join() {
        shared_links.push_back(std::make_unique<Link>(layout_));
        alone_links.push_back(std::make_unique<Link>(layout_));
    }
    void update(const Table& server) {
        (void)shared.update(&server);
        (void)alone.update(&server);
    }
    void send(std::size_t link) {
        const Bytes left = shared_links[link]->send(shared);
        const Bytes right = alone_links[link]->send(alone);
        REQUIRE(to_hex(left) == to_hex(right));
    }
    void resolve(std::size_t link, bool is_delivered) {
        shared_links[link]->resolve(shared, is_delivered);
        alone_links[link]->resolve(alone, is_delivered);
    }

    BlockSender shared;
    BlockSender alone;
    std::vector<std::unique_ptr<Link>> shared_links;
    std::vector<std::unique_ptr<Link>> alone_links;

  private:
    const RepLayout& layout_;
};

void play(std::uint64_t seed) {
    INFO("seed " << seed);
    const TestLayout layout(build_table);
    SeededRandom random(seed);
    Twins twins(*layout, 4);
    Table server;
    for (std::uint32_t step = 0; step < 600; ++step) {
        const std::uint32_t key = random.below(6);
        if (random.percent(30)) {
            server.scores.values.erase(key);
        } else if (random.percent(20)) {
            server.tail = static_cast<std::uint8_t>(random.bits());
        } else {
            server.scores.values[key] = static_cast<std::int32_t>(random.below(3));
        }
        twins.update(server);
        if (step == 300) {
            twins.join();
        }
        for (std::size_t i = 0; i < twins.shared_links.size(); ++i) {
            if (random.percent(80)) {
                twins.send(i);
            }
            while (twins.shared_links[i]->in_flight() > 8 ||
                   (twins.shared_links[i]->in_flight() > 0 && random.percent(40))) {
                twins.resolve(i, random.percent(65));
            }
        }
    }
    for (std::size_t i = 0; i < twins.shared_links.size(); ++i) {
        Link& link = *twins.shared_links[i];
        for (std::uint32_t round = 0; round < 32; ++round) {
            while (link.in_flight() > 0) {
                twins.resolve(i, true);
            }
            twins.send(i);
        }
        CHECK(link.in_flight() == 0);
        CHECK(link.pair.is_exact());
        CHECK(link.client.scores == server.scores);
        CHECK(link.client.tail == server.tail);
        CHECK(link.copy().equals(twins.shared.state));
    }
}

TEST_CASE("Net delta: what builds on one that was taken back is owed from what is held",
          "[replayout][net_delta]") {
    MemoryResource* const resource = std::pmr::get_default_resource();
    const RepHandle handle{2};
    DeltaStates states(resource);
    Vector<RepHandle> missed{Allocator<RepHandle>(resource)};
    const auto delta = [&](Version from, Version to) {
        return SentDelta{handle, from, DeltaBase{to, NetDeltaStatePtr()}};
    };
    const SentDelta block = delta(0, 2);
    states.block_sent({&block, 1});
    const SentDelta value = delta(2, 5);
    states.value_sent({&value, 1});
    CHECK(states.base(handle).version == 5);
    states.block_resolved(true, missed);
    CHECK(missed.empty());
    states.value_taken_back(handle, missed);
    CHECK(states.base(handle).version == 2);
    REQUIRE(missed.size() == 1);
    CHECK(missed.front() == handle);
    missed.clear();
    states.value_taken_back(handle, missed);  // it is no more under way
    CHECK(missed.empty());
}

TEST_CASE("Net delta: whatever is lost, each delta is written from what its receiver holds",
          "[replayout][net_delta][random]") {
    const SeedRange seeds = seed_range(run_seed() * 1'000 + 1, 20);
    for (std::uint64_t i = 0; i < seeds.count; ++i) {
        play(seeds.first + i);
    }
}

TEST_CASE("Net delta: receivers in the same state are served by one call, others by one each",
          "[replayout][net_delta]") {
    const TestLayout layout(build_table);
    Twins twins(*layout, 10);
    Table server;
    const auto tick = [&](std::size_t begin, std::size_t end) {
        const std::uint64_t calls = Scores::calls;
        for (std::size_t i = begin; i < end; ++i) {
            REQUIRE_FALSE(twins.shared_links[i]->send(twins.shared).empty());
        }
        return Scores::calls - calls;
    };
    server.scores.values = {{1, 1}, {2, 2}};
    twins.update(server);
    CHECK(tick(0, 5) == 1);
    server.scores.values[1] = 5;
    twins.update(server);
    CHECK(tick(0, 10) == 2);
}

TEST_CASE("Net delta: what cannot be written is left out and counted; without a state likewise",
          "[replayout][net_delta]") {
    const TestLayout layout(build_table);
    for (const bool is_sharing : {true, false}) {
        BlockSender sender(*layout);
        sender.is_sharing = is_sharing;
        Link link(*layout);
        Table server;
        server.tail = 4;
        server.scores.values = {{1, 1}};
        server.scores.is_broken = true;
        REQUIRE(sender.update(&server));
        REQUIRE_FALSE(link.send(sender).empty());
        CHECK(sender.counters.values_failed == 1);
        server.scores.is_broken = false;
        server.scores.is_stateless = true;
        REQUIRE(sender.update(&server));
        CHECK(link.send(sender).empty());
        CHECK(sender.counters.values_failed == 2);
        server.scores.is_stateless = false;
        REQUIRE(sender.update(&server));
        REQUIRE_FALSE(link.send(sender).empty());
        link.resolve(sender, true);
        link.resolve(sender, true);
        CHECK(link.client.scores.values == server.scores.values);
        CHECK(link.client.tail == 4);
    }
}

TEST_CASE("Net delta: nothing to say is nothing sent, by the answer or by equal states",
          "[replayout][net_delta]") {
    const TestLayout layout(build_table);
    BlockSender sender(*layout);
    Link link(*layout);
    Table server;
    server.scores.values = {{1, 1}};
    REQUIRE(sender.update(&server));
    REQUIRE_FALSE(link.send(sender).empty());
    for (const std::uint32_t note : {1u, 2u}) {
        server.scores.note = note;
        REQUIRE(sender.update(&server));
        const std::uint64_t calls = Scores::calls;
        CHECK(link.send(sender).empty());
        CHECK(link.send(sender).empty());
        CHECK(Scores::calls == calls + 1);
    }
    CHECK(sender.counters.values_failed == 0);
    link.resolve(sender, false);
    REQUIRE_FALSE(link.send(sender).empty());  // from the archetype there is
    link.resolve(sender, true);
    CHECK(link.client.scores.values == server.scores.values);
}

TEST_CASE("Net delta: bits that no writer makes are refused and change nothing",
          "[replayout][net_delta]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    SeededRandom random(seed);
    const TestLayout layout(build_table);
    BlockSender sender(*layout);
    Link link(*layout);
    Table server;
    server.scores.values = {{1, 1}, {2, 2}, {3, 3}};
    REQUIRE(sender.update(&server));
    const Bytes block = link.send(sender);
    std::uint32_t refused = 0;
    for (std::uint32_t round = 0; round < 2'000; ++round) {
        Bytes hostile = block;
        for (std::uint32_t i = random.between(1, 4); i > 0; --i) {
            flip_bit(hostile, random.below(static_cast<std::uint32_t>(hostile.size() * 8)));
        }
        hostile.resize(random.between(0, static_cast<std::uint32_t>(hostile.size())));
        Table client;
        BlockReceiver receiver(*layout);
        if (!receiver.receive(&client, hostile)) {
            ++refused;
            CHECK(client.scores == Scores());
            CHECK(client.round == 0);
            CHECK(receiver.state.delta_version(RepHandle{2}) == 0);
        }
    }
    CHECK(refused > 1'000);
}

TEST_CASE("Net delta: a header that no sender writes is refused", "[replayout][net_delta]") {
    const TestLayout layout(build_table);
    const auto is_taken = [&](std::uint64_t to, std::uint64_t distance, std::uint64_t bit_count) {
        std::array<std::byte, 32> memory{};
        BitWriter writer(memory);
        writer.write_bits(0b0100, 4);  // the set {2} of 3
        writer.write_packed_uint(to);
        writer.write_packed_uint(distance);
        writer.write_packed_uint(bit_count);
        writer.write_bits(Scores::sum_of({}), 16);
        writer.write_packed_uint(0);
        writer.write_packed_uint(0);
        writer.finish_byte();
        Table client;
        BlockReceiver receiver(*layout);
        return receiver.receive(&client, writer.bytes());
    };
    CHECK(is_taken(3, 3, 32));
    CHECK_FALSE(is_taken(3, 0, 32));           // no delta
    CHECK_FALSE(is_taken(3, 4, 32));           // from before the archetype
    CHECK_FALSE(is_taken(1ull << 32, 3, 32));  // no version
    CHECK_FALSE(is_taken(3, 3, 31));           // not what the function reads
    CHECK_FALSE(is_taken(3, 3, 33));
    CHECK_FALSE(is_taken(3, 3, 1'000));  // more than there is
    CHECK(is_taken(3, 1, 32));           // on another base, so passed over
}

TEST_CASE("Net delta: parameters of a call are written from their defaults",
          "[replayout][net_delta]") {
    const TestLayout layout(build_table);
    BlockSender sender(*layout);
    CallParameters parameters(*layout, std::pmr::get_default_resource());
    Table params;
    params.scores.values = {{7, 70}};
    REQUIRE(parameters.set(&params, sender.package_map, sender.counters) ==
            CallParametersStatus::Ok);
    BlockReceiver receiver(*layout);
    for (std::uint32_t call = 0; call < 2; ++call) {
        Bytes memory(256);
        BitWriter writer(memory);
        SendContext context = sender.context();
        REQUIRE(parameters.write(writer, context) == CallParametersStatus::Ok);
        Table received;
        BitReader reader(writer.bytes());
        Vector<NetGUID> unmapped{Allocator<NetGUID>(std::pmr::get_default_resource())};
        ReceiveContext receive = receiver.context();
        REQUIRE(
            receive_call_parameters(*layout, reader, &received, receiver.state, unmapped, receive));
        CHECK(received.scores == params.scores);
    }
}

struct OlderTable {
    std::uint32_t round = 0;
    std::uint8_t tail = 0;
};

TEST_CASE("Net delta: a receiver that does not know the struct passes over it",
          "[replayout][net_delta]") {
    const TestLayout sent(build_table);
    const TestLayout local([](TypeRegistry& registry) {
        return class_builder<OlderTable>(registry, "Table")
            .property<&OlderTable::round>()
            .property<&OlderTable::tail>()
            .build();
    });
    const auto description = describe_layout(*sent, std::pmr::get_default_resource());
    const auto layout = RepLayout::create_compatible(local->registry(), &*local,
                                                     {description.data(), description.size()},
                                                     LayoutPolicy::SkipUnknown);
    REQUIRE(layout);
    BlockSender sender(*sent);
    Link link(*sent);
    Table server;
    server.round = 3;
    server.scores.values = {{1, 1}};
    server.tail = 9;
    REQUIRE(sender.update(&server));
    OlderTable client;
    BlockReceiver receiver(**layout);
    REQUIRE(receiver.receive(&client, link.send(sender)));
    CHECK(client.round == 3);
    CHECK(client.tail == 9);
}

// A struct that reads what a peer makes it read.

/// Of one byte on the wire. It is only read, and does as it is told.
struct Probe {
    enum class Manner : std::uint8_t {
        Right,    ///< reads what it wrote
        Refuses,  ///< reads it, and says no
        Beyond,   ///< reads it, and then more than there is, and says yes
        Once,     ///< says no to what it is asked a second time
    };
    static inline Manner manner = Manner::Right;
    static inline std::uint32_t reads = 0;

    std::uint8_t value = 0;
    std::array<std::uint8_t, 799> ballast{};

    bool operator==(const Probe&) const = default;

    bool net_delta_serialize(NetDeltaInfo& info) {
        NetArchive& archive = info.archive();
        archive.serialize(value);
        ++reads;
        if (manner == Manner::Beyond) {
            std::uint64_t more = 0;
            archive.serialize_bits(more, 64);
        }
        return manner != Manner::Refuses && (manner != Manner::Once || reads == 1);
    }
};

struct Panel {
    Probe probe;
    std::uint8_t tail = 0;
};

}  // namespace
}  // namespace replayout::test::net_delta_test

template <>
struct replayout::StructTraitsOf<replayout::test::net_delta_test::Probe>
    : replayout::DefaultStructTraits {
    static constexpr bool with_net_delta_serializer = true;
};

namespace replayout::test::net_delta_test {
namespace {

[[nodiscard]] Result<const Type*> build_panel(TypeRegistry& registry) {
    REQUIRE(struct_builder<Probe>(registry, "Probe").build());
    return class_builder<Panel>(registry, "Panel")
        .property<&Panel::probe>()
        .property<&Panel::tail>()
        .build();
}

/// A receiver of Panels that has taken delta `held`, and what a peer makes it read.
struct PanelReader {
    static constexpr RepHandle handle{1};

    explicit PanelReader(Version held = 0, Probe::Manner manner = Probe::Manner::Right) {
        Probe::manner = manner;
        Probe::reads = 0;
        panel.probe.value = 3;
        if (held != 0) {
            receiver.state.set_delta_version(handle, held);
        }
    }
    ~PanelReader() { Probe::manner = Probe::Manner::Right; }
    PanelReader(const PanelReader&) = delete;
    PanelReader& operator=(const PanelReader&) = delete;

    /// The probe alone: a header, and the byte 9 if there are bits for it.
    static Bytes make_block(Version to, Version distance, std::uint64_t bit_count,
                            bool has_value = true) {
        std::array<std::byte, 16> memory{};
        BitWriter writer(memory);
        writer.write_bits(0b010, 3);  // the set {1} of 2
        writer.write_packed_uint(to);
        writer.write_packed_uint(distance);
        writer.write_packed_uint(bit_count);
        writer.write_bits(has_value ? 9 : 0, has_value ? 8 : 0);
        writer.finish_byte();
        return to_bytes(writer.bytes());
    }
    bool receive(Version to, Version distance, std::uint64_t bit_count, bool has_value = true) {
        return receiver.receive(&panel, make_block(to, distance, bit_count, has_value));
    }
    [[nodiscard]] bool is_untouched(Version held) const {
        return panel.probe.value == 3 && receiver.state.delta_version(handle) == held;
    }

    TestLayout layout{build_panel};
    Panel panel;
    BlockReceiver receiver{*layout};
};

TEST_CASE("Net delta: of bits that are not there a struct is not asked", "[replayout][net_delta]") {
    // Behind the header lie 8 bits of the value and 5 that fill its last byte.
    for (const std::uint64_t bit_count :
         {std::uint64_t{14}, std::uint64_t{15}, std::uint64_t{1'000}, ~std::uint64_t{0}}) {
        PanelReader reader;
        CHECK_FALSE(reader.receive(1, 1, bit_count));
        CHECK(Probe::reads == 0);
        CHECK(reader.receiver.values_failed == 0);
        CHECK(reader.is_untouched(0));
    }
    PanelReader reader;
    CHECK_FALSE(reader.receive(1, 1, 13));
    CHECK(Probe::reads == 1);
    CHECK(reader.receiver.values_failed == 1);
    CHECK(reader.receive(1, 1, 8));
    CHECK(reader.panel.probe.value == 9);
}

TEST_CASE("Net delta: a header that is no delta's is refused, whatever the receiver holds",
          "[replayout][net_delta]") {
    for (const Version held : {0u, 2u}) {
        PanelReader reader(held);
        CHECK_FALSE(reader.receive(3, 0, 0, false));
        CHECK_FALSE(reader.receive(0, 0, 0, false));
        CHECK_FALSE(reader.receive(3, 4, 0, false));
        CHECK(Probe::reads == 0);
        CHECK(reader.is_untouched(held));
    }
}

TEST_CASE("Net delta: on a base before or behind the one that is held it is passed over",
          "[replayout][net_delta]") {
    for (const Version distance : {1u, 2u, 4u, 7u}) {
        PanelReader reader(4);
        CHECK(reader.receive(7, distance, 8));
        CHECK(Probe::reads == 0);
        CHECK(reader.receiver.values_failed == 0);
        CHECK(reader.is_untouched(4));
    }
    PanelReader reader(4);
    CHECK(reader.receive(7, 3, 8));
    CHECK(reader.panel.probe.value == 9);
    CHECK(reader.receiver.state.delta_version(PanelReader::handle) == 7);
}

TEST_CASE("Net delta: a struct that says no, or yes to more than there is, refuses the block",
          "[replayout][net_delta]") {
    for (const auto manner : {Probe::Manner::Refuses, Probe::Manner::Beyond}) {
        PanelReader reader(0, manner);
        CHECK_FALSE(reader.receive(1, 1, 8));
        CHECK(Probe::reads == 1);
        CHECK(reader.receiver.values_failed == 1);
        CHECK(reader.is_untouched(0));
    }
}

TEST_CASE("Net delta: a struct that says no to what it took before leaves the value as it was",
          "[replayout][net_delta]") {
    PanelReader reader(0, Probe::Manner::Once);
    CHECK(reader.receive(1, 1, 8));
    CHECK(Probe::reads == 2);
    CHECK(reader.receiver.values_failed == 1);
    CHECK(reader.panel.probe.value == 3);
}

TEST_CASE("Net delta: that the value is copied for a delta is charged to the budget",
          "[replayout][net_delta]") {
    const Bytes block = PanelReader::make_block(1, 1, 8);
    const std::size_t copied = sizeof(Probe) / 8;
    const auto is_taken = [&](std::size_t steps) {
        PanelReader panels;
        DecodeBudget budget;
        budget.steps = steps;
        BitReader reader(block, &budget);
        ReceiveContext context = panels.receiver.context();
        return receive_properties(*panels.layout, reader, &panels.panel, panels.receiver.state,
                                  context);
    };
    CHECK_FALSE(is_taken(copied));
    CHECK(is_taken(copied + 10));
}

TEST_CASE("Net delta: a block is passed over without a look at any object",
          "[replayout][net_delta]") {
    PanelReader panels;
    const Bytes block = PanelReader::make_block(1, 1, 8);
    ReceiveContext context = panels.receiver.context();
    BitReader reader(block);
    CHECK(skip_properties(*panels.layout, reader, context));
    CHECK(Probe::reads == 0);
    BitReader shorter({block.data(), block.size() - 2});
    CHECK_FALSE(skip_properties(*panels.layout, shorter, context));
}

}  // namespace
}  // namespace replayout::test::net_delta_test
