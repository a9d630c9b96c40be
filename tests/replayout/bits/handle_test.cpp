// SPDX-License-Identifier: MIT
#include <replayout/handle.h>

#include <type_traits>

#include "support/checks/catch.h"

namespace replayout {
namespace {

template <typename Left, typename Right>
concept Comparable = requires(Left left, Right right) {
    left == right;
};

// The three count different things: none becomes another, nor a number, by accident.
static_assert(!std::is_convertible_v<RepHandle, CmdIndex>);
static_assert(!std::is_convertible_v<CmdIndex, ParentIndex>);
static_assert(!std::is_convertible_v<ParentIndex, CmdIndex>);
static_assert(!std::is_convertible_v<std::uint32_t, RepHandle>);
static_assert(!std::is_convertible_v<RepHandle, std::uint32_t>);
static_assert(!Comparable<RepHandle, CmdIndex>);
static_assert(!Comparable<CmdIndex, ParentIndex>);
static_assert(std::is_trivially_copyable_v<RepHandle>);

TEST_CASE("RepHandle: the default is the one that ends a list", "[replayout][handle]") {
    CHECK(RepHandle().value == 0);
    CHECK(RepHandle{1} < RepHandle{2});
    CHECK(RepHandle{7} == RepHandle{7});
    CHECK(CmdIndex{3} > CmdIndex{2});
    CHECK(ParentIndex{3} != ParentIndex{2});
}

}  // namespace
}  // namespace replayout
