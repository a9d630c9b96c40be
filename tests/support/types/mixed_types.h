// SPDX-License-Identifier: MIT
//
// A class with a property of every kind that keeps something of its own from tick to tick: keyed
// and fast arrays, a custom delta, maps and sets, optional and quantised values, conditions. Its
// values hold what they need in themselves or in room that is reserved, so whoever takes memory
// while it is replicated is the engine.
#pragma once

#include <replayout/collection.h>
#include <replayout/fast_array.h>
#include <replayout/net_delta.h>
#include <replayout/reflection/reflection.h>

#include <boost/container/flat_map.hpp>
#include <boost/container/flat_set.hpp>
#include <boost/container/static_vector.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/checks/catch.h"

namespace replayout::test {

struct Coin : FastArraySerializerItem {
    std::uint32_t kind = 0;
    std::int32_t count = 0;
};

struct Purse : FastArraySerializer<Coin> {};

struct Ticket {
    std::uint32_t id = 0;
    std::int32_t price = 0;

    friend bool operator==(const Ticket&, const Ticket&) = default;
};

using Marks = std::array<std::uint16_t, 6>;

struct GaugeState final : NetDeltaBaseState {
    Marks marks{};

    [[nodiscard]] bool is_state_equal(const NetDeltaBaseState& other) const override {
        return marks == static_cast<const GaugeState&>(other).marks;
    }
};

/// Writes the marks that its receiver has not.
struct Gauge {
    Marks marks{};

    bool operator==(const Gauge&) const = default;

    bool net_delta_serialize(NetDeltaInfo& info) {
        NetArchive& archive = info.archive();
        const auto* old = info.old_state<GaugeState>();
        const Marks before = old == nullptr ? Marks() : old->marks;
        for (std::size_t i = 0; i < marks.size(); ++i) {
            std::uint64_t differs = info.is_saving() && marks[i] != before[i] ? 1u : 0u;
            archive.serialize_bits(differs, 1);
            if (differs != 0) {
                archive.serialize(marks[i]);
            }
        }
        if (info.is_saving()) {
            info.set_new_state<GaugeState>().marks = marks;
        }
        return !archive.failed();
    }
};

template <typename T>
using FewOf = boost::container::static_vector<T, 8>;
using Prices = boost::container::flat_map<std::uint16_t, std::int32_t, std::less<std::uint16_t>,
                                          FewOf<std::pair<std::uint16_t, std::int32_t>>>;
using Visitors =
    boost::container::flat_set<std::uint16_t, std::less<std::uint16_t>, FewOf<std::uint16_t>>;

struct Bazaar {
    static constexpr std::size_t few = 8;

    std::uint32_t turn = 0;
    Purse purse;
    std::vector<Ticket> tickets;
    Gauge gauge;
    std::optional<Ticket> prize;
    Prices prices;
    Visitors visitors;
    Vector3 place;
    Rotator facing;
    float heat = 0.0f;
    std::int32_t stalls[3] = {};
    std::int32_t secret = 0;
    std::int32_t rumour = 0;
    std::int32_t hint = 0;
    std::string name;  ///< of a few letters

    std::uint32_t call_count = 0;

    Bazaar() {
        purse.items.reserve(few);
        tickets.reserve(few);
    }

    void on_rep_stalls(const std::int32_t (&)[3]) { ++call_count; }

    /// Something of everything is another than before; sizes come and go within bounds.
    void change() {
        ++turn;
        change_purse();
        change_tickets();
        gauge.marks[turn % gauge.marks.size()] = static_cast<std::uint16_t>(turn * 7);
        prize = turn % 3 == 0 ? std::nullopt : std::optional<Ticket>(Ticket{turn, 5});
        const auto key = static_cast<std::uint16_t>(turn % few);
        if (turn % 5 == 0) {
            prices.erase(key);
            visitors.erase(key);
        } else {
            prices[key] = static_cast<std::int32_t>(turn);
            visitors.insert(key);
        }
        place.x = static_cast<float>(turn % 1'000);
        facing.yaw = static_cast<float>(turn % 360);
        heat = static_cast<float>(turn % 10) * 0.1f;
        stalls[turn % 3] = static_cast<std::int32_t>(turn);
        secret = rumour = hint = static_cast<std::int32_t>(turn);
        name.assign(turn % 10, static_cast<char>('a' + turn % 26));
    }

  private:
    void change_purse() {
        if (turn % 4 == 0 && !purse.items.empty()) {
            purse.items.erase(purse.items.begin());
            purse.mark_array_dirty();
        } else if (purse.items.size() < few) {
            purse.items.emplace_back().kind = turn;
            purse.mark_item_dirty(purse.items.back());
        }
        if (!purse.items.empty()) {
            Coin& coin = purse.items[turn % purse.items.size()];
            coin.count = static_cast<std::int32_t>(turn);
            purse.mark_item_dirty(coin);
        }
    }
    void change_tickets() {
        if (turn % 3 == 0 && !tickets.empty()) {
            tickets.erase(tickets.begin());
        } else if (tickets.size() < few) {
            tickets.push_back({turn, 1});
        }
        if (!tickets.empty()) {
            tickets[turn % tickets.size()].price = static_cast<std::int32_t>(turn);
            std::swap(tickets.front(), tickets.back());
        }
    }
};

}  // namespace replayout::test

template <>
struct replayout::StructTraitsOf<replayout::test::Gauge> : replayout::DefaultStructTraits {
    static constexpr bool with_net_delta_serializer = true;
    static constexpr bool with_identical_via_equality = true;
};

namespace replayout::test {

[[nodiscard]] inline Result<const Type*> build_bazaar(TypeRegistry& registry) {
    REQUIRE(struct_builder<Coin>(registry, "Coin")
                .property<&Coin::kind>()
                .property<&Coin::count>()
                .build());
    REQUIRE(register_fast_array<Purse>(registry, "Purse"));
    REQUIRE(struct_builder<Ticket>(registry, "Ticket")
                .property<&Ticket::id>()
                .property<&Ticket::price>()
                .build());
    REQUIRE(struct_builder<Gauge>(registry, "Gauge").build());
    REQUIRE(register_collection<Prices, Bazaar::few>(registry));
    REQUIRE(register_collection<Visitors, Bazaar::few>(registry));
    return class_builder<Bazaar>(registry, "Bazaar")
        .property<&Bazaar::turn>()
        .property<&Bazaar::purse>()
        .property<&Bazaar::tickets>()
        .keyed_by<&Ticket::id>(ArrayOrder::Kept)
        .property<&Bazaar::gauge>()
        .property<&Bazaar::prize>()
        .property<&Bazaar::prices>()
        .property<&Bazaar::visitors>()
        .property<&Bazaar::place>()
        .quantised(Quantisation::tenth())
        .property<&Bazaar::facing>()
        .quantised(Quantisation::angles(8))
        .property<&Bazaar::heat>()
        .quantised(Quantisation::steps(0.0, 1.0, 0.01))
        .property<&Bazaar::stalls>()
        .on_rep<&Bazaar::on_rep_stalls>()
        .property<&Bazaar::secret>()
        .condition(LifetimeCondition::OwnerOnly)
        .property<&Bazaar::rumour>()
        .condition(LifetimeCondition::Custom)
        .property<&Bazaar::hint>()
        .condition(LifetimeCondition::Dynamic)
        .property<&Bazaar::name>()
        .build();
}

/// What every client ends with, whoever it is.
[[nodiscard]] inline bool shows_the_same(const Bazaar& left, const Bazaar& right) {
    const auto coins_of = [](const Bazaar& bazaar) {
        std::vector<std::array<std::int64_t, 3>> coins;
        for (const Coin& coin : bazaar.purse.items) {
            coins.push_back({coin.replication_id, coin.kind, coin.count});
        }
        std::sort(coins.begin(), coins.end());
        return coins;
    };
    return left.turn == right.turn && coins_of(left) == coins_of(right) &&
           left.tickets == right.tickets && left.gauge == right.gauge &&
           left.prize == right.prize && left.prices == right.prices &&
           left.visitors == right.visitors && left.place == right.place &&
           std::equal(std::begin(left.stalls), std::end(left.stalls), right.stalls) &&
           left.name == right.name;
}

}  // namespace replayout::test
