// SPDX-License-Identifier: MIT
//
// Pairs of layouts that differ in one respect: the leaf that it concerns is skipped, and no other.
#include <replayout/layout_description.h>
#include <replayout/reflection/dynamic_type_builder.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "support/delta_types.h"
#include "support/test_layout.h"
#include "support/test_types.h"
#include "support/told_layout.h"

namespace replayout::test {
namespace {

using Names = std::vector<std::string>;

struct Item {
    std::uint32_t id = 0;
    std::int32_t count = 0;
};

/// A leaf of each form in which two layouts can differ.
struct Kit {
    std::int32_t number = 0;
    std::string text;
    std::vector<std::int32_t> list;
    std::vector<Item> items;
    std::array<std::int32_t, 2> pair{};
    Item whole;
    Aim aim;
    Scores scores;
    Vector3 place;
    Rotator turn;
    std::int32_t range = 0;
    double steps = 0.0;
};

constexpr RepLimits kit_limits{16, 8};

[[nodiscard]] Result<const Type*> build_kit(TypeRegistry& registry) {
    register_parts(registry);
    REQUIRE(struct_builder<Item>(registry, "Item")
                .property<&Item::id>()
                .property<&Item::count>()
                .build());
    REQUIRE(struct_builder<Scores>(registry, "Scores").build());
    return class_builder<Kit>(registry, "Kit")
        .property<&Kit::number>()
        .property<&Kit::text>()
        .property<&Kit::list>()
        .property<&Kit::items>()
        .keyed_by<&Item::id>(ArrayOrder::Free)
        .property<&Kit::pair>()
        .property<&Kit::whole>()
        .property<&Kit::aim>()
        .property<&Kit::scores>()
        .property<&Kit::place>()
        .quantised(Quantisation::tenth())
        .property<&Kit::turn>()
        .quantised(Quantisation::angles(8))
        .property<&Kit::range>()
        .quantised(Quantisation::range(-1, 7))
        .property<&Kit::steps>()
        .quantised(Quantisation::steps(0.0, 1.0, 0.1))
        .build();
}

[[nodiscard]] TestLayout make_kit() {
    RepLayoutOptions options;
    options.limits = kit_limits;
    return TestLayout(build_kit, options);
}

/// The leaves of the class that a receiver skips, as their sender calls them.
[[nodiscard]] Names skipped(TestLayout& local, const ToldLayout& told) {
    const auto layout = RepLayout::create_compatible(local.registry(), &*local, told.bytes(),
                                                     LayoutPolicy::SkipUnknown);
    INFO((layout ? "" : layout.error().message));
    REQUIRE(layout);
    Names names;
    for (std::uint32_t handle = 1; handle <= (*layout)->handle_count(); ++handle) {
        const CmdIndex index = (*layout)->cmd_of((*layout)->root(), RepHandle{handle});
        if (has_flag((*layout)->cmd(index).flags, RepLayoutCmdFlags::IsSkipped)) {
            names.emplace_back((*layout)->skipped_name(index));
        }
    }
    return names;
}

TEST_CASE("Compatible layouts: a leaf that differs in one respect is skipped, and no other",
          "[replayout][compatible_layout]") {
    TestLayout local = make_kit();
    const ToldLayout original = tell(*local);
    CHECK(skipped(local, original).empty());
    const struct {
        const char* what;
        std::function<void(ToldLayout&)> edit;
        Names skipped;
    } rows[] = {
        {"a checksum, one more", [](auto& told) { ++told.leaf("number").checksum; }, {"number"}},
        {"a checksum, one less", [](auto& told) { --told.leaf("number").checksum; }, {"number"}},
        {"a name", [](auto& told) { told.leaf("number").name = "numbers"; }, {"numbers"}},
        {"a form", [](auto& told) { told.leaf("number").form = leaf_form::bits8; }, {"number"}},
        {"texts may be shorter", [](auto& told) { --told.string_bytes_max; }, {}},
        {"texts may be longer", [](auto& told) { ++told.string_bytes_max; }, {"text"}},
        {"arrays may be shorter", [](auto& told) { --told.array_count_max; }, {}},
        {"arrays may be longer", [](auto& told) { ++told.array_count_max; }, {"list", "items"}},
        {"a smaller key", [](auto& told) { told.leaf("items").key_size = 2; }, {"items"}},
        {"a larger key", [](auto& told) { told.leaf("items").key_size = 8; }, {"items"}},
        {"order is kept", [](auto& told) { told.leaf("items").key_order = 1; }, {"items"}},
        {"a struct that serialises itself",
         [](auto& told) { told.leaf("aim").struct_name = "Secret"; },
         {"aim"}},
        {"a struct of differences",
         [](auto& told) { told.leaf("scores").struct_name = "Points"; },
         {"scores"}},
        {"steps of a vector", [](auto& told) { told.leaf("place").numbers = {100}; }, {"place"}},
        {"bits of angles", [](auto& told) { told.leaf("turn").numbers = {16}; }, {"turn"}},
        {"a quaternion of as many bits as angles",
         [](auto& told) { told.leaf("turn").quantisation = 4; },
         {"turn"}},
        {"a least value", [](auto& told) { --told.leaf("range").numbers[0]; }, {"range"}},
        {"a greatest value", [](auto& told) { ++told.leaf("range").numbers[1]; }, {"range"}},
        {"a count of steps", [](auto& told) { ++told.leaf("steps").numbers[2]; }, {"steps"}},
    };
    for (const auto& row : rows) {
        INFO(row.what);
        ToldLayout told = original;
        row.edit(told);
        CHECK(skipped(local, told) == row.skipped);
    }
}

/// Moves a leaf that is no array to the end of the class.
void move_to_end(ToldLayout& told, const std::string& name) {
    const ToldLeaf moved = told.leaf(name);
    const auto place = &told.leaf(name) - told.leaves.data();
    told.leaves.erase(told.leaves.begin() + place);
    told.leaves.insert(told.leaves.end() - 1, moved);
}

TEST_CASE("Compatible layouts: of a property whose leaves do not stand in one row the first do",
          "[replayout][compatible_layout]") {
    TestLayout local = make_kit();
    const struct {
        std::string moved;
        Names skipped;
    } rows[] = {{"number", {}},
                {"whole.id", {"whole.id"}},
                {"whole.count", {"whole.count"}},
                {"pair[0]", {"pair[0]"}},
                {"pair[1]", {"pair[1]"}}};
    for (const auto& row : rows) {
        INFO(row.moved);
        ToldLayout told = tell(*local);
        move_to_end(told, row.moved);
        CHECK(skipped(local, told) == row.skipped);
    }
    // Whole properties in another order are taken, and so are leaves in another order in theirs.
    ToldLayout told = tell(*local);
    for (const char* name : {"whole.count", "whole.id", "pair[1]", "pair[0]", "number"}) {
        move_to_end(told, name);
    }
    CHECK(skipped(local, told).empty());
}

/// A class of two integers with these names.
class TwoNumbers {
  public:
    TwoNumbers(const char* first, const char* second) {
        const Result<const Type*> type = DynamicTypeBuilder(registry_, TypeKind::Class, "Two", 8, 4)
                                             .property(first, PropertyKind::Int32, 0)
                                             .property(second, PropertyKind::Int32, 4)
                                             .build();
        REQUIRE(type);
        REQUIRE(registry_.freeze());
        const std::int32_t archetype[2]{};
        RepLayoutOptions options;
        options.archetype = archetype;
        auto layout = RepLayout::create(registry_, **type, options);
        REQUIRE(layout);
        layout_ = std::move(*layout);
    }

    [[nodiscard]] std::uint32_t checksum(std::uint16_t index) const {
        return layout_->cmd(CmdIndex{index}).checksum;
    }
    [[nodiscard]] ToldLayout told() const { return tell(*layout_); }
    /// What is told of differences from a sender that says this.
    [[nodiscard]] Names differences(const ToldLayout& told) const {
        const auto layout = RepLayout::create_compatible(registry_, layout_.get(), told.bytes(),
                                                         LayoutPolicy::SkipUnknown);
        REQUIRE(layout);
        return {(*layout)->diagnostics().begin(), (*layout)->diagnostics().end()};
    }

  private:
    TypeRegistry registry_;
    std::unique_ptr<RepLayout> layout_;
};

// The names in the next two tests were searched for.

TEST_CASE("Compatible layouts: leaves are found whose checksums are neighbours",
          "[replayout][compatible_layout]") {
    const TwoNumbers ascending("value_9050", "value_216645");
    REQUIRE(ascending.checksum(1) == ascending.checksum(0) + 1);
    CHECK(ascending.differences(ascending.told()).empty());
    const TwoNumbers descending("value_216645", "value_9050");
    CHECK(descending.differences(descending.told()).empty());
}

TEST_CASE("Compatible layouts: leaves of this side that cannot be told apart are not taken",
          "[replayout][compatible_layout]") {
    const TwoNumbers local("value_17373", "value_113963");
    REQUIRE(local.checksum(0) == local.checksum(1));
    ToldLayout told = local.told();
    told.leaves.erase(told.leaves.begin() + 1);
    CHECK(
        local.differences(told) ==
        Names{"layout of \"Two\": \"value_17373\" of the sender is not the same here, and is "
              "skipped",
              "layout of \"Two\": \"value_17373\" is not sent like this, and keeps its default",
              "layout of \"Two\": \"value_113963\" is not sent like this, and keeps its default"});
}

TEST_CASE("Compatible layouts: of a long name 256 bytes are told, in whole characters",
          "[replayout][compatible_layout]") {
    const TwoNumbers local("first", "second");
    const auto told_name = [&](const std::string& name) {
        ToldLayout told = local.told();
        told.leaves[0].name = name;
        const std::string sentence = local.differences(told).front();
        const std::string head = "layout of \"Two\": \"";
        const std::string tail = "\" of the sender is not the same here, and is skipped";
        INFO(sentence);
        REQUIRE(sentence.starts_with(head));
        REQUIRE(sentence.ends_with(tail));
        return sentence.substr(head.size(), sentence.size() - head.size() - tail.size());
    };
    const std::string longest(256, 'x');
    CHECK(told_name(longest) == longest);
    CHECK(told_name(longest + "x") == longest + "...");
    // A character of four bytes that ends with the 256th byte, and later ones.
    const std::string face = "\xf0\x9f\x98\x80";
    const std::string printed_face = "\\xf0\\x9f\\x98\\x80";
    const std::string before(252, 'x');
    CHECK(told_name(before + face) == before + printed_face);
    CHECK(told_name(before + face + "x") == before + printed_face + "...");
    for (std::size_t size = 253; size <= 256; ++size) {
        const std::string shorter(size, 'x');
        CHECK(told_name(shorter + face) == shorter + "...");
    }
}

/// A struct that serialises itself, and cannot be made from nothing.
struct Sealed {
    explicit Sealed(int sealed_value) : value(sealed_value) {}
    int value;

    bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        archive.serialize(value);
        return true;
    }
    friend bool operator==(const Sealed&, const Sealed&) = default;
};

}  // namespace
}  // namespace replayout::test

template <>
struct replayout::StructTraitsOf<replayout::test::Sealed> : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};

namespace replayout::test {
namespace {

TEST_CASE("Compatible layouts: what is told to serialise itself must do so here, and be made here",
          "[replayout][compatible_layout]") {
    TypeRegistry registry;
    register_parts(registry);
    REQUIRE(struct_builder<Sealed>(registry, "Sealed").build());
    REQUIRE(registry.freeze());
    ToldLayout told;
    told.leaves.resize(2);
    told.leaves[0].form = leaf_form::net_serializer;
    told.leaves[0].name = "part";
    const auto refusal = [&](const std::string& struct_name) {
        told.leaves[0].struct_name = struct_name;
        const auto layout = RepLayout::create_compatible(registry, nullptr, told.bytes(),
                                                         LayoutPolicy::SkipUnknown);
        if (layout) {
            return std::string();
        }
        CHECK(layout.error().code == ErrorCode::IncompatibleLayout);
        return layout.error().message;
    };
    CHECK(refusal("Aim") == "");
    for (const char* struct_name : {"Wound", "Sealed", "Nothing"}) {
        CHECK(refusal(struct_name) ==
              "layout of \"T\": \"part\" of the sender is a \"" + std::string(struct_name) +
                  "\", a NetSerializer that is not known here, so nothing behind it can be read");
    }
}

}  // namespace
}  // namespace replayout::test
