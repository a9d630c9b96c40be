// SPDX-License-Identifier: MIT
#include "support/checks/catch.h"

#include <replayout/reflection/math.h>
#include <replayout/reflection/property.h>

#include <set>

using namespace replayout;

namespace {

constexpr auto last_kind = static_cast<unsigned>(PropertyKind::Optional);

}  // namespace

TEST_CASE("PropertyKind: each has a word of its own", "[reflection][property]") {
    std::set<std::string_view> words;
    for (unsigned kind = 0; kind <= last_kind; ++kind) {
        words.insert(to_string(static_cast<PropertyKind>(kind)));
    }
    CHECK(words.size() == last_kind + 1);
    CHECK(words.count("unknown kind") == 0);
    CHECK(to_string(PropertyKind::Int32) == "int32");
    CHECK(to_string(PropertyKind::DynamicArray) == "dynamic array");
    CHECK(to_string(static_cast<PropertyKind>(last_kind + 1)) == "unknown kind");
}

// Their numbers stand in the layout fingerprint.
TEST_CASE("PropertyKind: numbers stay as they are", "[reflection][property]") {
    CHECK(static_cast<int>(PropertyKind::Bool) == 0);
    CHECK(static_cast<int>(PropertyKind::UInt8) == 5);
    CHECK(static_cast<int>(PropertyKind::Float) == 9);
    CHECK(static_cast<int>(PropertyKind::Enum) == 11);
    CHECK(static_cast<int>(PropertyKind::String) == 12);
    CHECK(static_cast<int>(PropertyKind::Vector) == 15);
    CHECK(static_cast<int>(PropertyKind::DynamicArray) == 18);
    CHECK(static_cast<int>(PropertyKind::Rotator) == 19);
    CHECK(static_cast<int>(PropertyKind::Optional) == 21);
    CHECK(static_cast<int>(QuantisationForm::VectorSteps) == 1);
    CHECK(static_cast<int>(QuantisationForm::RealSteps) == 6);
}

TEST_CASE("PropertyKind: a prescribed size is that of the C++ type", "[reflection][property]") {
    CHECK(fixed_size_of(PropertyKind::Bool) == 1);
    CHECK(fixed_size_of(PropertyKind::Int8) == 1);
    CHECK(fixed_size_of(PropertyKind::UInt16) == 2);
    CHECK(fixed_size_of(PropertyKind::Int32) == 4);
    CHECK(fixed_size_of(PropertyKind::Float) == 4);
    CHECK(fixed_size_of(PropertyKind::UInt64) == 8);
    CHECK(fixed_size_of(PropertyKind::Double) == 8);
    CHECK(fixed_size_of(PropertyKind::Vector) == 12);
    CHECK(fixed_size_of(PropertyKind::Quat) == 16);
    CHECK(fixed_size_of(PropertyKind::Rotator) == 12);
    CHECK(fixed_size_of(PropertyKind::BitBool) == 1);
    CHECK(fixed_size_of(PropertyKind::Enum) == 0);
    CHECK(fixed_size_of(PropertyKind::Name) == 0);
    CHECK(fixed_size_of(PropertyKind::Struct) == 0);
}

TEST_CASE("PropertyKind: plain is what memcmp and memcpy may touch", "[reflection][property]") {
    for (unsigned kind = 0; kind <= last_kind; ++kind) {
        const auto value = static_cast<PropertyKind>(kind);
        CAPTURE(kind);
        const bool has_bytes = fixed_size_of(value) != 0 && value != PropertyKind::BitBool;
        CHECK(is_plain(value) == (has_bytes || value == PropertyKind::Enum));
    }
}
