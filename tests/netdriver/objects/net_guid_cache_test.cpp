// SPDX-License-Identifier: MIT
#include <replayout/netdriver/net_guid_cache.h>

#include <cstdint>

#include "support/checks/catch.h"
#include "support/checks/counting_resource.h"

namespace replayout {
namespace {

using Authority = NetGUIDCache::Authority;

constexpr ObjectHandle door{501};
constexpr ObjectHandle key{502};
constexpr NetGUID first{1};
constexpr NetGUID second{2};

[[nodiscard]] NetGUIDCache make_cache(Authority authority) {
    return NetGUIDCache(authority, 7, std::pmr::get_default_resource());
}

}  // namespace

TEST_CASE("NetGUIDCache: a server gives ids in the order of the first question",
          "[netdriver][net_guid_cache]") {
    NetGUIDCache cache = make_cache(Authority::Assigns);
    CHECK(cache.guid_of(key) == first);
    CHECK(cache.guid_of(door) == second);
    CHECK(cache.guid_of(key) == first);
    CHECK(cache.find_guid(door) == second);
    CHECK(cache.find_named(second) == door);
}

TEST_CASE("NetGUIDCache: null has no id, and no id names null", "[netdriver][net_guid_cache]") {
    for (const Authority authority : {Authority::Assigns, Authority::Learns}) {
        NetGUIDCache cache = make_cache(authority);
        CHECK(cache.guid_of(ObjectHandle{}).is_null());
        CHECK(cache.object_of(NetGUID{}).is_null());
        CHECK(cache.find_guid(ObjectHandle{}).is_null());
        CHECK(cache.find_object(NetGUID{}).is_null());
        CHECK(cache.find_named(NetGUID{}).is_null());
    }
}

TEST_CASE("NetGUIDCache: looking assigns nothing", "[netdriver][net_guid_cache]") {
    NetGUIDCache cache = make_cache(Authority::Assigns);
    CHECK(cache.find_guid(door).is_null());
    CHECK(cache.guid_of(key) == first);
}

TEST_CASE("NetGUIDCache: an id can be named before the object is there",
          "[netdriver][net_guid_cache]") {
    NetGUIDCache cache = make_cache(Authority::Assigns);
    const NetGUID guid = cache.guid_of(door);
    CHECK(cache.object_of(guid).is_null());
    CHECK(cache.find_named(guid) == door);
    cache.bind(guid, door);
    CHECK(cache.object_of(guid) == door);
}

TEST_CASE("NetGUIDCache: a server forgets an id with its object, and gives it to nobody else",
          "[netdriver][net_guid_cache]") {
    for (const bool keeps_names : {false, true}) {
        NetGUIDCache cache = make_cache(Authority::Assigns);
        cache.set_keeps_names(keeps_names);
        const NetGUID guid = cache.assign(door);
        cache.bind(guid, door);
        CHECK(cache.find_guid(door) == guid);
        CHECK(cache.find_named(guid) == door);
        cache.unbind(guid);
        CHECK(cache.object_of(guid).is_null());
        CHECK(cache.find_guid(door).is_null());
        CHECK(cache.find_named(guid) == (keeps_names ? door : ObjectHandle{}));
        // Who names the dead object later names nothing that will ever be there.
        const NetGUID later = cache.assign(door);
        CHECK(later != guid);
        CHECK(cache.object_of(later).is_null());
        CHECK(cache.find_named(later) == door);
        CHECK(cache.assign(key) != guid);
    }
}

TEST_CASE("NetGUIDCache: an id that a serializer asked for keeps its meaning without its object",
          "[netdriver][net_guid_cache]") {
    NetGUIDCache cache = make_cache(Authority::Assigns);
    const NetGUID guid = cache.guid_of(door);
    cache.bind(guid, door);
    cache.unbind(guid);
    CHECK(cache.object_of(guid).is_null());
    CHECK(cache.find_guid(door) == guid);
    CHECK(cache.find_named(guid) == door);
    CHECK(cache.guid_of(door) == guid);
    CHECK(cache.guid_of(key) != guid);
}

TEST_CASE("NetGUIDCache: a client only learns", "[netdriver][net_guid_cache]") {
    NetGUIDCache cache = make_cache(Authority::Learns);
    CHECK(cache.guid_of(door).is_null());
    const NetGUID guid{0xFFFF'FFFF'FFFF'FFFF};
    cache.bind(guid, door);
    CHECK(cache.guid_of(door) == guid);
    CHECK(cache.object_of(guid) == door);
    CHECK(cache.find_named(guid).is_null());
    cache.unbind(guid);
    CHECK(cache.guid_of(door).is_null());
    CHECK(cache.object_of(guid).is_null());
}

TEST_CASE("NetGUIDCache: a server that becomes a client learns, and assigns nothing",
          "[netdriver][net_guid_cache]") {
    NetGUIDCache cache = make_cache(Authority::Assigns);
    cache.set_authority(Authority::Learns);
    CHECK(cache.guid_of(door).is_null());
    for (std::uint64_t i = 1; i <= 1'000; ++i) {
        cache.bind(NetGUID{i * 5}, ObjectHandle{i * 7});
    }
    for (std::uint64_t i = 1; i <= 1'000; ++i) {
        REQUIRE(cache.object_of(NetGUID{i * 5}) == ObjectHandle{i * 7});
        REQUIRE(cache.guid_of(ObjectHandle{i * 7}) == NetGUID{i * 5});
    }
}

TEST_CASE("NetGUIDCache: what was unbound can be bound to another object at a client",
          "[netdriver][net_guid_cache]") {
    NetGUIDCache cache = make_cache(Authority::Learns);
    cache.bind(first, door);
    cache.unbind(first);
    cache.bind(first, key);
    CHECK(cache.object_of(first) == key);
    CHECK(cache.find_guid(door).is_null());
    CHECK(cache.find_guid(key) == first);
}

TEST_CASE("NetGUIDCache: many objects keep their ids and give back their memory",
          "[netdriver][net_guid_cache]") {
    CountingResource memory;
    {
        NetGUIDCache cache(Authority::Assigns, 7, &memory);
        for (std::uint64_t i = 1; i <= 10'000; ++i) {
            const ObjectHandle object{i * 7};
            cache.bind(cache.guid_of(object), object);
        }
        for (std::uint64_t i = 1; i <= 10'000; ++i) {
            REQUIRE(cache.object_of(NetGUID{i}) == ObjectHandle{i * 7});
        }
    }
    CHECK(memory.blocks_in_use() == 0);
    CHECK(memory.allocation_count() > 0);
}

TEST_CASE("NetGUIDCache: an object that is added gets the id that was named, or one nobody had",
          "[netdriver][net_guid_cache]") {
    NetGUIDCache cache = make_cache(Authority::Assigns);
    const ObjectHandle gate{7};
    const NetGUID named = cache.assign(gate);
    CHECK(cache.assign_to_new(gate) == named);
    cache.bind(named, gate);
    const bool is_kept = GENERATE(false, true);
    if (is_kept) {
        CHECK(cache.guid_of(gate) == named);
    }
    cache.unbind(named);
    CHECK(cache.is_current(named, gate));  // it has no other
    const std::uint64_t count = cache.binding_count();
    if (const bool is_named_again = !is_kept && GENERATE(false, true); is_named_again) {
        CHECK(cache.assign(gate) != named);
        CHECK(cache.is_current(named, gate));  // both name nothing
        CHECK(cache.binding_count() == count);
    }
    const NetGUID again = cache.assign_to_new(gate);
    CHECK(again != named);
    CHECK(cache.binding_count() == count + 1);
    CHECK_FALSE(cache.is_current(named, gate));
    CHECK(cache.is_current(again, gate));
    CHECK(cache.find_named(named).is_null());
}

TEST_CASE(
    "NetGUIDCache: adding objects whose handles no value can hold does not grow the binding count",
    "[netdriver][net_guid_cache]") {
    NetGUIDCache cache = make_cache(Authority::Assigns);
    const std::uint64_t count = cache.binding_count();
    for (std::uint64_t i = 1; i <= 5'000; ++i) {
        const ObjectHandle object{i * 64};
        cache.bind(cache.assign_to_new(object), object);
    }
    CHECK(cache.binding_count() == count);
}

TEST_CASE(
    "NetGUIDCache: of new handles few are taken for forgotten ones, however many were forgotten",
    "[netdriver][net_guid_cache]") {
    const std::uint64_t step = GENERATE(1u, 64u, 4'096u);
    NetGUIDCache cache = make_cache(Authority::Assigns);
    const std::uint64_t count = cache.binding_count();
    constexpr std::uint64_t object_count = 50'000;
    for (std::uint64_t i = 1; i <= object_count; ++i) {
        const ObjectHandle object{i * step};
        const NetGUID guid = cache.assign_to_new(object);
        cache.bind(guid, object);
        cache.unbind(guid);
    }
    CAPTURE(step);
    CHECK(cache.binding_count() - count < object_count / 25);
}

TEST_CASE(
    "NetGUIDCache: a handle that a value still holds is known however many were forgotten since",
    "[netdriver][net_guid_cache]") {
    NetGUIDCache cache = make_cache(Authority::Assigns);
    const ObjectHandle gate{7};
    const NetGUID named = cache.assign_to_new(gate);
    cache.bind(named, gate);
    cache.unbind(named);
    std::uint64_t asked_at = cache.binding_count();
    for (std::uint64_t i = 1; i <= 40'000; ++i) {
        const ObjectHandle object{i * 64};
        const NetGUID guid = cache.assign_to_new(object);
        cache.bind(guid, object);
        cache.unbind(guid);
        if (cache.binding_count() != asked_at) {  // as a compare does
            REQUIRE(cache.is_current(named, gate));
            asked_at = cache.binding_count();
        }
    }
    const NetGUID again = cache.assign_to_new(gate);
    CHECK(again != named);
    CHECK(cache.binding_count() != asked_at);
    CHECK_FALSE(cache.is_current(named, gate));
}

}  // namespace replayout
