// SPDX-License-Identifier: MIT
//
// Parameters of a call: what travels, what a multicast shares, and what is refused.
#include <replayout/call_parameters.h>
#include <replayout/collection.h>
#include <replayout/net_archive.h>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/checks/golden.h"
#include "support/checks/heap_count.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/checks/value_difference.h"
#include "support/replication/block_receiver.h"
#include "support/types/random_editor.h"
#include "support/types/random_types.h"
#include "support/types/test_layout.h"
#include "support/types/test_package_map.h"

namespace replayout {
namespace {

std::uint64_t serialize_calls = 0;

/// Written once for all.
struct Impact {
    std::uint32_t point = 0;
    std::uint8_t kind = 0;  // 13 cannot be written

    bool net_serialize(NetArchive& archive, PackageMap*, bool& ok) {
        ++serialize_calls;
        archive.serialize(point);
        archive.serialize(kind);
        ok = kind != 13;
        return true;
    }
    friend bool operator==(const Impact&, const Impact&) = default;
};

/// Written for each receiver.
struct Whisper {
    std::uint32_t word = 0;
    ObjectHandle listener;

    bool net_serialize(NetArchive& archive, PackageMap* map, bool&) {
        ++serialize_calls;
        archive.serialize(word);
        return archive.serialize_object(listener, map);
    }
    friend bool operator==(const Whisper&, const Whisper&) = default;
};

}  // namespace

template <>
struct StructTraitsOf<Impact> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_shared_serialization = true;
};
template <>
struct StructTraitsOf<Whisper> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};

namespace {

struct ShowDamage {
    std::uint8_t amount = 1;
    std::string text;
    ObjectHandle by;
};

struct Explode {
    Impact impact;
    std::int32_t radius = 10;
    std::vector<std::string> words;
    std::vector<ObjectHandle> victims;
};

struct Gossip {
    Impact impact;
    Whisper whisper;
    std::int32_t volume = 0;
};

struct Nothing {};

Result<const Type*> build_show_damage(TypeRegistry& registry) {
    return struct_builder<ShowDamage>(registry, "ShowDamage")
        .property<&ShowDamage::amount>()
        .property<&ShowDamage::text>()
        .property<&ShowDamage::by>()
        .build();
}

Result<const Type*> build_explode(TypeRegistry& registry) {
    (void)struct_builder<Impact>(registry, "Impact").build();
    return struct_builder<Explode>(registry, "Explode")
        .property<&Explode::impact>()
        .property<&Explode::radius>()
        .property<&Explode::words>()
        .property<&Explode::victims>()
        .build();
}

Result<const Type*> build_gossip(TypeRegistry& registry) {
    (void)struct_builder<Impact>(registry, "Impact").build();
    (void)struct_builder<Whisper>(registry, "Whisper").build();
    return struct_builder<Gossip>(registry, "Gossip")
        .property<&Gossip::impact>()
        .property<&Gossip::whisper>()
        .property<&Gossip::volume>()
        .build();
}

Result<const Type*> build_nothing(TypeRegistry& registry) {
    return struct_builder<Nothing>(registry, "Nothing").build();
}

/// Who calls.
class Caller {
  public:
    explicit Caller(const RepLayout& layout,
                    MemoryResource* resource = std::pmr::get_default_resource())
        : scratch(resource), parameters(layout, resource) {}

    [[nodiscard]] CallParametersStatus set(const void* params) {
        return parameters.set(params, package_map, counters);
    }

    /// For one receiver; no bytes where that is refused.
    CallParametersStatus write(Bytes& bytes, std::size_t capacity_bytes = 16 * 1'024) {
        memory_.resize(capacity_bytes);
        BitWriter writer(memory_);
        SendContext context{package_map, counters, scratch, sharing_level(is_sharing),
                            nullptr,     false};
        const CallParametersStatus status = parameters.write(writer, context).status;
        REQUIRE(writer.bit_count() % 8 == 0);
        bytes.assign(writer.bytes().begin(), writer.bytes().end());
        return status;
    }

    /// The bytes of a call that is taken.
    Bytes call(const void* params) {
        Bytes bytes;
        REQUIRE(set(params) == CallParametersStatus::Ok);
        REQUIRE(write(bytes) == CallParametersStatus::Ok);
        return bytes;
    }

    ServerPackageMap package_map;
    ReplicationCounters counters;
    SendScratch scratch;
    CallParameters parameters;
    bool is_sharing = true;

  private:
    Bytes memory_;
};

/// Who is called, once.
class Callee {
  public:
    explicit Callee(const RepLayout& layout) : layout_(layout) {}

    bool receive(void* params, std::span<const std::byte> bytes, bool must_fill_reader = true) {
        DecodeBudget budget;
        BitReader reader(bytes, &budget);
        ReceiveContext context{package_map, scratch};
        context.must_fill_reader = must_fill_reader;
        const bool is_received =
            receive_call_parameters(layout_, reader, params, state, unmapped, context);
        bits_left = reader.bits_left();
        REQUIRE(is_received != reader.failed());
        return is_received;
    }

    ClientPackageMap package_map;
    ReceiveScratch scratch{std::pmr::get_default_resource()};
    ReceivingRepState state{std::pmr::get_default_resource()};
    Vector<NetGUID> unmapped;
    std::size_t bits_left = 0;

  private:
    const RepLayout& layout_;
};

TEST_CASE("CallParameters: what differs from the defaults travels, and nothing else",
          "[replayout][call_parameters]") {
    const TestLayout layout(build_show_damage);
    Caller caller(*layout);
    ShowDamage sent;
    CHECK(caller.call(&sent).size() == 1);
    sent.amount = 9;
    CHECK(caller.call(&sent).size() == 2);
    sent.text = "ouch";
    const Bytes bytes = caller.call(&sent);
    ShowDamage received;
    Callee callee(*layout);
    REQUIRE(callee.receive(&received, bytes));
    CHECK(callee.bits_left == 0);
    CHECK(received.amount == 9);
    CHECK(received.text == "ouch");
    CHECK(received.by.is_null());
}

TEST_CASE("CallParameters: a function without parameters sends none",
          "[replayout][call_parameters]") {
    const TestLayout layout(build_nothing);
    Caller caller(*layout);
    Nothing nothing;
    CHECK(caller.call(&nothing).empty());
    Callee callee(*layout);
    CHECK(callee.receive(&nothing, {}));
    CHECK_FALSE(callee.receive(&nothing, Bytes(1)));
}

TEST_CASE("CallParameters: the bytes of a call do not depend on the call before",
          "[replayout][call_parameters]") {
    const TestLayout layout(build_explode);
    Caller caller(*layout);
    Explode first;
    first.radius = 3;
    first.words = {"a", "b", "c"};
    Explode second;
    second.impact.point = 8;
    second.words = {"a"};
    const Bytes first_bytes = caller.call(&first);
    const Bytes second_bytes = caller.call(&second);
    CHECK(caller.call(&first) == first_bytes);
    CHECK(Caller(*layout).call(&second) == second_bytes);
    CHECK(caller.call(&second) == second_bytes);
}

namespace {

struct Tag {
    std::uint32_t id = 0;
    std::int32_t value = 0;
    friend bool operator==(const Tag&, const Tag&) = default;
};
// gcc 12, lightly optimised, sees values in a list of Tags that nobody set: there are none.
[[nodiscard]] std::vector<Tag> three_tags() {
    std::vector<Tag> tags;
    for (const std::uint32_t id : {1U, 2U, 3U}) {
        tags.push_back({id, static_cast<std::int32_t>(10 * id)});
    }
    return tags;
}
struct Label {
    std::vector<Tag> tags = three_tags();
};
[[nodiscard]] Result<const Type*> build_label(TypeRegistry& registry) {
    REQUIRE(
        struct_builder<Tag>(registry, "Tag").property<&Tag::id>().property<&Tag::value>().build());
    return struct_builder<Label>(registry, "Label")
        .property<&Label::tags>()
        .keyed_by<&Tag::id>(ArrayOrder::Kept)
        .build();
}

}  // namespace

TEST_CASE("CallParameters: the order of a keyed array does not depend on the call before",
          "[replayout][call_parameters]") {
    const TestLayout layout(build_label);
    Caller caller(*layout);
    Callee callee(*layout);
    Label first;
    std::swap(first.tags[0], first.tags[2]);
    Label received;
    REQUIRE(callee.receive(&received, caller.call(&first)));
    CHECK(received.tags == first.tags);
    Label second;
    second.tags[1].value = 21;
    received = Label();
    REQUIRE(callee.receive(&received, caller.call(&second)));
    CHECK(received.tags == second.tags);
}

TEST_CASE("CallParameters: a multicast to 64 receivers calls each net_serialize once",
          "[replayout][call_parameters]") {
    const TestLayout layout(build_explode);
    Caller caller(*layout);
    Explode sent;
    sent.impact = {77, 2};
    sent.words = {"boom"};
    REQUIRE(caller.set(&sent) == CallParametersStatus::Ok);
    serialize_calls = 0;
    Bytes first;
    REQUIRE(caller.write(first) == CallParametersStatus::Ok);
    for (int receiver = 1; receiver < 64; ++receiver) {
        Bytes bytes;
        REQUIRE(caller.write(bytes) == CallParametersStatus::Ok);
        REQUIRE(bytes == first);
    }
    CHECK(serialize_calls == 1);
    CHECK(caller.counters.payloads_built == 1);
    CHECK(caller.counters.payloads_reused == 63);
    CHECK(caller.counters.values_reused == 2 * 63);
    CHECK(caller.counters.properties_sent == 2 * 64);
    // Where nothing is shared, nothing that was kept is taken.
    caller.is_sharing = false;
    Bytes alone;
    REQUIRE(caller.write(alone) == CallParametersStatus::Ok);
    CHECK(caller.counters.payloads_reused == 63);
}

TEST_CASE("CallParameters: where nothing is to be shared a payload that is there is not used",
          "[replayout][call_parameters]") {
    const TestLayout layout(build_explode);
    Caller caller(*layout);
    const Explode sent{{4, 2}, 25, {"boom"}, {}};
    const Bytes shared = caller.call(&sent);
    REQUIRE(caller.counters.payloads_built == 1);
    caller.is_sharing = false;
    serialize_calls = 0;
    Bytes bytes;
    REQUIRE(caller.write(bytes) == CallParametersStatus::Ok);
    CHECK(bytes == shared);
    CHECK(serialize_calls == 1);
    CHECK(caller.counters.payloads_reused == 0);
}

TEST_CASE("CallParameters: what is not shared is written for each receiver, and the rest once",
          "[replayout][call_parameters]") {
    const TestLayout layout(build_gossip);
    Caller caller(*layout);
    Gossip sent;
    sent.impact.point = 1;
    sent.whisper.word = 2;
    REQUIRE(caller.set(&sent) == CallParametersStatus::Ok);
    serialize_calls = 0;
    for (int receiver = 0; receiver < 64; ++receiver) {
        Bytes bytes;
        REQUIRE(caller.write(bytes) == CallParametersStatus::Ok);
    }
    CHECK(serialize_calls == 1 + 64);
    CHECK(caller.counters.values_unshared == 64);
    CHECK(caller.counters.payloads_built == 0);
}

TEST_CASE("Unreal conformance 1: of RPC parameters sharing changes no byte, nor any value",
          "[replayout][call_parameters]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    test::SeededRandom random(seed);
    std::uint64_t calls = 0;
    for (int round = 0; round < 12; ++round) {
        const test::RandomTypes types(random.bits(), {2, 20, 3, RepLimits()});
        for (std::uint32_t index = 0; index < types.class_count(); ++index) {
            const RepLayout& layout = types.layout(index);
            std::mt19937_64 edits(random.bits());
            Caller on(layout);
            Caller off(layout);
            off.is_sharing = false;
            for (std::uint64_t handle = 1; handle <= 4; ++handle) {
                (void)on.package_map.guid_of(ObjectHandle{handle});
                (void)off.package_map.guid_of(ObjectHandle{handle});
            }
            const auto sent = types.make_object(index);
            for (int call = 0; call < 8; ++call) {
                RandomEditor(edits, 4).edit(layout.type(), sent->memory());
                const Bytes expected = off.call(sent->memory());
                REQUIRE(on.call(sent->memory()) == expected);
                for (int receiver = 0; receiver < 3; ++receiver) {
                    Bytes bytes;
                    REQUIRE(on.write(bytes) == CallParametersStatus::Ok);
                    REQUIRE(bytes == expected);
                }
                const auto received = types.make_object(index);
                Callee callee(layout);
                for (std::uint64_t handle = 1; handle <= 4; ++handle) {
                    callee.package_map.bind(off.package_map.guid_of(ObjectHandle{handle}),
                                            ObjectHandle{handle});
                }
                REQUIRE(callee.receive(received->memory(), expected));
                REQUIRE(find_difference(layout.type(), sent->memory(), received->memory()).empty());
                calls += expected.size() > 1 ? 1u : 0u;
            }
        }
    }
    CHECK(calls > 20);
}

TEST_CASE("CallParameters: objects that are not here are reported, and bind when they appear",
          "[replayout][call_parameters]") {
    const TestLayout layout(build_gossip);
    const TestLayout explode_layout(build_explode);
    Caller caller(*layout);
    Gossip sent;
    sent.whisper.listener = ObjectHandle{5};
    Gossip received;
    Callee callee(*layout);
    REQUIRE(callee.receive(&received, caller.call(&sent)));
    CHECK(values_of(callee.unmapped) == std::vector<std::uint64_t>{1});
    CHECK(received.whisper.listener.is_null());
    Callee other(*layout);
    other.package_map.bind(NetGUID{1}, ObjectHandle{50});
    REQUIRE(other.receive(&received, caller.call(&sent)));
    CHECK(other.unmapped.empty());
    CHECK(received.whisper.listener == ObjectHandle{50});

    Caller bomber(*explode_layout);
    Explode blast;
    blast.victims = {ObjectHandle{7}, ObjectHandle{8}, ObjectHandle{7}, ObjectHandle{}};
    Explode taken;
    Callee victim(*explode_layout);
    victim.package_map.bind(NetGUID{2}, ObjectHandle{80});
    REQUIRE(victim.receive(&taken, bomber.call(&blast)));
    CHECK(values_of(victim.unmapped) == std::vector<std::uint64_t>{1});
    CHECK(taken.victims == std::vector<ObjectHandle>{{}, ObjectHandle{80}, {}, {}});
    const NetGUID guid{1};
    victim.package_map.bind(guid, ObjectHandle{70});
    ReceiveContext context{victim.package_map, victim.scratch};
    CHECK(rebind_references(*explode_layout, &taken, victim.state, {&guid, 1}, context) == 2);
    CHECK(taken.victims ==
          std::vector<ObjectHandle>{ObjectHandle{70}, ObjectHandle{80}, ObjectHandle{70}, {}});
}

TEST_CASE("CallParameters: what is too large is refused, and never cut",
          "[replayout][call_parameters]") {
    RepLayoutOptions options;
    options.limits.string_bytes_max = 8;
    options.limits.array_count_max = 2;
    const TestLayout layout(build_explode, options);
    Caller caller(*layout);
    Explode sent;
    sent.words = {"12345678", "x"};
    CHECK(caller.set(&sent) == CallParametersStatus::Ok);
    sent.words[0] += "9";
    CHECK(caller.set(&sent) == CallParametersStatus::ValueOverLimit);
    sent.words[0] = "\xff";
    CHECK(caller.set(&sent) == CallParametersStatus::ValueOverLimit);
    sent.words = {"a", "b", "c"};
    CHECK(caller.set(&sent) == CallParametersStatus::ValueOverLimit);
    sent.words.pop_back();
    const Bytes whole = caller.call(&sent);
    // One byte less does not do, encoded or copied.
    for (const bool is_sharing : {true, false}) {
        caller.is_sharing = is_sharing;
        for (std::size_t capacity = 0; capacity <= whole.size(); ++capacity) {
            Bytes bytes;
            const bool fits = capacity == whole.size();
            REQUIRE(caller.write(bytes, capacity) ==
                    (fits ? CallParametersStatus::Ok : CallParametersStatus::DoesNotFit));
            REQUIRE(bytes == (fits ? whole : Bytes()));
        }
    }
}

struct Roster {
    std::vector<std::map<std::uint8_t, bool>> teams;
    std::map<std::uint8_t, bool> bench;
};

TEST_CASE("CallParameters: a map with too many entries is refused, wherever it is",
          "[replayout][call_parameters]") {
    const TestLayout layout([](TypeRegistry& registry) {
        (void)register_collection<std::map<std::uint8_t, bool>, 2>(registry);
        return struct_builder<Roster>(registry, "Roster")
            .property<&Roster::teams>()
            .property<&Roster::bench>()
            .build();
    });
    Caller caller(*layout);
    Roster sent;
    sent.teams.resize(2);
    sent.teams[1] = {{1, true}, {2, false}};
    sent.bench = sent.teams[1];
    CHECK(caller.call(&sent).size() > 4);
    sent.bench[3] = true;
    CHECK(caller.set(&sent) == CallParametersStatus::ValueOverLimit);
    sent.bench.clear();
    sent.teams[1][3] = true;
    CHECK(caller.set(&sent) == CallParametersStatus::ValueOverLimit);
}

TEST_CASE("CallParameters: a call whose net_serialize fails is refused",
          "[replayout][call_parameters]") {
    const TestLayout layout(build_explode);
    for (const bool is_sharing : {true, false}) {
        Caller caller(*layout);
        caller.is_sharing = is_sharing;
        Explode sent;
        sent.radius = 4;
        sent.impact.kind = 13;
        REQUIRE(caller.set(&sent) == CallParametersStatus::Ok);
        for (int receiver = 0; receiver < 2; ++receiver) {
            Bytes bytes;
            CHECK(caller.write(bytes) == CallParametersStatus::SerializeFailed);
            CHECK(bytes.empty());
        }
        sent.impact.kind = 12;
        CHECK(caller.call(&sent).size() > 1);
    }
}

TEST_CASE("CallParameters: truncated at any bit they are refused and touch nothing",
          "[replayout][call_parameters]") {
    const TestLayout layout(build_explode);
    Caller caller(*layout);
    Explode sent;
    sent.impact = {1, 2};
    sent.words = {"one", "two"};
    sent.victims = {ObjectHandle{3}};
    const Bytes bytes = caller.call(&sent);
    const Explode fresh;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        Explode received;
        Callee callee(*layout);
        REQUIRE_FALSE(callee.receive(&received, std::span(bytes).first(size)));
        REQUIRE(find_difference(layout->type(), &received, &fresh).empty());
        REQUIRE_FALSE(callee.state.has_references());
        REQUIRE(callee.unmapped.empty());
    }
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        Bytes flipped = bytes;
        flipped[bit / 8] ^= std::byte{1} << (bit % 8);
        Explode received;
        Callee callee(*layout);
        if (!callee.receive(&received, flipped)) {
            REQUIRE(find_difference(layout->type(), &received, &fresh).empty());
        }
    }
    Bytes longer = bytes;
    longer.push_back(std::byte{0});
    Explode received;
    CHECK_FALSE(Callee(*layout).receive(&received, longer));
    CHECK(Callee(*layout).receive(&received, longer, false));
}

TEST_CASE("CallParameters: once warm, a call takes no memory", "[replayout][call_parameters]") {
    CountingResource resource;
    const TestLayout layout(build_explode);
    Caller caller(*layout, &resource);
    Explode sent;
    sent.words = {"one", "two", "a word that no string object holds by itself"};
    sent.victims = {ObjectHandle{1}, ObjectHandle{2}};
    Bytes bytes;
    std::uint64_t taken = 0;
    for (std::uint32_t call = 0; call < 40; ++call) {
        if (call == 20) {
            taken = resource.allocation_count() + heap_allocation_count();
        }
        sent.radius = static_cast<std::int32_t>(call);
        sent.impact.point = call;
        const CallParametersStatus set = caller.set(&sent);
        const CallParametersStatus written = caller.write(bytes);
        const CallParametersStatus again = caller.write(bytes);
        if (set != CallParametersStatus::Ok || written != set || again != set) {
            FAIL("a call was refused");
        }
    }
    CHECK(resource.allocation_count() + heap_allocation_count() == taken);
}

TEST_CASE("CallParameters: bytes are those of the golden vectors", "[replayout][call_parameters]") {
    const TestLayout layout(build_show_damage);
    Caller caller(*layout);
    ShowDamage sent;
    check_golden("rpc_defaults", caller.call(&sent));
    sent.amount = 7;
    sent.by = ObjectHandle{42};
    check_golden("rpc_parameters", caller.call(&sent));
    ShowDamage received;
    Callee callee(*layout);
    callee.package_map.bind(NetGUID{1}, ObjectHandle{42});
    REQUIRE(callee.receive(&received, read_golden("rpc_parameters")));
    CHECK(find_difference(layout->type(), &sent, &received).empty());
}

}  // namespace
}  // namespace replayout
