// SPDX-License-Identifier: MIT
#include "support/checks/catch.h"

#include <replayout/reflection/kind_of.h>
#include <replayout/reflection/memory.h>
#include <replayout/reflection/type_builder.h>

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <type_traits>
#include <vector>

using namespace replayout;

namespace {

enum class SmallEnum : std::uint8_t { Red, Blue };
enum Plain : std::int64_t { One };
struct Empty {};

/// Types as an engine has them.
struct EngineVector {
    float xyz[3];
};

struct EngineEntity {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
};

struct EngineString {
    std::string text;
};

template <typename T>
using EngineArray = boost::container::small_vector<T, 4>;

struct EngineObject {
    EngineVector place;
    EngineEntity target;
    EngineString title;
    EngineArray<std::int32_t> scores;
};

template <typename T, PropertyKind Kind>
constexpr bool is_kind = KindOf<T>::kind == Kind;

}  // namespace

template <>
struct replayout::KindOf<EngineVector> {
    static constexpr PropertyKind kind = PropertyKind::Vector;
};

template <>
struct replayout::KindOf<EngineEntity> {
    static constexpr PropertyKind kind = PropertyKind::ObjectReference;
    static ReferenceOps reference_ops() {
        ReferenceOps ops;
        ops.get = [](const void* reference) {
            const auto& entity = *static_cast<const EngineEntity*>(reference);
            return ObjectHandle{std::uint64_t{entity.generation} << 32 | entity.index};
        };
        ops.set = [](void* reference, ObjectHandle object) {
            *static_cast<EngineEntity*>(reference) = {
                static_cast<std::uint32_t>(object.value),
                static_cast<std::uint32_t>(object.value >> 32)};
        };
        return ops;
    }
};

template <>
struct replayout::KindOf<EngineString> {
    static constexpr PropertyKind kind = PropertyKind::String;
    static StringOps string_ops(TypeRegistry&) {
        StringOps ops;
        ops.view = [](const void* string, const void*) -> std::string_view {
            return static_cast<const EngineString*>(string)->text;
        };
        ops.assign = [](void* string, std::string_view text, void*) {
            static_cast<EngineString*>(string)->text = text;
            return true;
        };
        return ops;
    }
};

template <typename T>
struct replayout::KindOf<EngineArray<T>> : replayout::ArrayKind<EngineArray<T>> {};

// Facts of the compiler: nothing is left to run.
static_assert(is_kind<bool, PropertyKind::Bool>);
static_assert(is_kind<std::int8_t, PropertyKind::Int8>);
static_assert(is_kind<std::int16_t, PropertyKind::Int16>);
static_assert(is_kind<std::int32_t, PropertyKind::Int32>);
static_assert(is_kind<std::int64_t, PropertyKind::Int64>);
static_assert(is_kind<std::uint8_t, PropertyKind::UInt8>);
static_assert(is_kind<std::uint16_t, PropertyKind::UInt16>);
static_assert(is_kind<std::uint32_t, PropertyKind::UInt32>);
static_assert(is_kind<std::uint64_t, PropertyKind::UInt64>);
static_assert(is_kind<long long, PropertyKind::Int64>);
static_assert(is_kind<unsigned long long, PropertyKind::UInt64>);
static_assert(is_kind < long, sizeof(long) == 8 ? PropertyKind::Int64 : PropertyKind::Int32 >);
static_assert(is_kind<char, PropertyKind::UInt8>);
static_assert(is_kind<char8_t, PropertyKind::UInt8>);
static_assert(is_kind<char16_t, PropertyKind::UInt16>);
static_assert(is_kind<char32_t, PropertyKind::UInt32>);
static_assert(is_kind<float, PropertyKind::Float>);
static_assert(is_kind<double, PropertyKind::Double>);
static_assert(is_kind<SmallEnum, PropertyKind::Enum>);
static_assert(is_kind<Plain, PropertyKind::Enum>);
static_assert(is_kind<std::byte, PropertyKind::Enum>);
static_assert(is_kind<std::string, PropertyKind::String>);
static_assert(is_kind<std::pmr::string, PropertyKind::String>);
static_assert(is_kind<Name, PropertyKind::Name>);
static_assert(is_kind<ObjectHandle, PropertyKind::ObjectReference>);
static_assert(is_kind<Empty*, PropertyKind::ObjectReference>);
static_assert(is_kind<const Empty*, PropertyKind::ObjectReference>);
static_assert(is_kind<Vector3, PropertyKind::Vector>);
static_assert(is_kind<Quat, PropertyKind::Quat>);
static_assert(is_kind<Empty, PropertyKind::Struct>);
static_assert(is_kind<std::vector<Empty>, PropertyKind::DynamicArray>);
static_assert(is_kind<std::pmr::vector<int>, PropertyKind::DynamicArray>);
static_assert(std::is_same_v<KindOf<std::vector<Empty>>::element_type, Empty>);

TEST_CASE("KindOf: an engine's own types take the kinds it gives them", "[reflection][kind_of]") {
    TypeRegistry registry;
    const auto type = class_builder<EngineObject>(registry, "EngineObject")
                          .property<&EngineObject::place>()
                          .property<&EngineObject::target>()
                          .property<&EngineObject::title>()
                          .property<&EngineObject::scores>()
                          .build();
    REQUIRE(type);
    CHECK((*type)->find_property("place")->kind == PropertyKind::Vector);

    EngineObject object;
    const Property& target = *(*type)->find_property("target");
    target.reference.set(&object.target, ObjectHandle{0x0000'0007'0000'0005});
    CHECK(object.target.index == 5);
    CHECK(object.target.generation == 7);
    CHECK(target.reference.get(&object.target).value == 0x0000'0007'0000'0005);

    const Property& title = *(*type)->find_property("title");
    CHECK(title.string.assign(&object.title, "a title", title.string.context));
    CHECK(title.string.view(&object.title, title.string.context) == "a title");

    const Property& scores = *(*type)->find_property("scores");
    CHECK(scores.kind == PropertyKind::DynamicArray);
    CHECK(scores.element->kind == PropertyKind::Int32);
    scores.array.resize(&object.scores, 2);
    CHECK(object.scores.size() == 2);
}

TEST_CASE("KindOf: a Name is kept in the table of the registry", "[reflection][kind_of]") {
    TypeRegistry registry;
    const StringOps ops = KindOf<Name>::string_ops(registry);
    Name name;
    CHECK(ops.assign(&name, "red", ops.context));
    CHECK(registry.names().text(name) == "red");
}
