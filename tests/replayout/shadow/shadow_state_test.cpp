// SPDX-License-Identifier: MIT
#include <replayout/shadow_state.h>

#include <algorithm>
#include <cstdint>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"
#include "support/replication/block_sender.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"

namespace replayout {
namespace {

ShadowArray& array_at(const TestLayout& layout, ShadowState& shadow, std::uint32_t handle) {
    return shadow_value<ShadowArray>(shadow.buffer() + layout.cmd(handle).shadow_offset);
}

void resize(const TestLayout& layout, ShadowState& shadow, std::uint32_t handle,
            std::uint32_t count) {
    shadow.memory().resize_array(layout.cmd(handle), layout.element_scope(handle),
                                 array_at(layout, shadow, handle), count);
}

PmrString& line_at(const TestLayout& layout, ShadowState& shadow, std::uint32_t index) {
    ShadowArray& lines = array_at(layout, shadow, lines_handle);
    REQUIRE(index < lines.count);
    const std::uint32_t size = layout.element_scope(lines_handle).shadow_size;
    return shadow_value<PmrString>(ShadowBuffer(lines.elements + std::size_t{index} * size));
}

constexpr const char* long_text = "a line that does not fit into the string object itself";

TEST_CASE("ShadowState: begins with zero, empty and null", "[replayout][shadow_state]") {
    const TestLayout layout(build_soldier);
    ShadowState shadow(*layout, std::pmr::get_default_resource());
    for (std::uint32_t handle = 1; handle <= layout->handle_count(); ++handle) {
        const RepLayoutCmd& cmd = layout.cmd(handle);
        const ShadowBuffer leaf = shadow.buffer() + cmd.shadow_offset;
        CAPTURE(cmd.property->name);
        switch (cmd.type) {
            case RepLayoutCmdType::String:
                CHECK(shadow_value<PmrString>(leaf).empty());
                break;
            case RepLayoutCmdType::Object:
                CHECK(shadow_value<ShadowReference>(leaf).object.is_null());
                CHECK(shadow_value<ShadowReference>(leaf).guid.is_null());
                break;
            case RepLayoutCmdType::DynamicArray:
                CHECK(shadow_value<ShadowArray>(leaf).count == 0);
                break;
            case RepLayoutCmdType::NetSerializeStruct:
                break;
            default:
                CHECK(std::all_of(leaf.data(), leaf.data() + cmd.element_size,
                                  [](std::byte byte) { return byte == std::byte{0}; }));
        }
    }
}

TEST_CASE("ShadowState: gives everything back, arrays in arrays included",
          "[replayout][shadow_state]") {
    const TestLayout layout(build_ledger);
    CountingResource resource;
    {
        Ledger ledger;
        ledger.lines.assign(5, long_text);
        ledger.wounds.resize(4);
        ledger.cubes = {{{1, 2}, {3}}, {}, {{4, 5, 6}}};
        ledger.pouches.resize(3);
        ledger.pouches[1].label = long_text;
        ledger.pouches[1].routes = {{1}, {2, 3}};
        BlockSender sender(*layout, &resource);
        CHECK(sender.update(&ledger));
        CHECK(resource.blocks_in_use() > 10);
        ledger.pouches.resize(1);
        ledger.cubes.clear();
        CHECK(sender.update(&ledger));
    }
    CHECK(resource.blocks_in_use() == 0);
    CHECK(resource.bytes_in_use() == 0);
}

TEST_CASE("ShadowState: elements that an array grows by are fresh and of version 0",
          "[replayout][shadow_state]") {
    const TestLayout layout(build_ledger);
    ShadowState shadow(*layout, std::pmr::get_default_resource());
    resize(layout, shadow, lines_handle, 2);
    ShadowArray& lines = array_at(layout, shadow, lines_handle);
    CHECK(lines.count == 2);
    CHECK(line_at(layout, shadow, 1).empty());
    line_at(layout, shadow, 1) = long_text;
    lines.versions[1] = 7;
    lines.count_version = 6;

    resize(layout, shadow, lines_handle, 1);
    CHECK(lines.count == 1);
    resize(layout, shadow, lines_handle, 2);
    CHECK(line_at(layout, shadow, 1).empty());
    CHECK(lines.versions[1] == 0);
    CHECK(lines.count_version == 6);
}

TEST_CASE("ShadowState: elements keep values and versions while an array grows",
          "[replayout][shadow_state]") {
    const TestLayout layout(build_ledger);
    ShadowState shadow(*layout, std::pmr::get_default_resource());
    for (std::uint32_t count = 1; count <= 40; ++count) {
        resize(layout, shadow, lines_handle, count);
        line_at(layout, shadow, count - 1) = std::string(long_text) + std::to_string(count);
        array_at(layout, shadow, lines_handle).versions[count - 1] = count;
        for (std::uint32_t index = 0; index < count; ++index) {
            REQUIRE(line_at(layout, shadow, index) ==
                    (long_text + std::to_string(index + 1)).c_str());
            REQUIRE(array_at(layout, shadow, lines_handle).versions[index] == index + 1);
        }
    }
}

TEST_CASE("ShadowState: an array that shrinks keeps its memory for the next time",
          "[replayout][shadow_state]") {
    const TestLayout layout(build_ledger);
    CountingResource resource;
    ShadowState shadow(*layout, &resource);
    resize(layout, shadow, bytes_handle, 100);
    const std::uint64_t before = resource.allocation_count();
    resize(layout, shadow, bytes_handle, 0);
    resize(layout, shadow, bytes_handle, 100);
    CHECK(resource.allocation_count() == before);
}

TEST_CASE("ShadowState: a copy has the values, down to the innermost array",
          "[replayout][shadow_state]") {
    const TestLayout layout(build_ledger);
    BlockSender original(*layout);
    Ledger ledger;
    ledger.bytes = {1, 2, 3};
    ledger.lines = {"first", long_text};
    ledger.pouches.resize(2);
    ledger.pouches[1].label = long_text;
    ledger.pouches[1].rounds = {9};
    ledger.pouches[1].aim.range = 77;
    CHECK(original.update(&ledger));

    ShadowState copy(*layout, std::pmr::get_default_resource());
    copy.memory().copy(layout->root(), copy.buffer(), original.state.shadow());
    CHECK(array_at(layout, copy, bytes_handle).count == 3);
    CHECK(array_at(layout, copy, bytes_handle).elements[2] == std::byte{3});
    CHECK(line_at(layout, copy, 1) == long_text);
    const ShadowArray& pouches = array_at(layout, copy, pouches_handle);
    REQUIRE(pouches.count == 2);
    const RepScope& pouch = layout.element_scope(pouches_handle);
    const ConstShadowBuffer second(pouches.elements + pouch.shadow_size);
    const RepLayoutCmd& label = layout->cmd(layout->cmd_of(pouch, RepHandle{1}));
    const RepLayoutCmd& rounds = layout->cmd(layout->cmd_of(pouch, RepHandle{2}));
    const RepLayoutCmd& aim = layout->cmd(layout->cmd_of(pouch, RepHandle{5}));
    CHECK(shadow_value<PmrString>(second + label.shadow_offset) == long_text);
    CHECK(shadow_value<ShadowArray>(second + rounds.shadow_offset).count == 1);
    CHECK(shadow_value<Aim>(second + aim.shadow_offset).range == 77);
}

TEST_CASE("ShadowState: a copy begins to count versions anew, also over a used one",
          "[replayout][shadow_state]") {
    const TestLayout layout(build_ledger);
    const ShadowState source(*layout, std::pmr::get_default_resource());
    ShadowState filled(*layout, std::pmr::get_default_resource());
    resize(layout, filled, bytes_handle, 3);
    ShadowState target(*layout, std::pmr::get_default_resource());
    resize(layout, target, bytes_handle, 5);
    ShadowArray& bytes = array_at(layout, target, bytes_handle);
    std::fill_n(bytes.versions, 5, Version{9});
    bytes.count_version = 8;

    target.memory().copy(layout->root(), target.buffer(), filled.buffer());
    REQUIRE(bytes.count == 3);
    CHECK(std::all_of(bytes.versions, bytes.versions + 3,
                      [](Version version) { return version == 0; }));
    CHECK(bytes.count_version == 0);
    target.memory().copy(layout->root(), target.buffer(), source.buffer());
    CHECK(bytes.count == 0);
}

struct alignas(64) Wide {
    std::uint64_t value = 3;

    bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        archive.serialize(value);
        return true;
    }
    friend bool operator==(const Wide&, const Wide&) = default;
};

struct WideHolder {
    std::uint8_t before = 0;
    Wide wide;
    std::vector<Wide> wides;
};

}  // namespace

template <>
struct StructTraitsOf<Wide> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};

namespace {

TEST_CASE("ShadowState: values are aligned as their type wants it", "[replayout][shadow_state]") {
    const TestLayout layout([](TypeRegistry& registry) {
        (void)struct_builder<Wide>(registry, "Wide").build();
        return class_builder<WideHolder>(registry, "WideHolder")
            .property<&WideHolder::before>()
            .property<&WideHolder::wide>()
            .property<&WideHolder::wides>()
            .build();
    });
    CountingResource resource;
    {
        ShadowState shadow(*layout, &resource);
        const auto is_aligned = [](const std::byte* memory) {
            return reinterpret_cast<std::uintptr_t>(memory) % 64 == 0;
        };
        const ShadowBuffer wide = shadow.buffer() + layout.cmd(2).shadow_offset;
        CHECK(is_aligned(wide.data()));
        CHECK(shadow_value<Wide>(wide).value == 3);
        resize(layout, shadow, 3, 5);
        CHECK(is_aligned(array_at(layout, shadow, 3).elements));
        CHECK(layout.element_scope(3).shadow_size == sizeof(Wide));
    }
    CHECK(resource.blocks_in_use() == 0);
}

}  // namespace
}  // namespace replayout
