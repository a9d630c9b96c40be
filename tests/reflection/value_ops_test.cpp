// SPDX-License-Identifier: MIT
#include "support/checks/catch.h"

#include <replayout/reflection/memory.h>
#include <replayout/reflection/value_ops.h>

#include <memory_resource>
#include <string>
#include <vector>

using namespace replayout;

namespace {

struct PointedAt {};

template <typename Container>
void check_array_ops() {
    const ArrayOps ops = make_array_ops<Container>();
    Container array;
    CHECK(ops.count(&array) == 0);
    ops.resize(&array, 3);
    REQUIRE(array.size() == 3);
    CHECK(ops.count(&array) == 3);
    CHECK(ops.data(&array) == array.data());
    CHECK(ops.mutable_data(&array) == array.data());
    static_cast<int*>(ops.mutable_data(&array))[2] = 7;
    CHECK(array[2] == 7);
    ops.resize(&array, 4);
    CHECK(array[2] == 7);
    CHECK(array[3] == 0);
}

}  // namespace

TEST_CASE("ArrayOps: count, reach and resize a container", "[reflection][value_ops]") {
    check_array_ops<std::vector<int>>();
    check_array_ops<std::pmr::vector<int>>();
    check_array_ops<Vector<int>>();
}

TEST_CASE("StringOps: view and assign a string, zero bytes included", "[reflection][value_ops]") {
    const StringOps ops = make_string_ops<std::string>();
    std::string string = "before";
    CHECK(ops.view(&string, ops.context) == "before");
    const std::string_view text("a\0b", 3);
    CHECK(ops.assign(&string, text, ops.context));
    CHECK(string == text);
    CHECK(ops.assign(&string, {}, ops.context));
    CHECK(string.empty());
}

TEST_CASE("ReferenceOps: a handle is itself", "[reflection][value_ops]") {
    const ReferenceOps ops = make_reference_ops<ObjectHandle>();
    ObjectHandle handle;
    CHECK(ops.get(&handle).is_null());
    ops.set(&handle, ObjectHandle{0xFEDC'BA98'7654'3210u});
    CHECK(handle.value == 0xFEDC'BA98'7654'3210u);
    CHECK(ops.get(&handle) == handle);
}

TEST_CASE("ReferenceOps: a pointer is the address of its object", "[reflection][value_ops]") {
    const ReferenceOps ops = make_reference_ops<const PointedAt*>();
    const PointedAt pawn;
    const PointedAt* pointer = nullptr;
    CHECK(ops.get(&pointer).is_null());
    ops.set(&pointer, ObjectHandle{reinterpret_cast<std::uintptr_t>(&pawn)});
    CHECK(pointer == &pawn);
    CHECK(ops.get(&pointer).value == reinterpret_cast<std::uintptr_t>(&pawn));
    ops.set(&pointer, ObjectHandle{});
    CHECK(pointer == nullptr);
}
