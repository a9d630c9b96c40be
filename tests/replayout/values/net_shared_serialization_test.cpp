// SPDX-License-Identifier: MIT
//
// The two traits of a struct that decide who serializes it, and for whom: NetSerializer makes it
// one value that writes itself, NetSharedSerialization lets that be done once for all receivers.
// The second has no effect without the first, because the struct is then flattened and no command
// is left that could carry the promise.
//
//     traits                 commands of the struct      net_serialize for 64 receivers
//     none                   one per member              never
//     Shared                 the same, and a remark      never
//     Serializer             one                         64 times
//     Serializer + Shared    one, shared                 once
#include <replayout/net_archive.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"

namespace replayout {
namespace {

constexpr std::uint32_t receiver_count = 64;

enum class Traits { None, SharedOnly, SerializerOnly, Both };

/// Four types that differ in nothing but what they promise.
template <Traits Promise>
struct Gauge {
    float value = 0.0f;
    std::uint16_t unit = 0;

    bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        ++(archive.is_saving() ? save_count : load_count);
        archive.serialize(value);
        archive.serialize(unit);
        return true;
    }
    friend bool operator==(const Gauge&, const Gauge&) = default;

    static inline std::uint32_t save_count = 0;
    static inline std::uint32_t load_count = 0;
};

template <Traits Promise>
struct Engine {
    std::int32_t before = 0;
    Gauge<Promise> gauge;
    std::int32_t after = 0;
};

}  // namespace

template <Traits Promise>
struct StructTraitsOf<Gauge<Promise>> : DefaultStructTraits {
    static constexpr bool with_net_serializer =
        Promise == Traits::SerializerOnly || Promise == Traits::Both;
    static constexpr bool with_net_shared_serialization =
        Promise == Traits::SharedOnly || Promise == Traits::Both;
};

namespace {

template <Traits Promise>
Result<const Type*> build_engine(TypeRegistry& registry) {
    (void)struct_builder<Gauge<Promise>>(registry, "Gauge")
        .template property<&Gauge<Promise>::value>("value")
        .template property<&Gauge<Promise>::unit>("unit")
        .build();
    return class_builder<Engine<Promise>>(registry, "Engine")
        .template property<&Engine<Promise>::before>("before")
        .template property<&Engine<Promise>::gauge>("gauge")
        .template property<&Engine<Promise>::after>("after")
        .build();
}

/// One change of the gauge, sent to everybody. What net_serialize was called, and what went out.
struct FanOut {
    std::uint32_t save_count;
    std::vector<Bytes> blocks;
    ReplicationCounters counters;
};

template <Traits Promise>
FanOut fan_out(bool is_sharing = true) {
    const TestLayout layout(build_engine<Promise>);
    BlockSender sender(*layout);
    sender.is_sharing = is_sharing;
    Engine<Promise> engine;
    engine.gauge.value = 1.5f;
    engine.gauge.unit = 0x1234;
    REQUIRE(sender.update(&engine));
    Gauge<Promise>::save_count = 0;
    FanOut result{};
    for (std::uint32_t receiver = 0; receiver < receiver_count; ++receiver) {
        result.blocks.push_back(sender.block(since(0)));
    }
    result.save_count = Gauge<Promise>::save_count;
    result.counters = sender.counters;
    return result;
}

template <Traits Promise>
void check_arrives(const Bytes& block) {
    const TestLayout layout(build_engine<Promise>);
    Engine<Promise> engine;
    BlockReceiver receiver(*layout);
    REQUIRE(receiver.receive(&engine, block));
    CHECK(engine.gauge.value == 1.5f);
    CHECK(engine.gauge.unit == 0x1234);
}

TEST_CASE("NetSharedSerialization: alone it leaves the commands as they are, and is remarked upon",
          "[replayout][net_shared_serialization]") {
    const TestLayout plain(build_engine<Traits::None>);
    const TestLayout shared(build_engine<Traits::SharedOnly>);
    REQUIRE(plain->cmds().size() == 5);
    REQUIRE(shared->cmds().size() == plain->cmds().size());
    for (std::size_t index = 0; index < plain->cmds().size(); ++index) {
        CHECK(shared->cmds()[index].type == plain->cmds()[index].type);
        CHECK(shared->cmds()[index].flags == plain->cmds()[index].flags);
        CHECK(shared->cmds()[index].object_offset.value ==
              plain->cmds()[index].object_offset.value);
        CHECK(shared->cmds()[index].checksum == plain->cmds()[index].checksum);
    }
    CHECK(shared->fingerprint() == plain->fingerprint());
    CHECK(plain->diagnostics().empty());
    REQUIRE(shared->diagnostics().size() == 1);
    CHECK(
        shared->diagnostics()[0] ==
        "struct \"Gauge\" promises NetSharedSerialization without NetSerializer: it is flattened, "
        "so the promise has no effect");
}

TEST_CASE("NetSharedSerialization: the remark goes to the log, once a struct",
          "[replayout][net_shared_serialization]") {
    struct TwoGauges {
        Gauge<Traits::SharedOnly> first;
        Gauge<Traits::SharedOnly> second;
    };
    static std::vector<std::string> messages;
    messages.clear();
    set_log_handler([](LogLevel level, std::string_view message,
                       void*) { messages.emplace_back(level == LogLevel::Warning ? message : ""); },
                    nullptr);
    const TestLayout layout([](TypeRegistry& registry) {
        (void)build_engine<Traits::SharedOnly>(registry);
        return class_builder<TwoGauges>(registry, "TwoGauges")
            .property<&TwoGauges::first>("first")
            .property<&TwoGauges::second>("second")
            .build();
    });
    set_log_handler(nullptr, nullptr);
    CHECK(layout->handle_count() == 4);
    REQUIRE(layout->diagnostics().size() == 1);
    CHECK(messages ==
          std::vector<std::string>(layout->diagnostics().begin(), layout->diagnostics().end()));
}

TEST_CASE("NetSerializer: makes the struct one command, shared only when that is promised too",
          "[replayout][net_shared_serialization]") {
    const TestLayout alone(build_engine<Traits::SerializerOnly>);
    const TestLayout both(build_engine<Traits::Both>);
    for (const TestLayout* layout : {&alone, &both}) {
        CHECK((*layout)->handle_count() == 3);
        CHECK(layout->cmd(2).type == RepLayoutCmdType::NetSerializeStruct);
        CHECK((*layout)->diagnostics().empty());
    }
    CHECK_FALSE(has_flag(alone.cmd(2).flags, RepLayoutCmdFlags::IsSharedSerialization));
    CHECK(has_flag(both.cmd(2).flags, RepLayoutCmdFlags::IsSharedSerialization));
    CHECK_FALSE(alone->is_fully_shared());
    CHECK(both->is_fully_shared());
}

TEST_CASE("NetSharedSerialization: with NetSerializer the struct is written once for 64 receivers",
          "[replayout][net_shared_serialization]") {
    const FanOut result = fan_out<Traits::Both>();
    CHECK(result.save_count == 1);
    CHECK(result.counters.values_encoded == 1);
    CHECK(result.counters.pieces_built == 1);
    CHECK(result.counters.values_reused == receiver_count - 1);
    CHECK(result.counters.values_unshared == 0);
    CHECK(result.counters.properties_sent == receiver_count);
    check_arrives<Traits::Both>(result.blocks.back());
}

TEST_CASE("NetSharedSerialization: one call a tick, however many connections there are",
          "[replayout][net_shared_serialization]") {
    for (const std::uint32_t connection_count : {1u, 2u, 64u, 1'000u}) {
        const TestLayout layout(build_engine<Traits::Both>);
        BlockSender sender(*layout);
        Engine<Traits::Both> engine;
        Gauge<Traits::Both>::save_count = 0;
        for (std::uint32_t tick = 1; tick <= 10; ++tick) {
            engine.gauge.unit = static_cast<std::uint16_t>(tick);
            REQUIRE(sender.update(&engine));
            for (std::uint32_t connection = 0; connection < connection_count; ++connection) {
                (void)sender.block(since(tick - 1));
            }
            CHECK(Gauge<Traits::Both>::save_count == tick);
        }
    }
}

TEST_CASE("NetSharedSerialization: without it a NetSerializer writes once for each receiver",
          "[replayout][net_shared_serialization]") {
    const FanOut result = fan_out<Traits::SerializerOnly>();
    CHECK(result.save_count == receiver_count);
    CHECK(result.counters.values_encoded == receiver_count);
    CHECK(result.counters.pieces_built == 0);
    CHECK(result.counters.values_reused == 0);
    CHECK(result.counters.values_unshared == receiver_count);
    check_arrives<Traits::SerializerOnly>(result.blocks.back());
}

TEST_CASE("NetSharedSerialization: switched off, everything is written for each receiver",
          "[replayout][net_shared_serialization]") {
    const FanOut result = fan_out<Traits::Both>(false);
    CHECK(result.save_count == receiver_count);
    CHECK(result.counters.values_encoded == receiver_count);
    CHECK(result.counters.pieces_built == 0);
    CHECK(result.counters.values_unshared == 0);
}

TEST_CASE("NetSharedSerialization: a flattened struct never calls net_serialize, and is shared",
          "[replayout][net_shared_serialization]") {
    const FanOut none = fan_out<Traits::None>();
    const FanOut alone = fan_out<Traits::SharedOnly>();
    CHECK(none.save_count == 0);
    CHECK(alone.save_count == 0);
    CHECK(alone.counters.values_encoded == 2);
    CHECK(alone.counters.values_reused == 2 * (receiver_count - 1));
    CHECK(alone.blocks == none.blocks);
    check_arrives<Traits::SharedOnly>(alone.blocks.back());
}

TEST_CASE("NetSharedSerialization: changes no byte, whoever is asked and however often",
          "[replayout][net_shared_serialization]") {
    const std::vector<Bytes> shared = fan_out<Traits::Both>().blocks;
    CHECK(shared == std::vector<Bytes>(receiver_count, shared.front()));
    CHECK(shared == fan_out<Traits::Both>(false).blocks);
    CHECK(shared == fan_out<Traits::SerializerOnly>().blocks);
}

TEST_CASE("NetSharedSerialization: a piece outlives its tick, and not its value",
          "[replayout][net_shared_serialization]") {
    const TestLayout layout(build_engine<Traits::Both>);
    BlockSender sender(*layout);
    Engine<Traits::Both> engine;
    engine.gauge.value = 1.0f;
    REQUIRE(sender.update(&engine));
    (void)sender.block(since(0));
    CHECK(sender.counters.values_encoded == 1);

    engine.before = 3;
    REQUIRE(sender.update(&engine));
    (void)sender.block(since(0));  // a late joiner: the gauge is there already
    CHECK(sender.counters.values_encoded == 2);

    engine.gauge.value = 2.0f;
    REQUIRE(sender.update(&engine));
    (void)sender.block(since(0));
    (void)sender.block(since(2));
    CHECK(sender.counters.values_encoded == 3);
}

}  // namespace
}  // namespace replayout
