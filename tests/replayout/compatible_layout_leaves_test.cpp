// SPDX-License-Identifier: MIT
//
// Which leaf of a sender is taken for one of ours: none that differs in anything but its place, so
// descriptions here have the checksum of ours in leaves that are not ours.
#include <replayout/change_mask.h>
#include <replayout/layout_description.h>
#include <replayout/net_archive.h>
#include <replayout/reflection/dynamic_type_builder.h>

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/block_receiver.h"
#include "support/catch.h"
#include "support/contains.h"
#include "support/forged_description.h"
#include "support/test_layout.h"

namespace replayout::test {
namespace {

using namespace leaf_form;
using namespace quantisation_form;

[[nodiscard]] Result<std::unique_ptr<RepLayout>> make_layout(const TestLayout& local,
                                                             const Bytes& description) {
    return RepLayout::create_compatible(local->registry(), &*local, description,
                                        LayoutPolicy::SkipUnknown);
}

/// Names of what is skipped, in the order of the sender.
[[nodiscard]] std::vector<std::string> skipped_names(const RepLayout& layout) {
    std::vector<std::string> names;
    for (std::uint32_t handle = 1; handle <= layout.handle_count(); ++handle) {
        const CmdIndex index = layout.cmd_of(layout.root(), RepHandle{handle});
        if (has_flag(layout.cmd(index).flags, RepLayoutCmdFlags::IsSkipped)) {
            names.emplace_back(layout.skipped_name(index));
        }
    }
    return names;
}

[[nodiscard]] std::vector<std::string> skipped_names(const TestLayout& local,
                                                     const ForgedDescription& description) {
    const auto layout = make_layout(local, description.bytes());
    INFO((layout ? "" : layout.error().message));
    REQUIRE(layout);
    return skipped_names(**layout);
}

using Names = std::vector<std::string>;

// One leaf, and what makes it another.

struct Row {
    std::uint32_t id = 0;
    std::int32_t worth = 0;
};

struct Sheet {
    std::int32_t number = 0;         // handle 1
    std::string title;               // handle 2
    std::vector<std::int32_t> list;  // handle 3
    std::vector<Row> rows;           // handle 4
    Rotator view;                    // handle 5
    std::int64_t count = 0;          // handle 6
    double level = 0.0;              // handle 7
};

[[nodiscard]] Result<const Type*> build_sheet(TypeRegistry& registry) {
    REQUIRE(
        struct_builder<Row>(registry, "Row").property<&Row::id>().property<&Row::worth>().build());
    return class_builder<Sheet>(registry, "Sheet")
        .property<&Sheet::number>()
        .property<&Sheet::title>()
        .property<&Sheet::list>()
        .property<&Sheet::rows>()
        .keyed_by<&Row::id>(ArrayOrder::Kept)
        .property<&Sheet::view>()
        .quantised(Quantisation::angles(8))
        .property<&Sheet::count>()
        .quantised(Quantisation::range(-5, 100))
        .property<&Sheet::level>()
        .quantised(Quantisation::steps(0.0, 1.0, 0.125))
        .build();
}

/// A sender's Sheet; as it stands here, the same as ours.
struct ToldSheet {
    RepLimits limits{64, 8};
    std::uint8_t number_form = bits32;
    std::string number_name = "number";
    std::uint8_t key_bytes = 4;
    std::uint8_t key_order = 1;
    std::uint8_t view_form = angles;
    std::uint64_t view_bits = 8;
    std::int64_t count_min = -5;
    std::int64_t count_max = 100;
    double level_min = 0.0;
    double level_max = 1.0;
    std::uint64_t level_steps = 8;

    [[nodiscard]] ForgedDescription describe(const TestLayout& local) const {
        const auto checksum = [&](std::uint32_t handle) { return local.cmd(handle).checksum; };
        const auto element = [&](std::uint32_t handle) {
            return local->cmd(local->cmd_of(local.element_scope(handle), RepHandle{1})).checksum;
        };
        ForgedDescription told("Sheet", limits);
        told.leaf(number_form, checksum(1), number_name).leaf(text, checksum(2), "title");
        told.leaf(dynamic_array, checksum(3), "list").leaf(bits32, element(3), "").end();
        told.leaf(keyed_array, checksum(4), "rows").number(key_bytes, 8).number(key_order, 8);
        told.leaf(bits32, element(4), "worth").end();
        told.leaf(quantised, checksum(5), "view").quantisation(view_form, {view_bits});
        told.leaf(quantised, checksum(6), "count")
            .quantisation(integer_range, {static_cast<std::uint64_t>(count_min),
                                          static_cast<std::uint64_t>(count_max)});
        told.leaf(quantised, checksum(7), "level")
            .quantisation(real_steps, {std::bit_cast<std::uint64_t>(level_min),
                                       std::bit_cast<std::uint64_t>(level_max), level_steps});
        told.end();
        return told;
    }
};

TEST_CASE("Compatible layouts: a leaf that differs from ours in one thing is skipped, no other is",
          "[replayout][compatible_layout]") {
    RepLayoutOptions options;
    options.limits = {64, 8};
    const TestLayout local(build_sheet, options);
    struct Case {
        const char* what;
        std::function<void(ToldSheet&)> change;
        Names skipped;
    };
    const Case cases[] = {
        {"nothing", [](ToldSheet&) {}, {}},
        {"form", [](ToldSheet& told) { told.number_form = bits16; }, {"number"}},
        {"name", [](ToldSheet& told) { told.number_name = "numbed"; }, {"numbed"}},
        {"shorter text", [](ToldSheet& told) { told.limits.string_bytes_max = 63; }, {}},
        {"longer text", [](ToldSheet& told) { told.limits.string_bytes_max = 65; }, {"title"}},
        {"shorter arrays", [](ToldSheet& told) { told.limits.array_count_max = 7; }, {}},
        {"longer arrays",
         [](ToldSheet& told) { told.limits.array_count_max = 9; },
         {"list", "rows"}},
        {"narrower key", [](ToldSheet& told) { told.key_bytes = 2; }, {"rows"}},
        {"wider key", [](ToldSheet& told) { told.key_bytes = 8; }, {"rows"}},
        {"no order", [](ToldSheet& told) { told.key_order = 0; }, {"rows"}},
        {"another quantisation with the same number",
         [](ToldSheet& told) { told.view_form = smallest_three; },
         {"view"}},
        {"finer angles", [](ToldSheet& told) { told.view_bits = 16; }, {"view"}},
        {"another least", [](ToldSheet& told) { told.count_min = -4; }, {"count"}},
        {"another greatest", [](ToldSheet& told) { told.count_max = 99; }, {"count"}},
        {"another least", [](ToldSheet& told) { told.level_min = -1.0; }, {"level"}},
        {"another greatest", [](ToldSheet& told) { told.level_max = 2.0; }, {"level"}},
        {"more steps", [](ToldSheet& told) { told.level_steps = 9; }, {"level"}},
    };
    for (const Case& each : cases) {
        INFO(each.what);
        ToldSheet told;
        each.change(told);
        CHECK(skipped_names(local, told.describe(local)) == each.skipped);
    }
}

// Order.

struct Blow {
    std::uint8_t bone = 0;
    std::uint8_t damage = 0;
};

struct Fighter {
    Blow last;
    std::uint8_t health = 0;
    std::uint8_t scores[2]{};
    std::vector<Blow> blows;
};

[[nodiscard]] Result<const Type*> build_fighter(TypeRegistry& registry) {
    REQUIRE(struct_builder<Blow>(registry, "Blow")
                .property<&Blow::bone>()
                .property<&Blow::damage>()
                .build());
    return class_builder<Fighter>(registry, "Fighter")
        .property<&Fighter::last>()
        .property<&Fighter::health>()
        .property<&Fighter::scores>()
        .property<&Fighter::blows>()
        .build();
}

TEST_CASE("Compatible layouts: leaves of one property that lie apart are not taken a second time",
          "[replayout][compatible_layout]") {
    const TestLayout local(build_fighter);
    const char* const names[] = {"last.bone", "last.damage", "health", "scores[0]", "scores[1]"};
    const auto skipped_of = [&](const std::vector<std::uint32_t>& handles) {
        ForgedDescription told("Fighter");
        for (const std::uint32_t handle : handles) {
            told.leaf(bits8, local.cmd(handle).checksum, names[handle - 1]);
        }
        told.end();
        return skipped_names(local, told);
    };
    CHECK(skipped_of({1, 2, 3, 4, 5}).empty());
    CHECK(skipped_of({5, 4, 3, 2, 1}).empty());
    CHECK(skipped_of({1, 3, 2, 4, 5}) == Names{"last.damage"});
    CHECK(skipped_of({4, 1, 2, 5, 3}) == Names{"scores[1]"});
    CHECK(skipped_of({5, 3, 4, 2}) == Names{"scores[0]"});
    CHECK(skipped_of({2, 4, 1, 5}) == Names{"last.bone"});  // which is in nobody's way
}

TEST_CASE("Compatible layouts: in an element, leaves are taken in whatever order",
          "[replayout][compatible_layout]") {
    const TestLayout local(build_fighter);
    const auto element = [&](std::uint32_t handle) {
        return local->cmd(local->cmd_of(local.element_scope(6), RepHandle{handle})).checksum;
    };
    ForgedDescription told("Fighter");
    told.leaf(dynamic_array, local.cmd(6).checksum, "blows");
    told.leaf(bits8, element(2), "damage").leaf(bits8, 0, "new").leaf(bits8, element(1), "bone");
    told.end().end();
    const auto layout = make_layout(local, told.bytes());
    REQUIRE(layout);
    CHECK(skipped_names(**layout).empty());
    CHECK(contains(dump(**layout), "damage shared"));
    CHECK(contains(dump(**layout), "new skipped"));
    CHECK(contains(dump(**layout), "bone shared"));
}

// Checksums that meet.

/// A class of two bytes.
[[nodiscard]] Result<const Type*> build_two(TypeRegistry& registry, std::string_view first,
                                            std::string_view second) {
    struct Two {
        std::uint8_t bytes[2]{};
    };
    return DynamicTypeBuilder(registry, TypeKind::Class, "Two", 2, 1)
        .property(first, PropertyKind::UInt8, 0)
        .property(second, PropertyKind::UInt8, 1)
        .ops(make_type_ops<Two>())
        .build();
}

TEST_CASE("Compatible layouts: of two leaves of ours with one checksum none is taken",
          "[replayout][compatible_layout]") {
    const TestLayout local(
        [](TypeRegistry& registry) { return build_two(registry, "p16817", "p130630"); });
    REQUIRE(local.cmd(1).checksum == local.cmd(2).checksum);
    for (const char* const name : {"p16817", "p130630"}) {
        ForgedDescription told("Two");
        told.leaf(bits8, local.cmd(1).checksum, name).end();
        CHECK(skipped_names(local, told) == Names{name});
    }
}

TEST_CASE("Compatible layouts: checksums side by side are told apart",
          "[replayout][compatible_layout]") {
    const TestLayout local(
        [](TypeRegistry& registry) { return build_two(registry, "p9891", "p10132"); });
    REQUIRE(local.cmd(1).checksum == local.cmd(2).checksum + 1);
    ForgedDescription told("Two");
    told.leaf(bits8, local.cmd(1).checksum, "p9891");
    told.leaf(bits8, local.cmd(2).checksum, "p10132").end();
    CHECK(skipped_names(local, told).empty());
}

// What is said of it.

[[nodiscard]] Result<const Type*> build_pair(TypeRegistry& registry) {
    return build_two(registry, "left", "right");
}

TEST_CASE("Compatible layouts: a long name of the sender is cut between two characters",
          "[replayout][compatible_layout]") {
    const TestLayout local(build_pair);
    const auto told_as = [&](const std::string& name) {
        ForgedDescription told("Two");
        told.leaf(bits8, 0, name).end();
        const auto layout = make_layout(local, told.bytes());
        REQUIRE(layout);
        const std::string begin = "layout of \"Two\": \"";
        const std::string end = "\" of the sender is not the same here, and is skipped";
        const std::string sentence((*layout)->diagnostics().front());
        INFO(sentence);
        REQUIRE(sentence.size() >= begin.size() + end.size());
        CHECK(sentence.starts_with(begin));
        CHECK(sentence.ends_with(end));
        return sentence.substr(begin.size(), sentence.size() - begin.size() - end.size());
    };
    const auto xs = [](std::size_t count) { return std::string(count, 'x'); };
    const std::string pound = "\xC2\xA3";
    const std::string euro = "\xE2\x82\xAC";
    CHECK(told_as(xs(256)) == xs(256));
    CHECK(told_as(xs(257)) == xs(256) + "...");
    CHECK(told_as(xs(255) + pound) == xs(255) + "...");
    CHECK(told_as(xs(254) + euro) == xs(254) + "...");
    CHECK(told_as(xs(256) + euro) == xs(256) + "...");
}

TEST_CASE("Compatible layouts: a name of ours that is no text at all is cut at a byte",
          "[replayout][compatible_layout]") {
    const TestLayout local([](TypeRegistry& registry) {
        return build_two(registry, "left", std::string(300, '\x80'));
    });
    ForgedDescription told("Two");
    told.leaf(bits8, local.cmd(1).checksum, "left").end();
    const auto layout = make_layout(local, told.bytes());
    REQUIRE(layout);
    REQUIRE((*layout)->diagnostics().size() == 1);
    std::string front;
    for (int i = 0; i < 256; ++i) {
        front += "\\x80";
    }
    CHECK((*layout)->diagnostics().front() ==
          "layout of \"Two\": \"" + front + "...\" is not sent like this, and keeps its default");
}

TEST_CASE("Compatible layouts: a leaf that is called as elements are shown has no name",
          "[replayout][compatible_layout]") {
    const TestLayout local(build_pair);
    ForgedDescription told("Two");
    told.leaf(bits8, 0, "[]").leaf(bits8, 0, "[0]").end();
    CHECK(skipped_names(local, told) == Names{"", "[0]"});
}

// Structs that serialize themselves.

/// Nothing is made from nothing.
struct Bound {
    explicit Bound(std::uint8_t given) : value(given) {}
    std::uint8_t value;

    bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        archive.serialize(value);
        return true;
    }
    friend bool operator==(const Bound&, const Bound&) = default;
};

/// The same, and from nothing too.
struct Free {
    std::uint8_t value = 0;

    bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        archive.serialize(value);
        return true;
    }
    friend bool operator==(const Free&, const Free&) = default;
};

}  // namespace
}  // namespace replayout::test

template <>
struct replayout::StructTraitsOf<replayout::test::Bound> : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};
template <>
struct replayout::StructTraitsOf<replayout::test::Free> : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};

namespace replayout::test {
namespace {

TEST_CASE("Compatible layouts: only a NetSerializer that can be read here may be skipped",
          "[replayout][compatible_layout]") {
    const TestLayout local([](TypeRegistry& registry) {
        REQUIRE(struct_builder<Free>(registry, "Free").build());
        REQUIRE(struct_builder<Bound>(registry, "Bound").build());
        REQUIRE(struct_builder<Blow>(registry, "Blow").property<&Blow::bone>().build());
        return build_pair(registry);
    });
    const auto code_of = [&](std::string_view struct_name) {
        ForgedDescription told("Two");
        told.leaf(net_serializer, 0, "part").write_text(struct_name).end();
        const auto layout = make_layout(local, told.bytes());
        return layout ? ErrorCode::Ok : layout.error().code;
    };
    CHECK(code_of("Free") == ErrorCode::Ok);
    CHECK(code_of("Bound") == ErrorCode::IncompatibleLayout);  // cannot be made
    CHECK(code_of("Blow") == ErrorCode::IncompatibleLayout);   // is described by its members
    CHECK(code_of("Fleet") == ErrorCode::IncompatibleLayout);  // is not known
}

/// Is told of whatever comes of its first property.
struct Bell {
    std::uint8_t rung = 0;
    std::uint8_t tone = 0;
    std::uint32_t told = 0;

    void on_rep_rung() { ++told; }
};

TEST_CASE("Compatible layouts: what is skipped is no property of ours that was received",
          "[replayout][compatible_layout]") {
    const TestLayout local([](TypeRegistry& registry) {
        return class_builder<Bell>(registry, "Bell")
            .property<&Bell::rung>()
            .on_rep<&Bell::on_rep_rung>(RepNotify::Always)
            .property<&Bell::tone>()
            .build();
    });
    ForgedDescription told("Bell");
    told.leaf(bits8, 0, "new").leaf(bits8, local.cmd(1).checksum, "rung").end();
    const auto layout = make_layout(local, told.bytes());
    REQUIRE(layout);
    for (std::uint32_t handle = 1; handle <= 2; ++handle) {
        std::array<std::byte, 8> memory{};
        BitWriter writer(memory);
        ChangeMask mask;
        mask.reset(2);
        mask.set(handle - 1);
        write_change_mask(writer, mask, EmptySet::Impossible);
        writer.write_bits(7, 8);
        writer.finish_byte();
        Bell bell;
        BlockReceiver receiver(**layout);
        REQUIRE(receiver.receive(&bell, writer.bytes()));
        CHECK(bell.told == (handle == 1 ? 0 : 1));
        CHECK(bell.rung == (handle == 1 ? 0 : 7));
    }
}

}  // namespace
}  // namespace replayout::test
