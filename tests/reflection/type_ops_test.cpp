// SPDX-License-Identifier: MIT
#include "support/checks/catch.h"

#include <replayout/reflection/type_ops.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace replayout;

namespace {

struct NotComparable {
    int value = 0;
};

struct OnlyMovable {
    std::unique_ptr<int> value;
};

struct Counted {
    Counted() { ++alive; }
    Counted(const Counted& other) : value(other.value) { ++alive; }
    Counted& operator=(const Counted&) = default;
    ~Counted() { --alive; }

    int value = 3;
    static inline int alive = 0;
};

class Abstract {
  public:
    virtual void act() = 0;

  protected:
    ~Abstract() = default;
};

}  // namespace

TEST_CASE("TypeOps: make, copy, compare and destroy a value", "[reflection][type_ops]") {
    const TypeOps ops = make_type_ops<std::string>();
    alignas(std::string) std::byte left[sizeof(std::string)];
    alignas(std::string) std::byte right[sizeof(std::string)];
    ops.construct(left);
    const std::string text = "longer than what a string object holds inside of itself";
    ops.copy_construct(right, &text);
    CHECK_FALSE(ops.equal(left, right));
    ops.copy_assign(left, right);
    CHECK(ops.equal(left, right));
    CHECK(ops.equal(left, &text));
    ops.destroy(left);
    ops.destroy(right);
    CHECK(ops.size == sizeof(std::string));
    CHECK(ops.alignment == alignof(std::string));
    CHECK_FALSE(ops.is_trivial);
}

TEST_CASE("TypeOps: every construction is matched by a destruction", "[reflection][type_ops]") {
    const TypeOps ops = make_type_ops<Counted>();
    alignas(Counted) std::byte first[sizeof(Counted)];
    alignas(Counted) std::byte second[sizeof(Counted)];
    ops.construct(first);
    ops.copy_construct(second, first);
    CHECK(Counted::alive == 2);
    ops.destroy(first);
    ops.destroy(second);
    CHECK(Counted::alive == 0);
    CHECK(ops.equal == nullptr);
}

TEST_CASE("TypeOps: construction gives the value of T(), not what lay there",
          "[reflection][type_ops]") {
    const TypeOps ops = make_type_ops<int>();
    int value = 7;
    ops.construct(&value);
    CHECK(value == 0);
    CHECK(ops.is_trivial);
}

TEST_CASE("TypeOps: what a type does not offer is null", "[reflection][type_ops]") {
    CHECK(make_type_ops<NotComparable>().equal == nullptr);
    CHECK(make_type_ops<NotComparable>().copy_assign != nullptr);
    CHECK(make_type_ops<OnlyMovable>().copy_construct == nullptr);
    CHECK(make_type_ops<OnlyMovable>().copy_assign == nullptr);
    CHECK(make_type_ops<OnlyMovable>().construct != nullptr);
    CHECK(make_type_ops<Abstract>().construct == nullptr);
    CHECK(make_type_ops<Abstract>().destroy == nullptr);
}

TEST_CASE("TypeOps: a container offers only what its elements offer", "[reflection][type_ops]") {
    CHECK(make_type_ops<std::vector<int>>().equal != nullptr);
    CHECK(make_type_ops<std::vector<NotComparable>>().equal == nullptr);
    CHECK(make_type_ops<std::vector<NotComparable>>().copy_assign != nullptr);
    CHECK(make_type_ops<std::vector<std::vector<NotComparable>>>().equal == nullptr);
    CHECK(make_type_ops<std::vector<OnlyMovable>>().copy_construct == nullptr);
    CHECK(make_type_ops<std::vector<OnlyMovable>>().copy_assign == nullptr);
}

TEST_CASE("TypeOps: of a class are only its making and its end", "[reflection][type_ops]") {
    const TypeOps ops = make_class_ops<Counted>();
    CHECK(ops.construct != nullptr);
    CHECK(ops.destroy != nullptr);
    CHECK(ops.copy_construct == nullptr);
    CHECK(ops.copy_assign == nullptr);
    CHECK(ops.equal == nullptr);
    CHECK_FALSE(ops.is_trivial);
    CHECK(ops.size == sizeof(Counted));
    // A class may hold what C++ wrongly calls copyable; nothing here asks for the copy.
    struct Holder {
        std::vector<std::unique_ptr<int>> parts;
    };
    CHECK(make_class_ops<Holder>().construct != nullptr);
    CHECK(make_class_ops<Abstract>().construct == nullptr);
}
