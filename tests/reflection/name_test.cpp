// SPDX-License-Identifier: MIT
#include "support/checks/catch.h"

#include <replayout/reflection/name.h>

#include <memory_resource>
#include <string>

using namespace replayout;

TEST_CASE("NameTable: equal texts are one name, different texts are not", "[reflection][name]") {
    NameTable names;
    const auto red = names.intern("red");
    const auto blue = names.intern("blue");
    REQUIRE(red);
    REQUIRE(blue);
    CHECK(*red != *blue);
    CHECK(names.intern(std::string("r") + "ed") == red);
    CHECK(names.text(*red) == "red");
    CHECK(names.text(*blue) == "blue");
    CHECK(names.count() == 2);
}

TEST_CASE("NameTable: ids are given in order of interning, from one", "[reflection][name]") {
    NameTable names;
    CHECK(names.intern("first") == Name{1});
    CHECK(names.intern("second") == Name{2});
    CHECK(names.intern("first") == Name{1});
}

TEST_CASE("NameTable: the empty name is 0 and takes no room", "[reflection][name]") {
    NameTable names(1);
    CHECK(names.intern("") == Name{});
    CHECK(names.text(Name{}).empty());
    CHECK(names.count() == 0);
    CHECK(names.intern("one"));
    CHECK(names.intern("") == Name{});
}

TEST_CASE("NameTable: a full table refuses what is new and keeps what is known",
          "[reflection][name]") {
    NameTable names(2);
    const auto first = names.intern("first");
    REQUIRE(names.intern("second"));
    CHECK_FALSE(names.intern("third"));
    CHECK(names.intern("first") == first);
    CHECK(names.count() == 2);
}

TEST_CASE("NameTable: a text stays where it is while the table grows", "[reflection][name]") {
    NameTable names;
    const std::string_view first = names.text(*names.intern("a"));
    for (int index = 0; index < 10'000; ++index) {
        REQUIRE(names.intern("name " + std::to_string(index)));
    }
    CHECK(first.data() == names.text(Name{1}).data());
    CHECK(names.intern("a") == Name{1});
    CHECK(names.text(Name{10'001}) == "name 9999");
}

TEST_CASE("NameTable: keeps zero bytes and bytes that are no letters", "[reflection][name]") {
    NameTable names;
    const std::string_view text("a\0b\xff", 4);
    CHECK(names.text(*names.intern(text)) == text);
    CHECK(names.intern("a") != names.intern(text));
}

TEST_CASE("NameTable: takes all its memory from the given resource", "[reflection][name]") {
    std::pmr::monotonic_buffer_resource resource(std::pmr::new_delete_resource());
    std::pmr::memory_resource* const before =
        std::pmr::set_default_resource(std::pmr::null_memory_resource());
    {
        NameTable names(100, &resource);
        const std::string_view text = "a name too long to lie inside of a string object";
        CHECK(names.text(*names.intern(text)) == text);
    }
    std::pmr::set_default_resource(before);
}

TEST_CASE("NameTable: its string operations read and write a Name", "[reflection][name]") {
    NameTable names(1);
    const StringOps ops = names.string_ops();
    Name name;
    CHECK(ops.view(&name, ops.context).empty());
    CHECK(ops.assign(&name, "red", ops.context));
    CHECK(ops.view(&name, ops.context) == "red");
    CHECK_FALSE(ops.assign(&name, "blue", ops.context));
    CHECK(ops.view(&name, ops.context) == "red");
}
