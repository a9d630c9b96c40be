// SPDX-License-Identifier: MIT
#include <replayout/net_archive.h>
#include <replayout/rep_layout.h>
#include <replayout/shadow_state.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"

namespace replayout::rep_layout_test {
namespace {

struct Hit {
    float x = 0.0f;
    float y = 0.0f;

    friend bool operator==(const Hit&, const Hit&) = default;
};

struct Pawn {
    std::int32_t health = 0;
    std::vector<Hit> hits;
};

Result<const Type*> build_pawn(TypeRegistry& registry) {
    (void)struct_builder<Hit>(registry, "Hit").property<&Hit::x>().property<&Hit::y>().build();
    return class_builder<Pawn>(registry, "Pawn")
        .property<&Pawn::health>()
        .property<&Pawn::hits>()
        .build();
}

struct CmdRow {
    RepLayoutCmdType type;
    std::uint32_t object_offset;
    std::uint32_t handle;
    std::uint32_t end_cmd;
};

void check_cmds(const RepLayout& layout, const std::vector<CmdRow>& rows) {
    REQUIRE(layout.cmds().size() == rows.size());
    for (std::size_t index = 0; index < rows.size(); ++index) {
        CAPTURE(index);
        const RepLayoutCmd& cmd = layout.cmds()[index];
        CHECK(cmd.type == rows[index].type);
        CHECK(cmd.object_offset.value == rows[index].object_offset);
        CHECK(cmd.relative_handle == rows[index].handle);
        CHECK(cmd.end_cmd.value == rows[index].end_cmd);
    }
}

TEST_CASE("RepLayout: flattens the example of its own documentation", "[replayout][rep_layout]") {
    const TestLayout layout(build_pawn);
    using enum RepLayoutCmdType;
    check_cmds(*layout, {{Bits32, offsetof(Pawn, health), 1, 1},
                         {DynamicArray, offsetof(Pawn, hits), 2, 5},
                         {Bits32, 0, 1, 3},
                         {Bits32, 4, 2, 4},
                         {Return, 0, 0, 5},
                         {Return, 0, 0, 6}});
    CHECK(layout->handle_count() == 2);
    CHECK(layout->root().cmd_end == CmdIndex{6});
    CHECK(layout->element_scope(CmdIndex{1}).handle_count == 2);
    CHECK(layout->cmds()[1].element_size == sizeof(Hit));
    CHECK(layout->type().name() == "Pawn");
    CHECK(layout->diagnostics().empty());
}

TEST_CASE("RepLayout: every kind becomes the command of its width", "[replayout][rep_layout]") {
    const TestLayout layout(build_beacon);
    using enum RepLayoutCmdType;
    const std::vector<RepLayoutCmdType> expected = {Bool,   Bits8,  Bits8,  Bits16, Bits16, Bits32,
                                                    Bits32, Bits64, Bits64, Bits32, Bits64, Bits64,
                                                    Bits8,  Bits8,  Bits8,  Vector, Vector, Quat};
    REQUIRE(layout->handle_count() == expected.size());
    for (std::uint32_t handle = 1; handle <= expected.size(); ++handle) {
        CAPTURE(handle);
        CHECK(layout.cmd(handle).type == expected[handle - 1]);
        CHECK(layout.cmd(handle).relative_handle == handle);
    }
    CHECK(layout.cmd(18).element_size == sizeof(replayout::Quat));
}

TEST_CASE("RepLayout: a C array becomes one parent and one handle an element",
          "[replayout][rep_layout]") {
    const TestLayout layout(build_beacon);
    REQUIRE(layout->parents().size() == 18);
    for (std::uint32_t element = 0; element < 3; ++element) {
        const RepParentCmd& parent = layout->parents()[12 + element];
        CHECK(parent.property->name == "stances");
        CHECK(parent.array_index == element);
        CHECK(parent.object_offset.value == offsetof(Beacon, stances) + element);
        CHECK(parent.first_handle == 13 + element);
        CHECK(parent.handle_count == 1);
    }
    CHECK(layout->parents()[16].object_offset.value == offsetof(Beacon, points) + sizeof(Vector3));
    CHECK(layout.cmd(17).object_offset.value == offsetof(Beacon, points) + sizeof(Vector3));
    CHECK(layout.cmd(17).parent_index == ParentIndex{16});
}

struct Inner {
    std::uint16_t first = 0;
    Hit hit;
    std::uint8_t last = 0;
};

struct Outer {
    std::uint8_t before = 0;
    Inner inners[2];
    std::uint8_t after = 0;
};

Result<const Type*> build_outer(TypeRegistry& registry) {
    (void)struct_builder<Hit>(registry, "Hit").property<&Hit::x>().property<&Hit::y>().build();
    (void)struct_builder<Inner>(registry, "Inner")
        .property<&Inner::first>()
        .property<&Inner::hit>()
        .property<&Inner::last>()
        .build();
    return class_builder<Outer>(registry, "Outer")
        .property<&Outer::before>()
        .property<&Outer::inners>()
        .property<&Outer::after>()
        .build();
}

TEST_CASE("RepLayout: a struct leaves no command, its members take its place at any depth",
          "[replayout][rep_layout]") {
    const TestLayout layout(build_outer);
    using enum RepLayoutCmdType;
    constexpr std::uint32_t inner = offsetof(Outer, inners);
    constexpr std::uint32_t second = inner + sizeof(Inner);
    check_cmds(*layout, {{Bits8, 0, 1, 1},
                         {Bits16, inner, 2, 2},
                         {Bits32, inner + offsetof(Inner, hit), 3, 3},
                         {Bits32, inner + offsetof(Inner, hit) + 4, 4, 4},
                         {Bits8, inner + offsetof(Inner, last), 5, 5},
                         {Bits16, second, 6, 6},
                         {Bits32, second + offsetof(Inner, hit), 7, 7},
                         {Bits32, second + offsetof(Inner, hit) + 4, 8, 8},
                         {Bits8, second + offsetof(Inner, last), 9, 9},
                         {Bits8, offsetof(Outer, after), 10, 10},
                         {Return, 0, 0, 11}});
    REQUIRE(layout->parents().size() == 4);
    CHECK(layout->parents()[1].first_handle == 2);
    CHECK(layout->parents()[1].handle_count == 4);
    CHECK(layout->parents()[2].cmd_start == CmdIndex{5});
    CHECK(layout->parents()[2].cmd_end == CmdIndex{9});
    CHECK(layout->cmds()[7].parent_index == ParentIndex{2});
    CHECK(layout->cmds()[7].property->name == "y");
}

struct Left {
    std::uint64_t unregistered = 0;
};

struct Base {
    std::uint32_t base_value = 0;
    Hit base_hit;
};

struct Derived : Left, Base {
    std::uint32_t own = 0;
    std::uint32_t hidden = 0;
};

Result<const Type*> build_derived(TypeRegistry& registry) {
    (void)struct_builder<Hit>(registry, "Hit").property<&Hit::x>().property<&Hit::y>().build();
    (void)class_builder<Base>(registry, "Base")
        .property<&Base::base_value>()
        .property<&Base::base_hit>()
        .build();
    return class_builder<Derived>(registry, "Derived")
        .base<Base>()
        .property<&Derived::hidden>()
        .not_replicated()
        .property<&Derived::own>()
        .build();
}

TEST_CASE("RepLayout: the base comes first, where it lies in the object",
          "[replayout][rep_layout]") {
    const TestLayout layout(build_derived);
    using enum RepLayoutCmdType;
    check_cmds(*layout, {{Bits32, sizeof(Left), 1, 1},
                         {Bits32, sizeof(Left) + 4, 2, 2},
                         {Bits32, sizeof(Left) + 8, 3, 3},
                         {Bits32, sizeof(Left) + 12, 4, 4},
                         {Return, 0, 0, 5}});
    REQUIRE(layout->parents().size() == 3);
    CHECK(layout->parents()[2].property->name == "own");
}

TEST_CASE("RepLayout: arrays in arrays have scopes of their own", "[replayout][rep_layout]") {
    const TestLayout layout(build_ledger);
    const RepScope& pouch = layout.element_scope(5);
    CHECK(pouch.handle_count == 5);
    const CmdIndex routes = layout->cmd_of(pouch, RepHandle{3});
    CHECK(layout->cmd(routes).type == RepLayoutCmdType::DynamicArray);
    CHECK(layout->cmd(routes).object_offset.value == offsetof(Pouch, routes));
    CHECK(layout->cmd(routes).element_size == sizeof(std::vector<std::uint16_t>));
    const RepScope& route = layout->element_scope(routes);
    CHECK(route.handle_count == 1);
    const CmdIndex stops = layout->cmd_of(route, RepHandle{1});
    CHECK(layout->cmd(stops).type == RepLayoutCmdType::DynamicArray);
    CHECK(layout->cmd(stops).object_offset.value == 0);
    const RepScope& stop = layout->element_scope(stops);
    CHECK(layout->cmd(layout->cmd_of(stop, RepHandle{1})).type == RepLayoutCmdType::Bits16);
    // The command behind an array's end is the next member of the scope around it.
    CHECK(layout->cmd(routes).end_cmd == layout->cmd_of(pouch, RepHandle{4}));
    // And all of it belongs to one parent.
    CHECK(layout->cmd(stops).parent_index == ParentIndex{4});
}

TEST_CASE("RepLayout: every jump goes forward, and every handle finds its command",
          "[replayout][rep_layout]") {
    for (const BuildType build : {build_pawn, build_outer, build_derived, build_soldier,
                                  build_beacon, build_depot, build_ledger}) {
        const TestLayout layout(build);
        CAPTURE(layout->type().name());
        for (std::size_t index = 0; index < layout->cmds().size(); ++index) {
            CHECK(layout->cmds()[index].end_cmd.value > index);
            CHECK((layout->cmds()[index].property == nullptr) ==
                  (layout->cmds()[index].type == RepLayoutCmdType::Return));
        }
        for (std::uint32_t handle = 1; handle <= layout->handle_count(); ++handle) {
            CHECK(layout.cmd(handle).relative_handle == handle);
        }
        std::uint32_t handle = 1;
        for (const RepParentCmd& parent : layout->parents()) {
            CHECK(parent.first_handle == handle);
            handle += parent.handle_count;
        }
        CHECK(handle == layout->handle_count() + 1);
        CHECK(layout->cmds().back().type == RepLayoutCmdType::Return);
    }
}

TEST_CASE("RepLayout: plain values are packed in the shadow, the others aligned, none overlap",
          "[replayout][rep_layout]") {
    const TestLayout plain(build_beacon);
    CHECK(plain->root().shadow_size == 1 + 2 + 4 + 8 + 16 + 4 + 8 + 8 + 3 + 24 + 16);
    CHECK(plain->root().shadow_alignment == 1);
    CHECK(plain.cmd(2).shadow_offset.value == 1);
    CHECK(plain.cmd(4).shadow_offset.value == 3);

    const TestLayout mixed(build_soldier);
    std::uint32_t end = 0;
    for (std::uint32_t handle = 1; handle <= mixed->handle_count(); ++handle) {
        const RepLayoutCmd& cmd = mixed.cmd(handle);
        CHECK(cmd.shadow_offset.value >= end);
        if (cmd.type == RepLayoutCmdType::DynamicArray) {
            CHECK(cmd.shadow_offset.value % alignof(ShadowArray) == 0);
            end = cmd.shadow_offset.value + static_cast<std::uint32_t>(sizeof(ShadowArray));
        } else if (is_plain(cmd.type)) {
            end = cmd.shadow_offset.value + cmd.element_size;
        }
    }
    CHECK(mixed->root().shadow_size % mixed->root().shadow_alignment == 0);
}

struct Gaps {
    std::uint32_t first = 0;
    std::uint16_t second = 0;
    std::uint16_t third = 0;
    std::uint8_t fourth = 0;
    // Three bytes of padding.
    std::uint32_t fifth = 0;
    std::string text;
    std::uint32_t sixth = 0;
};

Result<const Type*> build_gaps(TypeRegistry& registry) {
    return class_builder<Gaps>(registry, "Gaps")
        .property<&Gaps::first>()
        .property<&Gaps::second>()
        .property<&Gaps::third>()
        .property<&Gaps::fourth>()
        .property<&Gaps::fifth>()
        .property<&Gaps::text>()
        .property<&Gaps::sixth>()
        .build();
}

TEST_CASE("RepLayout: adjacent plain members are compared as one run, up to padding or a string",
          "[replayout][rep_layout]") {
    const TestLayout layout(build_gaps);
    REQUIRE(layout->runs().size() == 4);
    CHECK(layout->runs()[0].size == 9);
    CHECK(layout->runs()[0].cmd_end == CmdIndex{4});
    CHECK(layout->runs()[1].size == 4);
    CHECK(layout->runs()[1].cmd_start == CmdIndex{4});
    CHECK(layout->runs()[2].size == 0);
    CHECK(layout->runs()[3].size == 4);
    CHECK_FALSE(layout->root().is_contiguous);
}

TEST_CASE("RepLayout: an element without padding is known to be one run of bytes",
          "[replayout][rep_layout]") {
    const TestLayout layout(build_pawn);
    CHECK(layout.element_scope(2).is_contiguous);
    CHECK(layout.element_scope(2).shadow_size == sizeof(Hit));
    const TestLayout ledger(build_ledger);
    CHECK(ledger.element_scope(1).is_contiguous);
    CHECK_FALSE(ledger.element_scope(3).is_contiguous);
}

TEST_CASE("RepLayout: flags say what is shared and what may refer to objects",
          "[replayout][rep_layout]") {
    const TestLayout layout(build_soldier);
    const auto flags_of = [&layout](std::string_view name) {
        for (const RepParentCmd& parent : layout->parents()) {
            if (parent.property->name == name) {
                return layout->cmd(parent.cmd_start).flags;
            }
        }
        FAIL("no property " << name);
        return RepLayoutCmdFlags::None;
    };
    using enum RepLayoutCmdFlags;
    CHECK(flags_of("health") == IsSharedSerialization);
    CHECK(flags_of("title") == IsSharedSerialization);
    CHECK(flags_of("tag") == IsSharedSerialization);
    CHECK(flags_of("aim") == IsSharedSerialization);
    CHECK(flags_of("secret") == None);
    CHECK(flags_of("target") == (IsSharedSerialization | HasObjectReferences));
    CHECK(flags_of("words") == IsSharedSerialization);
    CHECK(flags_of("wounds") == (IsSharedSerialization | HasObjectReferences));
    CHECK(flags_of("pouches") == (IsSharedSerialization | HasObjectReferences));
    CHECK_FALSE(layout->is_fully_shared());
    CHECK(TestLayout(build_beacon)->is_fully_shared());
    CHECK(TestLayout(build_ledger)->is_fully_shared());
}

struct SecretHolder {
    std::vector<Secret> secrets;
};

Result<const Type*> build_secret_holder(TypeRegistry& registry) {
    register_parts(registry);
    return class_builder<SecretHolder>(registry, "SecretHolder")
        .property<&SecretHolder::secrets>()
        .build();
}

TEST_CASE("RepLayout: an array is shared only when all of its leaves may be",
          "[replayout][rep_layout]") {
    const TestLayout layout(build_secret_holder);
    CHECK(layout.cmd(1).flags == RepLayoutCmdFlags::None);
    CHECK_FALSE(layout->is_fully_shared());
}

struct Hidden {
    int hidden = 0;
};

Result<const Type*> build_hidden(TypeRegistry& registry) {
    return class_builder<Hidden>(registry, "Nothing")
        .property<&Hidden::hidden>()
        .not_replicated()
        .build();
}

TEST_CASE("RepLayout: a type without replicated properties has a layout",
          "[replayout][rep_layout]") {
    const TestLayout layout(build_hidden);
    CHECK(layout->handle_count() == 0);
    CHECK(layout->parents().empty());
    CHECK(layout->cmds().size() == 1);
    CHECK(layout->runs().empty());
}

TEST_CASE("RepLayout: the archetype is a default object, or the one that was given",
          "[replayout][rep_layout]") {
    const TestLayout layout(build_soldier);
    const auto health_of = [](const TestLayout& from) {
        for (const RepParentCmd& parent : from->parents()) {
            if (parent.property->name == "health") {
                const RepLayoutCmd& cmd = from->cmd(parent.cmd_start);
                std::int32_t value = 0;  // packed, so not aligned
                std::memcpy(&value, (from->archetype().buffer() + cmd.shadow_offset).data(),
                            sizeof(value));
                return value;
            }
        }
        return -1;
    };
    CHECK(health_of(layout) == 100);
    Soldier veteran;
    veteran.health = 250;
    RepLayoutOptions options;
    options.archetype = &veteran;
    CHECK(health_of(TestLayout(build_soldier, options)) == 250);
}

TEST_CASE("RepLayout: the archetype lives in the resource that was given, and is given back",
          "[replayout][rep_layout]") {
    CountingResource resource;
    {
        Soldier veteran;
        veteran.title = "a title too long to be kept inside of a string object";
        veteran.words.resize(3, veteran.title);
        veteran.pouches.resize(2);
        RepLayoutOptions options;
        options.archetype = &veteran;
        const TestLayout layout(build_soldier, options, &resource);
        CHECK(resource.blocks_in_use() > 5);
    }
    CHECK(resource.blocks_in_use() == 0);
}

TEST_CASE("RepLayout: keeps the limits it was made with", "[replayout][rep_layout]") {
    RepLayoutOptions options;
    options.limits = {10, 20};
    const TestLayout layout(build_pawn, options);
    CHECK(layout->limits().string_bytes_max == 10);
    CHECK(layout->limits().array_count_max == 20);
}

}  // namespace
}  // namespace replayout::rep_layout_test
