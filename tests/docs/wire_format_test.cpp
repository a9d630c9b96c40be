// SPDX-License-Identifier: MIT
//
// Writes every worked example of docs/wire_format.md and compares it with the document.
#include <replayout/bit_writer.h>
#include <replayout/call_parameters.h>
#include <replayout/change_mask.h>
#include <replayout/collection.h>
#include <replayout/layout_description.h>
#include <replayout/quantise.h>
#include <replayout/reflection/reflection.h>
#include <replayout/rep_layout.h>

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "docs/documented_examples.h"
#include "docs/written_examples.h"
#include "support/checks/catch.h"
#include "support/checks/tests_dir.h"
#include "support/replication/block_sender.h"
#include "support/types/delta_types.h"
#include "support/types/test_layout.h"

using namespace replayout;
using namespace replayout::written;

namespace {

void add_numbers(WrittenExamples& examples) {
    add(examples, "two fields", [](BitWriter& writer) {
        writer.write_bits(0b101, 3);
        writer.write_bits(0x3F, 6);
    });
    for (const std::uint64_t value :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{127}, std::uint64_t{128},
          std::uint64_t{300}, std::uint64_t{0xFFFF'FFFF}, ~std::uint64_t{0}}) {
        add(examples, "packed " + std::to_string(value),
            [value](BitWriter& writer) { writer.write_packed_uint(value); });
    }
    for (const std::uint32_t order : {0u, 2u}) {
        for (const std::uint32_t value : {0u, 1u, 2u, 3u, 7u, 20u}) {
            add(examples,
                "exponential Golomb " + std::to_string(value) + ", order " + std::to_string(order),
                [=](BitWriter& writer) { writer.write_exp_golomb(value, order); });
        }
    }
}

void add_set(WrittenExamples& examples, const std::string& name, std::uint32_t universe,
             std::initializer_list<std::uint32_t> handles, EmptySet empty) {
    ChangeMask mask;
    mask.reset(universe);
    for (const std::uint32_t handle : handles) {
        mask.set(handle - 1);
    }
    add(examples, name, [&](BitWriter& writer) { write_change_mask(writer, mask, empty); });
}

void add_sets(WrittenExamples& examples) {
    add_set(examples, "set {1, 4} of 4", 4, {1, 4}, EmptySet::Impossible);
    add_set(examples, "set {1} of 3", 3, {1}, EmptySet::Impossible);
    add_set(examples, "set {1} of 4", 4, {1}, EmptySet::Impossible);
    add_set(examples, "set {2, 3, 4, 11} of 40", 40, {2, 3, 4, 11}, EmptySet::Impossible);
    add_set(examples, "empty set of 6", 6, {}, EmptySet::Possible);
}

template <typename T>
void add_quantised(WrittenExamples& examples, const std::string& name, PropertyKind kind,
                   const Quantisation& quantisation, const T& value) {
    Property property = plain_property("", kind);
    property.quantisation = quantisation;
    REQUIRE(property.size == sizeof(value));
    add(examples, "quantised " + name, [&](BitWriter& writer) {
        write_quantised(quantisation, quantise(property, &value), writer);
    });
}

void add_quantised_values(WrittenExamples& examples) {
    add_quantised(examples, "vector 1.25, 0, -0.5 in tenths", PropertyKind::Vector,
                  Quantisation::tenth(), Vector3{1.25f, 0.0f, -0.5f});
    add_quantised(examples, "vector 0, 0, 0", PropertyKind::Vector, Quantisation::whole(),
                  Vector3{});
    add_quantised(examples, "normal vector 0, 0, -1", PropertyKind::Vector, Quantisation::normal(),
                  Vector3{0.0f, 0.0f, -1.0f});
    add_quantised(examples, "angles 0, 90, 0 in 8 bits", PropertyKind::Rotator,
                  Quantisation::angles(8), Rotator{0.0f, 90.0f, 0.0f});
    add_quantised(examples, "quaternion 0, 0, 0, 1 in 6 bits", PropertyKind::Quat,
                  Quantisation::smallest_three(6), Quat{});
    add_quantised(examples, "-7 from -10 to 10", PropertyKind::Int32, Quantisation::range(-10, 10),
                  std::int32_t{-7});
    add_quantised(examples, "0.5 from 0 to 1 in steps of 0.1", PropertyKind::Float,
                  Quantisation::steps(0.0, 1.0, 0.1), 0.5f);
}

struct Box {
    std::optional<std::int32_t> code;
    std::optional<Hit> hit;
};

/// The value in a block with one of two handles, which takes three bits before it.
void add_box(WrittenExamples& examples, const std::string& name, BlockSender& sender,
             const Box& box, std::size_t bit_count) {
    REQUIRE(sender.update(&box));
    const Bytes block = sender.block(since(sender.state.version() - 1));
    add(examples, name, [&](BitWriter& writer) { writer.write_bits_from(block, 3, bit_count); });
}

void add_optional_values(WrittenExamples& examples) {
    const TestLayout layout([](TypeRegistry& registry) {
        REQUIRE(struct_builder<Hit>(registry, "Hit")
                    .property<&Hit::damage>()
                    .property<&Hit::bone>()
                    .build());
        return class_builder<Box>(registry, "Box")
            .property<&Box::code>()
            .property<&Box::hit>()
            .build();
    });
    BlockSender sender(*layout);
    Box box;
    box.code = 7;
    add_box(examples, "optional i32 of 7", sender, box, 33);
    box.code.reset();
    add_box(examples, "optional i32 that is none", sender, box, 1);
    box.hit.emplace();
    REQUIRE(sender.update(&box));
    box.hit->bone = 9;
    add_box(examples, "optional Hit whose bone became 9", sender, box, 12);
}

struct Flags {
    std::map<std::int8_t, bool> flags;
};

void add_collections(WrittenExamples& examples) {
    const TestLayout layout([](TypeRegistry& registry) {
        REQUIRE(register_collection<std::map<std::int8_t, bool>>(registry));
        return class_builder<Flags>(registry, "Flags").property<&Flags::flags>().build();
    });
    BlockSender sender(*layout);
    Flags flags;
    flags.flags = {{3, false}, {-1, true}};
    REQUIRE(sender.update(&flags));
    const Bytes block = sender.block(since(0));
    // Of one handle the set takes two bits.
    add(examples, "map of i8 to bool, -1 to true and 3 to false",
        [&](BitWriter& writer) { writer.write_bits_from(block, 2, 26); });
}

struct Entry {
    std::uint8_t id = 0;
    std::uint8_t score = 0;
};

struct Ranking {
    std::vector<Entry> entries;
};

void add_keyed_arrays(WrittenExamples& examples) {
    const TestLayout layout([](TypeRegistry& registry) {
        REQUIRE(struct_builder<Entry>(registry, "Entry")
                    .property<&Entry::id>()
                    .property<&Entry::score>()
                    .build());
        return class_builder<Ranking>(registry, "Ranking")
            .property<&Ranking::entries>()
            .keyed_by<&Entry::id>(ArrayOrder::Kept)
            .build();
    });
    BlockSender sender(*layout);
    Ranking ranking;
    ranking.entries = {{5, 7}, {3, 9}};
    REQUIRE(sender.update(&ranking));
    const Bytes block = sender.block(since(0));
    // Of one handle the set takes two bits.
    add(examples, "keyed array of u8, order kept: 5 with 7, then 3 with 9",
        [&](BitWriter& writer) { writer.write_bits_from(block, 2, 79); });
    ranking.entries[0].score = 8;
    ranking.entries[1].score = 10;
    // More removals than a part has room for.
    for (std::uint8_t id = 100; id < 220; ++id) {
        ranking.entries.push_back({id, 1});
    }
    REQUIRE(sender.update(&ranking));
    ranking.entries.resize(2);
    REQUIRE(sender.update(&ranking));
    OwedVersions position = since(1);
    position.held_version = 1;
    const Bytes part = sender.parts(position, 6).at(0).bytes;
    add(examples, "full set of 3 and 5, its part up to key 3, whose value became 10",
        [&](BitWriter& writer) { writer.write_bits_from(part, 2, 39); });
    position.restart_version = sender.state.version();
    const Bytes anew = sender.parts(position, 8).at(0).bytes;
    add(examples, "the same, of an array that began anew at version 3",
        [&](BitWriter& writer) { writer.write_bits_from(anew, 2, 55); });
}

/// By the rule of section 4 and nothing else.
Digest128 fingerprint_of_pawn() {
    Fingerprint items;
    const auto add_property = [&](const char* name, std::uint64_t kind, std::uint64_t size) {
        items.add(name);
        items.add(0);
        items.add(kind);
        items.add(size);
    };
    items.add("replayout layout 1");
    items.add("Pawn");
    items.add(1'024);
    items.add(2'048);
    add_property("is_alive", 0, 1);
    add_property("health", 3, 4);
    add_property("name", 12, 0);
    add_property("target", 14, 0);
    add_property("hits", 18, 0);
    items.add(17);  // one element: a struct
    items.add(0);
    add_property("damage", 9, 4);
    add_property("bone", 5, 1);
    items.add("end");
    items.add("return");
    items.add("return");
    return items.digest();
}

struct ShowDamage {
    std::uint8_t amount = 1;
    std::string text;
    ObjectHandle by;
};

void add_call_parameters(WrittenExamples& examples) {
    const TestLayout layout([](TypeRegistry& registry) {
        return struct_builder<ShowDamage>(registry, "ShowDamage")
            .property<&ShowDamage::amount>()
            .property<&ShowDamage::text>()
            .property<&ShowDamage::by>()
            .build();
    });
    CallParameters parameters(*layout, std::pmr::get_default_resource());
    BlockSender sender(*layout);
    const auto add_call = [&](const std::string& name, const ShowDamage& params) {
        REQUIRE(parameters.set(&params, sender.package_map, sender.counters) ==
                CallParametersStatus::Ok);
        SendContext context = sender.context();
        add(examples, name, [&](BitWriter& writer) {
            REQUIRE(parameters.write(writer, context) == CallParametersStatus::Ok);
        });
    };
    add_call("parameters that are their defaults", {});
    add_call("parameters 7, \"\", object 1", {7, "", ObjectHandle{42}});
}

void add_delta(WrittenExamples& examples) {
    const TestLayout layout(test::build_table);
    BlockSender sender(*layout);
    test::Table table;
    table.scores.values = {{1, 10}};
    REQUIRE(sender.update(&table));
    add(examples, "block of a delta, scores {1: 10}", sender.block(since(0)));
}

/// By the rules of section 4 and nothing else.
class PawnDescription {
  public:
    PawnDescription() {
        writer_.write_bits(1, 8);
        text("Pawn");
        writer_.write_packed_uint(1'024);
        writer_.write_packed_uint(2'048);
        leaf(1, chain(0, "is_alive", 0), "is_alive");
        leaf(4, chain(0, "health", 3), "health");
        leaf(8, chain(0, "name", 12), "name");
        leaf(9, chain(0, "target", 14), "target");
        const std::uint64_t hits = chain(0, "hits", 18);
        leaf(11, hits, "hits");
        const std::uint64_t hit = chain(hits, "", 17);
        leaf(4, chain(hit, "damage", 9), "damage");
        leaf(2, chain(hit, "bone", 5), "bone");
        writer_.write_bits(0, 16);
    }

    [[nodiscard]] Bytes bytes() const { return to_bytes(writer_.bytes()); }

  private:
    [[nodiscard]] static std::uint64_t chain(std::uint64_t outer, const char* name,
                                             std::uint64_t kind) {
        Fingerprint items;
        items.add(outer);
        items.add(name);
        items.add(kind);
        items.add(0);
        return items.digest().low;
    }
    void text(const std::string& text) {
        writer_.write_packed_uint(text.size());
        writer_.write_bytes(std::as_bytes(std::span(text.data(), text.size())));
    }
    void leaf(std::uint8_t form, std::uint64_t chain, const char* name) {
        writer_.write_bits(form, 8);
        writer_.write_bits(chain, 32);
        text(name);
    }

    std::array<std::byte, 256> buffer_{};
    BitWriter writer_{buffer_};
};

void add_description(WrittenExamples& examples) {
    const PawnLayout layout;
    const auto description = describe_layout(*layout, std::pmr::get_default_resource());
    const Bytes bytes(description.begin(), description.end());
    CHECK(bytes == PawnDescription().bytes());
    add(examples, "description of Pawn", bytes);
}

struct Gauge {
    Vector3 place;
    std::int16_t level = 0;
    double share = 0.0;
    std::optional<std::uint8_t> mark;
};

TEST_CASE("Wire format: the fingerprint of quantised and optional values follows its rule",
          "[docs][wire_format]") {
    const TestLayout layout([](TypeRegistry& registry) {
        return class_builder<Gauge>(registry, "Gauge")
            .property<&Gauge::place>()
            .quantised(Quantisation::tenth())
            .property<&Gauge::level>()
            .quantised(Quantisation::range(-5, 10))
            .property<&Gauge::share>()
            .quantised(Quantisation::steps(0.0, 1.0, 0.25))
            .property<&Gauge::mark>()
            .build();
    });
    Fingerprint items;
    const auto add_quantised = [&](const char* name, std::uint64_t kind, std::uint64_t form) {
        items.add(name);
        items.add(0);
        items.add(kind);
        items.add(0);
        items.add("quantised");
        items.add(form);
    };
    items.add("replayout layout 1");
    items.add("Gauge");
    items.add(1'024);
    items.add(2'048);
    add_quantised("place", 15, 1);
    items.add(10);
    add_quantised("level", 2, 5);
    items.add(0xFFFF'FFFF'FFFF'FFFBu);
    items.add(10);
    add_quantised("share", 10, 6);
    items.add(0);
    items.add(0x3FF0'0000'0000'0000u);
    items.add(4);
    items.add("mark");
    items.add(0);
    items.add(21);
    items.add(0);
    items.add(5);
    items.add(1);
    items.add("return");
    items.add("return");
    CHECK(layout->fingerprint() == items.digest());
}

void add_blocks(WrittenExamples& examples) {
    const PawnLayout layout;
    BlockSender sender(*layout);
    Pawn pawn;
    pawn.is_alive = false;
    pawn.health = -1;
    pawn.name = "Zoë";
    pawn.target = ObjectHandle{7};
    sender.update(&pawn);
    add(examples, "block of four properties", sender.block(since(0)));

    pawn.hits = {{25.0f, 3}, {0.5f, 0}};
    sender.update(&pawn);
    add(examples, "block of a new array", sender.block(since(1)));

    pawn.hits[1].bone = 9;
    sender.update(&pawn);
    add(examples, "block of one element leaf", sender.block(since(2)));

    pawn.hits.clear();
    sender.update(&pawn);
    add(examples, "block of an emptied array", sender.block(since(3)));

    const auto add_digest = [&](const std::string& name, const Digest128& digest) {
        add(examples, name, [&](BitWriter& writer) {
            writer.write_bits(digest.low, 64);
            writer.write_bits(digest.high, 64);
        });
    };
    CHECK(fingerprint_of_pawn() == (*layout).fingerprint());
    Fingerprint schema;
    schema.add("replayout schema 1");
    schema.add("Pawn");
    schema.add(fingerprint_of_pawn());
    add_digest("fingerprint of Pawn", fingerprint_of_pawn());
    add_digest("schema digest", schema.digest());
}

}  // namespace

TEST_CASE("Wire format: every example in the document is what is written", "[docs][wire_format]") {
    WrittenExamples written;
    add_numbers(written);
    add_sets(written);
    add_quantised_values(written);
    add_optional_values(written);
    add_keyed_arrays(written);
    add_collections(written);
    add_blocks(written);
    add_delta(written);
    add_description(written);
    add_call_parameters(written);
    add_packets(written);
    const DocumentedExamples documented =
        read_documented_examples(std::string(test::tests_dir()) + "/../docs/wire_format.md");
    for (const auto& [name, example] : written) {
        INFO("example " << name << ": " << to_hex(example.bytes) << "\n"
                        << to_binary(example.bytes, example.bit_count));
        const auto found = documented.find(name);
        CHECK(found != documented.end());
        if (found != documented.end()) {
            check_example(found->second, example);
        }
    }
    for (const auto& [name, example] : documented) {
        INFO("example " << name << " is written by no test");
        CHECK(written.contains(name));
    }
}
