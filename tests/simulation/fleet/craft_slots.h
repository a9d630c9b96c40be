// SPDX-License-Identifier: MIT
//
// A craft as a list of slots: the smallest things that a client may show a newer or an older value
// of. What two ends hold is compared slot by slot, and so is what one end held before.
#pragma once

#include "simulation/fleet/craft.h"

#include <replayout/reflection/hash.h>

#include <cstdint>
#include <string>

namespace replayout::test {

/// The property in the upper half, the place within it in the lower.
using Slot = std::uint32_t;

inline constexpr Slot number_slot = 0 << 16;
inline constexpr Slot course_slot = 1 << 16;
inline constexpr Slot heading_slot = 2 << 16;
inline constexpr Slot label_slot = 3 << 16;
inline constexpr Slot cargo_slot = 4 << 16;
inline constexpr Slot crew_count_slot = 5 << 16;
inline constexpr Slot crew_slot = 6 << 16;
inline constexpr Slot leg_count_slot = 7 << 16;
inline constexpr Slot leg_slot = 8 << 16;
inline constexpr Slot purse_slot = 9 << 16;
inline constexpr Slot escort_slot = 10 << 16;
inline constexpr Slot hold_slot = 11 << 16;
inline constexpr Slot orders_slot = 12 << 16;
inline constexpr Slot rumour_slot = 13 << 16;
inline constexpr Slot built_slot = 14 << 16;
inline constexpr Slot mood_slot = 15 << 16;
inline constexpr Slot place_slot = 16 << 16;
inline constexpr Slot code_slot = 17 << 16;
inline constexpr Slot scores_slot = 18 << 16;
inline constexpr Slot gauge_slot = 19 << 16;

[[nodiscard]] constexpr Slot property_of(Slot slot) noexcept {
    return slot & 0xFFFF'0000;
}
/// Elements, which begin with nothing each time that their array grows.
[[nodiscard]] constexpr bool is_element(Slot slot) noexcept {
    const Slot property = property_of(slot);
    return property == crew_slot || property == leg_slot || property == hold_slot;
}

/// CraftVersion::Older.
[[nodiscard]] constexpr bool is_in_older_craft(Slot slot) noexcept {
    const Slot property = property_of(slot);
    return property != heading_slot && property != leg_count_slot && property != leg_slot &&
           property != code_slot;
}

/// So that all that a craft begins with is 0.
[[nodiscard]] inline std::uint64_t value_of(const std::string& text) {
    return text.empty() ? 0 : hash64(text);
}

/// Calls `visit(slot, value)` for each; `number_of` a handle gives the number of the craft that a
/// reference names, 0 for none.
template <typename NumberOf, typename Visitor>
void visit_slots(const Craft& craft, NumberOf number_of, Visitor visit) {
    visit(number_slot, craft.number);
    visit(course_slot, craft.course);
    visit(heading_slot, craft.heading);
    visit(label_slot, value_of(craft.label));
    visit(cargo_slot, value_of(craft.cargo));
    visit(crew_count_slot, craft.crew.size());
    for (std::uint32_t i = 0; i < craft.crew.size(); ++i) {
        visit(crew_slot + i, craft.crew[i]);
    }
    visit(leg_count_slot, craft.legs.size());
    for (std::uint32_t i = 0; i < craft.legs.size(); ++i) {
        const Leg& leg = craft.legs[i];
        visit(leg_slot + 256 * i, leg.number);
        visit(leg_slot + 256 * i + 1, value_of(leg.name));
        visit(leg_slot + 256 * i + 2, leg.stops.size());
        for (std::uint32_t stop = 0; stop < leg.stops.size(); ++stop) {
            visit(leg_slot + 256 * i + 3 + stop, leg.stops[stop]);
        }
    }
    visit(purse_slot, std::uint64_t{craft.purse.left} << 32 | craft.purse.right);
    visit(escort_slot, number_of(craft.escort));
    for (const Crate& crate : craft.hold.items) {
        // Ids near both their ends differ in their low half as well.
        visit(hold_slot + static_cast<std::uint16_t>(crate.replication_id), crate.count);
    }
    visit(orders_slot, craft.orders);
    visit(rumour_slot, craft.rumour);
    visit(built_slot, craft.built);
    visit(mood_slot, craft.mood);
    // In tenths, which is what is sent of them.
    const auto tenths = [](float value) {
        return static_cast<std::uint64_t>(
            static_cast<std::int64_t>(value * 10.0f + (value < 0.0f ? -0.5f : 0.5f)));
    };
    visit(place_slot, tenths(craft.place.x));
    visit(place_slot + 1, tenths(craft.place.y));
    visit(place_slot + 2, tenths(craft.place.z));
    visit(code_slot, craft.code ? std::uint64_t{*craft.code} + 1 : 0);
    for (std::uint32_t i = 0; i < craft.scores.size(); ++i) {
        visit(scores_slot + i, craft.scores[i]);
    }
    visit(gauge_slot, craft.gauge);
}

}  // namespace replayout::test
