// SPDX-License-Identifier: MIT
#include "support/worlds/session_game.h"

#include <algorithm>
#include <limits>

namespace replayout::test {

namespace {

constexpr std::uint32_t for_ever = std::numeric_limits<std::uint32_t>::max();

}  // namespace

SessionGame::SessionGame(const SessionSettings& settings, const RandomTypes& types,
                         ServerWorld& world, GameListener& listener)
    : settings_(settings),
      types_(types),
      world_(world),
      listener_(listener),
      random_(settings.seed * 31 + 7),
      editor_(settings.seed * 37 + 11, settings.edits, [this] { return pick_reference(); }) {}

void SessionGame::play() {
    ++tick_;
    touched_.clear();
    remove_due();
    if (!live_.empty() && random_.percent(settings_.destroy_percent)) {
        remove(random_.below(static_cast<std::uint32_t>(live_.size())));
    }
    while (live_.size() < settings_.live_max && random_.percent(settings_.spawn_percent)) {
        spawn();
    }
    undo_due();
    for (const LiveObject& object : live_) {
        if (random_.percent(settings_.edited_percent)) {
            edit(object.id);
        }
    }
    for (std::size_t index = live_.size(); index-- > 0;) {
        if (live_[index].is_gone_before_flush) {
            remove(index);
        }
    }
}

void SessionGame::spawn() {
    LiveObject object{ObjectId{++last_id_}, for_ever, false};
    if (random_.percent(settings_.brief_percent)) {
        const std::uint32_t ticks = random_.below(3);
        object.last_tick = tick_ + (ticks == 2 ? 1 : 0);
        object.is_gone_before_flush = ticks == 0;
    }
    const std::uint32_t class_index = random_.below(types_.class_count());
    world_.add(object.id, class_index);
    live_.push_back(object);
    listener_.object_added(object.id, class_index);
    touched_.push_back(object.id);
    if (random_.percent(70)) {
        edit(object.id);
    }
}

void SessionGame::remove(std::size_t index) {
    const ObjectId id = live_[index].id;
    listener_.object_removed(id);
    world_.remove(id);
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(index));
    std::erase(touched_, id);
    std::erase_if(undos_, [id](const Undo& undo) { return undo.id == id; });
}

void SessionGame::remove_due() {
    for (std::size_t index = live_.size(); index-- > 0;) {
        if (live_[index].last_tick < tick_) {
            remove(index);
        }
    }
}

void SessionGame::edit(ObjectId id) {
    RawObject& object = world_.at(id);
    std::vector<SavedValue> before = editor_.edit(object, random_.between(1, settings_.edits_max));
    for (const SavedValue& saved : before) {
        listener_.property_changed(id, TreeEditor::name_of(object, saved));
    }
    if (random_.percent(settings_.revert_percent)) {
        const std::uint32_t due = tick_ + random_.between(1, 6);
        // Last edit first, so that a property that was edited twice ends as it began.
        for (std::size_t i = before.size(); i-- > 0;) {
            undos_.push_back({id, due, std::move(before[i])});
        }
    } else {
        TreeEditor::increment(object, RandomTypes::version_name);
        listener_.property_changed(id, RandomTypes::version_name);
    }
    touched_.push_back(id);
}

void SessionGame::undo_due() {
    for (const Undo& undo : undos_) {
        if (undo.tick == tick_) {
            RawObject& object = world_.at(undo.id);
            TreeEditor::restore(object, undo.saved);
            listener_.property_changed(undo.id, TreeEditor::name_of(object, undo.saved));
            touched_.push_back(undo.id);
        }
    }
    std::erase_if(undos_, [this](const Undo& undo) { return undo.tick <= tick_; });
}

Reference SessionGame::pick_reference() {
    const std::uint32_t draw = random_.below(100);
    if (draw < 20 || last_id_ == 0) {
        return {};
    }
    if (draw < 35) {
        return {last_id_ + random_.between(1, 4)};  // not there yet
    }
    if (draw < 55) {
        return {1 + random_.below(static_cast<std::uint32_t>(last_id_))};  // perhaps long dead
    }
    return {live_.empty() ? 0 : random_.pick(live_).id.value};
}

}  // namespace replayout::test
