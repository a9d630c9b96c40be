// SPDX-License-Identifier: MIT
// Slots of a server for peers: so many in all, and so many of one address.
#include "peer_slots.h"

#include <cstddef>
#include <cstdint>
#include <memory_resource>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"

namespace replayout::test {
namespace {

[[nodiscard]] AddressKey v4(int last) {
    AddressKey key{};
    key[10] = key[11] = std::byte{0xFF};
    key[12] = std::byte{10};
    key[15] = static_cast<std::byte>(last);
    return key;
}

[[nodiscard]] AddressKey v6(int in_prefix, int last) {
    AddressKey key{};
    key[0] = std::byte{0x20};
    key[7] = static_cast<std::byte>(in_prefix);
    key[15] = static_cast<std::byte>(last);
    return key;
}

TEST_CASE("PeerSlots: there is an end to them, in all and for one address", "[transport]") {
    PeerSlots slots(5, 3, std::pmr::get_default_resource());
    for (int i = 0; i < 3; ++i) {
        CHECK(slots.take(v4(1)));
    }
    CHECK_FALSE(slots.take(v4(1)));
    CHECK(slots.take(v4(2)));
    CHECK(slots.take(v4(2)));
    CHECK(slots.count() == 5);
    CHECK_FALSE(slots.take(v4(2)));  // of its own there is one
    slots.give_back(v4(1));
    CHECK(slots.count() == 4);
    CHECK(slots.take(v4(1)));
    CHECK_FALSE(slots.take(v4(3)));
}

TEST_CASE("PeerSlots: of IPv6 what begins with the same 64 bits is one address", "[transport]") {
    PeerSlots slots(100, 2, std::pmr::get_default_resource());
    CHECK(slots.take(v6(1, 1)));
    CHECK(slots.take(v6(1, 2)));
    CHECK_FALSE(slots.take(v6(1, 3)));
    CHECK(slots.take(v6(2, 1)));
    slots.give_back(v6(1, 9));
    CHECK(slots.take(v6(1, 3)));
}

TEST_CASE("PeerSlots: none for an address is none, and what nobody has takes no memory",
          "[transport]") {
    CountingResource memory;
    PeerSlots none(5, 0, &memory);
    CHECK_FALSE(none.take(v4(1)));
    CHECK(memory.allocation_count() == 0);
    PeerSlots slots(5, 5, &memory);
    for (int i = 0; i < 5; ++i) {
        CHECK(slots.take(v4(i)));
    }
    for (int i = 0; i < 5; ++i) {
        slots.give_back(v4(i));
    }
    CHECK(memory.blocks_in_use() == 0);
}

}  // namespace
}  // namespace replayout::test
