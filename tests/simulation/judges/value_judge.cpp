// SPDX-License-Identifier: MIT
#include "simulation/judges/value_judge.h"

namespace replayout::test {

namespace {

[[nodiscard]] std::string place(std::uint32_t number, Slot slot) {
    return "craft " + std::to_string(number) + ", property " + std::to_string(slot >> 16) +
           ", place " + std::to_string(slot & 0xFFFF);
}

[[nodiscard]] std::uint64_t notified_value(const Craft& craft, Slot slot) {
    return slot == course_slot ? craft.course : value_of(craft.label);
}

}  // namespace

void ValueJudge::shown(ObjectHandle handle, std::uint32_t number) {
    verdict_.require(Invariant::KnownValues, number != 0,
                     [] { return "a client is shown a craft that never was"; });
    View view;
    view.number = number;
    views_[handle] = view;
    touched_.insert(handle);
}

void ValueJudge::hidden(ObjectHandle handle) {
    verdict_.require(Invariant::PresentCrafts, views_.erase(handle) == 1,
                     [] { return "a client is told to hide what it does not show"; });
    touched_.erase(handle);
}

void ValueJudge::notified(const Craft& craft, Slot slot, std::uint64_t previous) {
    ++notifies_judged_;
    const auto found = views_.find(craft.handle);
    if (found == views_.end()) {
        verdict_.fail(Invariant::PresentCrafts, "a notify of a craft that is not shown");
        return;
    }
    std::uint64_t& told = found->second.told[slot];
    const std::uint64_t now = notified_value(craft, slot);
    const auto describe = [&](const char* what) {
        return what + (": " + place(found->second.number, slot));
    };
    verdict_.require(Invariant::Notifies, previous == told,
                     [&] { return describe("a notify's previous value is another one"); });
    verdict_.require(Invariant::Notifies, now != previous,
                     [&] { return describe("a notify without a change"); });
    told = now;
    digest_.add(found->second.number ^ now);
}

void ValueJudge::check(CraftWorld& world) {
    for (const ObjectHandle handle : touched_) {
        const Craft* craft = world.find(handle);
        const auto found = views_.find(handle);
        if (craft != nullptr && found != views_.end()) {
            check_craft(found->second, *craft);
        }
    }
    touched_.clear();
}

void ValueJudge::check_told(const CraftWorld& world) {
    for (const auto& entry : views_) {
        const View& view = entry.second;
        const auto craft = world.crafts().find(entry.first);
        for (const Slot slot : {course_slot, label_slot}) {
            const auto told = view.told.find(slot);
            const std::uint64_t last = told == view.told.end() ? 0 : told->second;
            verdict_.require(
                Invariant::Notifies,
                craft != world.crafts().end() && last == notified_value(*craft->second, slot),
                [&] { return "no notify of the last change: " + place(view.number, slot); });
        }
    }
}

std::uint32_t ValueJudge::number_of(ObjectHandle handle) const {
    const auto found = views_.find(handle);
    return found == views_.end() ? 0 : found->second.number;
}

void ValueJudge::check_craft(View& view, const Craft& craft) {
    const auto history = histories_.find(view.number);
    if (history == histories_.end()) {
        return;  // said where it was shown
    }
    verdict_.require(Invariant::WholeAtomics, craft.purse.adds_up(), [&] {
        return "an atomic struct in parts: " + place(view.number, purse_slot);
    });
    visit_slots(
        craft, [&](ObjectHandle handle) { return handle.is_null() ? 0u : number_of(handle); },
        [&](Slot slot, std::uint64_t value) { check_slot(view, history->second, slot, value); });
}

void ValueJudge::check_slot(View& view, const CraftHistory& history, Slot slot,
                            std::uint64_t value) {
    Seen& seen = view.seen[slot];
    if (value == seen.value) {
        return;
    }
    ++values_judged_;
    seen.value = value;
    // A reference is null while its target is not there, and an element that is new holds nothing
    // until it is told.
    if (value == 0 && (slot == escort_slot || is_element(slot))) {
        return;
    }
    const std::size_t position = history.find(slot, value, seen.position);
    if (position == CraftHistory::npos) {
        const bool was_ever = history.find(slot, value, 0) != CraftHistory::npos;
        verdict_.fail(was_ever ? Invariant::ForwardValues : Invariant::KnownValues,
                      (was_ever ? "a value goes back: " : "a value that the server never had: ") +
                          place(view.number, slot) + ", " + std::to_string(value));
        return;
    }
    seen.position = position;
    digest_.add(std::uint64_t{view.number} << 32 ^ slot ^ value);
    if (on_seen) {
        on_seen(view.number, slot, value);
    }
}

}  // namespace replayout::test
