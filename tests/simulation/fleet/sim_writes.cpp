// SPDX-License-Identifier: MIT
//
// What the game of a simulation writes into its crafts. Each write has a version of its own, so
// that whoever shows a value tells which write he saw.
#include "simulation/fleet/sim_server.h"

#include "support/checks/marked_bytes.h"

#include <algorithm>

namespace replayout::test {

void SimServer::write_course(Choices&, Craft& craft) {
    craft.course = ++version_;
    trace_.write(craft.number, "course", version_);
}

void SimServer::write_heading(Choices&, Craft& craft) {
    craft.heading = ++version_ * 0x9E37'79B9'7F4A'7C15;
}

void SimServer::write_scores(Choices& row, Craft& craft) {
    craft.scores[row.below(3)] = static_cast<std::uint16_t>(++version_);
    craft.code = row.percent(30) ? std::optional<std::uint32_t>() : version_;
}

/// Written, perhaps seen by nobody, and as it was before.
void SimServer::write_reverted(Choices& row, Craft& craft) {
    const std::string label = craft.label;
    const std::array<std::uint16_t, 3> scores = craft.scores;
    craft.label = "reverted " + std::to_string(++version_);
    craft.scores[1] = static_cast<std::uint16_t>(version_);
    note(craft.handle);
    if (row.percent(70)) {
        craft.label = label;
        craft.scores = scores;
    }
}

void SimServer::write_label(Choices& row, Craft& craft) {
    craft.label = "label " + std::to_string(++version_) + std::string(row.below(40), 'l');
}

void SimServer::write_cargo(Choices& row, Craft& craft) {
    std::size_t size = row.percent(40) ? row.below(cargo_bytes_max) : row.below(300);
    size = swarm_.is_busy && !spend(size) ? 0 : size;
    craft.cargo = std::string(cargo_word) + std::to_string(++version_) + std::string(size, 'c');
}

void SimServer::write_crew(Choices& row, Craft& craft) {
    std::vector<std::uint32_t>& crew = craft.crew;
    const auto place = [&] {
        return static_cast<std::ptrdiff_t>(row.below(static_cast<std::uint32_t>(crew.size())));
    };
    switch (row.below(6)) {
        case 0:
        case 1:
            if (crew.size() < 40) {
                crew.insert(crew.begin() + (crew.empty() ? 0 : place()), ++version_);
            }
            break;
        case 2:
            if (!crew.empty()) {
                crew.erase(crew.begin() + place());
            }
            break;
        case 3:
            std::rotate(crew.begin(), crew.begin() + (crew.empty() ? 0 : place()), crew.end());
            break;
        case 4:
            if (row.percent(20)) {
                crew.clear();
            }
            break;
        default:
            if (!crew.empty()) {
                crew[static_cast<std::size_t>(place())] = ++version_;
            }
            break;
    }
}

void SimServer::write_legs(Choices& row, Craft& craft) {
    std::vector<Leg>& legs = craft.legs;
    if (legs.size() < 2 || (legs.size() < 8 && row.percent(20))) {
        legs.emplace_back();
    } else if (row.percent(15)) {
        legs.erase(legs.begin() + row.below(static_cast<std::uint32_t>(legs.size())));
        return;
    }
    Leg& leg = legs[row.below(static_cast<std::uint32_t>(legs.size()))];
    leg.number = ++version_;
    if (row.percent(50)) {
        leg.name = "leg " + std::to_string(version_);
    }
    if (row.percent(40)) {
        leg.stops.resize(row.below(8), static_cast<std::uint16_t>(version_));
    }
}

/// Some of its members, so that one who misses one of two changes sees a sum that is wrong.
void SimServer::write_purse(Choices& row, Craft& craft) {
    const std::uint32_t amount = row.between(1, 1'000);
    (row.percent(50) ? craft.purse.left : craft.purse.right) += amount;
    craft.purse.sum += amount;
    craft.purse.note = Purse::note_of(craft.purse.sum);
}

void SimServer::write_escort(Choices& row, Craft& craft) {
    craft.escort = row.percent(75) ? any(row) : ObjectHandle{};
}

void SimServer::write_hold(Choices& row, Craft& craft) {
    std::vector<Crate>& items = craft.hold.items;
    const std::uint32_t place = row.below(static_cast<std::uint32_t>(items.size()));
    if (items.size() < 2 || (items.size() < 12 && row.percent(30))) {
        items.emplace_back().count = ++version_;
        craft.hold.mark_item_dirty(items.back());
    } else if (row.percent(25)) {
        items.erase(items.begin() + place);
        craft.hold.mark_array_dirty();
    } else {
        items[place].count = ++version_;
        craft.hold.mark_item_dirty(items[place]);
    }
}

void SimServer::write_place(Choices&, Craft& craft) {
    // Three tenths of a step beside each, where nobody's rounding is in doubt.
    const float value = (static_cast<float>(++version_ % 10'000) * 10 + 3) / 100;
    craft.place = {value, -value, 0};
}

void SimServer::write_gauge(Choices&, Craft& craft) {
    craft.gauge = ++version_;
    driver_.mark_property_dirty(crafts_.at(craft.handle).id, "gauge");
}

void SimServer::write_secrets(Choices&, Craft& craft) {
    const MarkedValue orders{craft.number, orders_mark, tick_};
    if (craft.number <= secret_crafts_max && tick_ <= MarkedValue::tick_max &&
        craft.orders != orders.bits()) {
        craft.orders = orders.bits();
        craft.rumour = MarkedValue{craft.number, rumour_mark, tick_}.bits();
        trace_.write(craft.number, "orders", HistoryTrace::version_of(orders));
    }
}

void SimServer::write_conditional(Choices&, Craft& craft) {
    craft.built = ++version_;
    craft.mood = version_;
}

}  // namespace replayout::test
