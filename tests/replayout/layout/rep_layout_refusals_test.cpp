// SPDX-License-Identifier: MIT
//
// What RepLayout::create refuses, with which sentence, and what it only remarks upon.
#include <replayout/net_archive.h>
#include <replayout/reflection/type_builder.h>
#include <replayout/rep_layout.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"

namespace replayout {
namespace {

using LayoutResult = Result<std::unique_ptr<RepLayout>>;

void check_refused(const LayoutResult& result, ErrorCode code, std::string_view sentence) {
    REQUIRE_FALSE(result);
    CHECK(to_string(result.error().code) == to_string(code));
    CHECK(result.error().message == sentence);
}

/// A class with nothing but `count` bools and as many arrays of bytes as asked for.
LayoutResult layout_of_many(std::uint32_t bool_count, std::uint32_t array_count = 0) {
    const std::uint32_t array_offset = (bool_count + 7) / 8 * 8;
    const auto vector_size = static_cast<std::uint32_t>(sizeof(std::vector<std::uint8_t>));
    const std::uint32_t size = array_offset + array_count * vector_size + 8;
    TypeRegistry registry;
    DynamicTypeBuilder builder(registry, TypeKind::Class, "Many", size, 8);
    builder.property("bools", PropertyKind::Bool, 0, bool_count);
    if (array_count > 0) {
        builder.property(array_property<std::vector<std::uint8_t>>(
            "arrays", plain_property("", PropertyKind::UInt8), array_offset, array_count));
    }
    const Result<const Type*> type = builder.build();
    REQUIRE(type);
    REQUIRE(registry.freeze());
    const std::vector<std::uint64_t> archetype(size / 8 + 1);
    RepLayoutOptions options;
    options.archetype = archetype.data();
    LayoutResult result = RepLayout::create(registry, **type, options);
    if (result) {
        for (std::size_t index = 0; index < (*result)->cmds().size(); ++index) {
            REQUIRE((*result)->cmds()[index].end_cmd.value > index);
        }
        REQUIRE((*result)->root().cmd_end.value == (*result)->cmds().size());
    }
    return result;
}

TEST_CASE("RepLayout: a registry that is not frozen is refused", "[replayout][rep_layout]") {
    TypeRegistry registry;
    const Result<const Type*> type = build_beacon(registry);
    REQUIRE(type);
    check_refused(RepLayout::create(registry, **type), ErrorCode::RegistryNotFrozen,
                  "layout of \"Beacon\": its registry is not frozen");
}

TEST_CASE("RepLayout: 65,534 properties are possible and one more is not",
          "[replayout][rep_layout]") {
    CHECK(layout_of_many(65'534));
    check_refused(layout_of_many(65'535), ErrorCode::TooManyProperties,
                  "layout of \"Many\": bools is one property too many");
}

TEST_CASE("RepLayout: 65,534 functions are possible and one more is not",
          "[replayout][rep_layout]") {
    const auto layout_of_functions = [](std::uint32_t count) {
        TypeRegistry registry;
        DynamicTypeBuilder base(registry, TypeKind::Class, "Base", 1, 1);
        base.function("LocalCall", FunctionFlags::None);  // not remote, so it does not count
        base.function("Inherited", FunctionFlags::Server);
        const Result<const Type*> base_type = base.build();
        REQUIRE(base_type);
        DynamicTypeBuilder derived(registry, TypeKind::Class, "Talker", 1, 1);
        derived.base(**base_type, 0);
        for (std::uint32_t index = 1; index < count; ++index) {
            derived.function("Call" + std::to_string(index), FunctionFlags::Client);
        }
        const Result<const Type*> type = derived.build();
        REQUIRE(type);
        REQUIRE(registry.freeze());
        const std::byte archetype{};
        RepLayoutOptions options;
        options.archetype = &archetype;
        return RepLayout::create(registry, **type, options);
    };
    const LayoutResult full = layout_of_functions(65'534);
    REQUIRE(full);
    CHECK((*full)->functions().size() == 65'534);
    check_refused(layout_of_functions(65'535), ErrorCode::TooManyFunctions,
                  "layout of \"Talker\": function \"Call65534\" is one too many");
}

TEST_CASE("RepLayout: where arrays need more commands than handles, the commands are counted",
          "[replayout][rep_layout]") {
    CHECK(layout_of_many(65'531, 1));
    const LayoutResult one_return_too_many = layout_of_many(65'532, 1);
    REQUIRE_FALSE(one_return_too_many);
    CHECK(one_return_too_many.error().code == ErrorCode::TooManyProperties);
    const LayoutResult one_element_too_many = layout_of_many(65'533, 1);
    REQUIRE_FALSE(one_element_too_many);
    CHECK(one_element_too_many.error().code == ErrorCode::TooManyProperties);
    CHECK(layout_of_many(1, 21'844));
    CHECK_FALSE(layout_of_many(1, 21'845));
}

struct Dot {
    std::uint8_t x = 0;
    std::uint8_t y = 0;
};

struct Drawing {
    std::vector<Dot> dots;
};

Result<const Type*> build_drawing(TypeRegistry& registry) {
    (void)struct_builder<Dot>(registry, "Dot").property<&Dot::x>().property<&Dot::y>().build();
    return class_builder<Drawing>(registry, "Drawing").property<&Drawing::dots>().build();
}

TEST_CASE("RepLayout: 1,048,576 leaves in an array are possible and one element more is not",
          "[replayout][rep_layout]") {
    RepLayoutOptions options;
    options.limits.array_count_max = 524'288;
    TypeRegistry fitting;
    CHECK(try_layout(fitting, build_drawing, options));
    options.limits.array_count_max = 524'289;
    TypeRegistry registry;
    check_refused(try_layout(registry, build_drawing, options), ErrorCode::TooManyProperties,
                  "layout of \"Drawing\": dots is an array whose elements have too many leaves for "
                  "array_count_max");
}

struct Ring {
    std::uint32_t count = 0;

    bool net_delta_serialize(NetDeltaInfo&) { return true; }
    bool operator==(const Ring&) const = default;
};

struct RingHolder {
    std::vector<Ring> rings;
};

struct RingPair {
    Ring first;
};

struct RingPairHolder {
    RingPair pair;
};

}  // namespace

template <>
struct StructTraitsOf<Ring> : DefaultStructTraits {
    static constexpr bool with_net_delta_serializer = true;
    static constexpr bool with_identical_via_equality = true;
};

template <>
struct StructTraitsOf<RingPair> : DefaultStructTraits {
    static constexpr bool with_atomic = true;
};

namespace {

Result<const Type*> build_ring_holder(TypeRegistry& registry) {
    (void)struct_builder<Ring>(registry, "Ring").property<&Ring::count>().build();
    return class_builder<RingHolder>(registry, "RingHolder").property<&RingHolder::rings>().build();
}

Result<const Type*> build_ring_pair_holder(TypeRegistry& registry) {
    (void)struct_builder<Ring>(registry, "Ring").property<&Ring::count>().build();
    (void)struct_builder<RingPair>(registry, "RingPair").property<&RingPair::first>().build();
    return class_builder<RingPairHolder>(registry, "RingPairHolder")
        .property<&RingPairHolder::pair>()
        .build();
}

TEST_CASE("RepLayout: a NetDeltaSerializer is refused in arrays and atomic structs",
          "[replayout][rep_layout]") {
    TypeRegistry registry;
    check_refused(
        try_layout(registry, build_ring_holder), ErrorCode::Unsupported,
        "layout of \"RingHolder\": rings[] has a NetDeltaSerializer inside of an array, where no "
        "state is kept for it");
    TypeRegistry other;
    check_refused(try_layout(other, build_ring_pair_holder), ErrorCode::Unsupported,
                  "layout of \"RingPairHolder\": pair.first has a NetDeltaSerializer inside of an "
                  "atomic struct, which it cannot be owed with");
}

struct NeedsArgument {
    explicit NeedsArgument(int first) : value(first) {}
    std::int32_t value;
};

Result<const Type*> build_needs_argument(TypeRegistry& registry) {
    return class_builder<NeedsArgument>(registry, "NeedsArgument")
        .property<&NeedsArgument::value>()
        .build();
}

TEST_CASE("RepLayout: a type that cannot be default-constructed needs an archetype",
          "[replayout][rep_layout]") {
    TypeRegistry without;
    check_refused(try_layout(without, build_needs_argument), ErrorCode::MissingOperation,
                  "layout of \"NeedsArgument\": no archetype was given, and the type cannot be "
                  "default-constructed");
    const NeedsArgument archetype(5);
    RepLayoutOptions options;
    options.archetype = &archetype;
    TypeRegistry with;
    CHECK(try_layout(with, build_needs_argument, options));
}

/// Serializes itself, and no one can make a fresh one.
struct Sealed {
    explicit Sealed(std::uint32_t first) : value(first) {}

    bool net_serialize(NetArchive& archive, PackageMap*, bool&) {
        archive.serialize(value);
        return true;
    }
    friend bool operator==(const Sealed&, const Sealed&) = default;

    std::uint32_t value;
};

struct SealedHolder {
    Sealed seal{3};
};

}  // namespace

template <>
struct StructTraitsOf<Sealed> : DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};

namespace {

Result<const Type*> build_sealed_holder(TypeRegistry& registry) {
    (void)struct_builder<Sealed>(registry, "Sealed").build();
    return class_builder<SealedHolder>(registry, "SealedHolder")
        .property<&SealedHolder::seal>()
        .build();
}

TEST_CASE("RepLayout: a NetSerializer struct that cannot be default-constructed is refused",
          "[replayout][rep_layout]") {
    TypeRegistry registry;
    check_refused(try_layout(registry, build_sealed_holder), ErrorCode::MissingOperation,
                  "layout of \"SealedHolder\": seal has a NetSerializer and cannot be "
                  "default-constructed");
}

struct Empty {
    std::uint32_t hidden = 0;

    friend bool operator==(const Empty&, const Empty&) = default;
};

struct EmptyHolder {
    Empty empty;
    std::uint32_t value = 0;
};

struct EmptyArrayHolder {
    std::vector<Empty> empties;
};

void register_empty(TypeRegistry& registry) {
    (void)struct_builder<Empty>(registry, "Empty")
        .property<&Empty::hidden>()
        .not_replicated()
        .build();
}

TEST_CASE("RepLayout: an array of nothing is refused", "[replayout][rep_layout]") {
    TypeRegistry registry;
    check_refused(try_layout(registry,
                             [](TypeRegistry& target) {
                                 register_empty(target);
                                 return class_builder<EmptyArrayHolder>(target, "Holder")
                                     .property<&EmptyArrayHolder::empties>()
                                     .build();
                             }),
                  ErrorCode::Unsupported,
                  "layout of \"Holder\": empties is an array whose element has nothing to send");
}

TEST_CASE("RepLayout: a struct of nothing is remarked upon, and the rest is sent",
          "[replayout][rep_layout]") {
    const TestLayout layout([](TypeRegistry& registry) {
        register_empty(registry);
        return class_builder<EmptyHolder>(registry, "Holder")
            .property<&EmptyHolder::empty>()
            .property<&EmptyHolder::value>()
            .build();
    });
    REQUIRE(layout->diagnostics().size() == 1);
    CHECK(layout->diagnostics()[0] ==
          "struct \"Empty\" has no replicated member, so nothing of \"empty\" is sent");
    CHECK(layout->handle_count() == 1);
    REQUIRE(layout->parents().size() == 2);
    CHECK(layout->parents()[0].handle_count == 0);
    CHECK(layout->parents()[1].first_handle == 1);
}

struct Badge {
    std::string name;
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    float weight = 0;
};
struct Drawer {
    std::vector<Badge> badges;
};

TEST_CASE("Keyed arrays: a key that is no integer of their elements is refused",
          "[replayout][rep_layout]") {
    TypeRegistry registry;
    REQUIRE(struct_builder<Badge>(registry, "Badge")
                .property<&Badge::name>()
                .property<&Badge::first>()
                .property<&Badge::weight>()
                .build());
    const auto drawer = class_builder<Drawer>(registry, "Drawer")
                            .property<&Drawer::badges>()
                            .keyed_by<&Badge::second>()
                            .build();
    REQUIRE(drawer);  // nothing is described there
    const auto build_with_key = [&](const char* name, std::size_t offset, std::uint32_t size) {
        Property badges = (*drawer)->properties()[0];
        badges.array_key.offset = static_cast<std::uint32_t>(offset);
        badges.array_key.size = size;
        return DynamicTypeBuilder(registry, TypeKind::Class, name, sizeof(Drawer), alignof(Drawer))
            .property(badges)
            .ops((*drawer)->ops())
            .build();
    };
    CHECK(build_with_key("Right", offsetof(Badge, first), 4));
    const auto in_text = build_with_key("Text", 0, 8);
    REQUIRE_FALSE(in_text);
    CHECK(in_text.error().message ==
          "type \"Text\": property \"badges\": has a key in a place where its elements have "
          "something else than an integer of that size (offset 0, 8 bytes)");
    CHECK_FALSE(build_with_key("Wide", offsetof(Badge, first), 8));
    CHECK_FALSE(build_with_key("Narrow", offsetof(Badge, first) + 2, 2));
    CHECK_FALSE(build_with_key("Float", offsetof(Badge, weight), 4));
}

TEST_CASE("RepLayout: an archetype with a value that cannot be sent is refused",
          "[replayout][rep_layout]") {
    Soldier archetype;
    archetype.title = "twelve bytes";
    RepLayoutOptions options;
    options.archetype = &archetype;
    options.limits.string_bytes_max = 12;
    TypeRegistry fitting;
    CHECK(try_layout(fitting, build_soldier, options));
    options.limits.string_bytes_max = 11;
    TypeRegistry registry;
    check_refused(try_layout(registry, build_soldier, options), ErrorCode::LimitExceeded,
                  "layout of \"Soldier\": its archetype holds a value that cannot be sent: too "
                  "large, or not UTF-8");
    archetype.title = "ab\xff";
    TypeRegistry another;
    CHECK_FALSE(try_layout(another, build_soldier, options));
}

}  // namespace
}  // namespace replayout
