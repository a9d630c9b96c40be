// SPDX-License-Identifier: MIT
#include "compare_stage.h"

#include "refusal_text.h"

#include <algorithm>
#include <bit>

namespace replayout {

namespace {

/// Ids that its compare gives depend on the order of elements, so it is not for lanes.
[[nodiscard]] bool is_compared_alone(const RepLayout& layout) noexcept {
    const std::span<const RepLayoutCmd> cmds = layout.cmds();
    return layout.has_keyed_arrays() &&
           std::any_of(cmds.begin(), cmds.end(), [](const RepLayoutCmd& cmd) {
               return cmd.type == RepLayoutCmdType::Object;
           });
}

}  // namespace

CompareStage::CompareStage(const ServerEnvironment& environment, ServerObjects& objects,
                           ServerLanes& lanes)
    : layouts_(environment.layouts),
      world_(environment.world),
      guids_(environment.guids),
      stats_(environment.stats),
      all_(objects),
      objects_(objects.store),
      lanes_(lanes),
      due_(&environment.memory.objects),
      resting_(&environment.memory.objects),
      calendar_(&environment.memory.objects),
      class_frequencies_(Allocator<NetUpdateFrequency>(&environment.memory.layout_table)),
      compared_alone_(&environment.memory.scratch),
      polled_(&environment.memory.objects),
      tolerated_(&environment.memory.objects),
      mark_validator_(environment.settings.mark_validation_ticks, &environment.memory.objects) {
    for (std::uint32_t number = 0; number < layouts_.count(); ++number) {
        if (is_compared_alone(*layouts_.find(number))) {
            compared_alone_.insert(number);
        }
    }
    using Until = ObjectTables::Until;
    all_.tables.add_full(due_, Until::GameIsDone);
    all_.tables.add(resting_, Until::TornOff);
    all_.tables.add(calendar_, Until::TornOff);
    all_.tables.add(polled_, Until::TornOff);
    all_.tables.add(tolerated_, Until::TornOff);
}

inline void CompareStage::note_compared(const DueObject& due, bool has_changed) {
    const ChangelistState& state = due.info->changelist_state();
    if (has_changed) {
        all_.changes.objects.set(due.index);
    }
    if (due.is_polled()) {
        return;  // it is looked at again in the next flush, whatever becomes of it here
    }
    const bool is_due_again = state.is_due() && !due.info->is_torn_off();
    const bool is_paced = calendar_.is_paced(due.index);
    if (is_paced) {
        calendar_.looked(due.index, has_changed);
    }
    if (!is_due_again || is_paced) {
        due_.clear(due.index);
    }
    if (is_due_again && is_paced) {
        calendar_.wait(due.index);
    }
}

inline bool CompareStage::update(const DueObject& due, PackageMap& ids, NetStats& stats) {
    REPLAYOUT_EXPECT(due.memory != nullptr, false, "%s",
                     without_memory("tick_flush", objects_, due.index).c_str());
    ChangelistState& state = due.info->changelist_state();
    if (due.is_polled()) {
        return state.update_changed(due.memory, ids, stats.replication);
    }
    const bool has_changed = state.update(due.memory, ids, stats.replication);
    polled_.compared(due.index, has_changed, state.has_unasked_references(ids.binding_count()));
    if (state.has_tolerated()) [[unlikely]] {
        tolerated_.note(due.index);
    }
    return has_changed;
}

inline void CompareStage::compare(const DueObject& due) {
    note_compared(due, update(due, all_.shadow_ids, stats_));
}

template <typename Changed, typename Compare>
void CompareStage::compare_by_words(ServerLane& lane, LaneRange words, Changed changed,
                                    Compare compare) {
    // So many that they are compared without a wait, so few that they are still at hand.
    constexpr std::size_t listed_max = 256;
    Vector<DueObject>& listed = lane.due.listed;
    std::array<const void*, 64> memory;
    const auto take_listed = [&] {
        lane.due.take_listed(world_, lane.stats.replication, changed, compare);
    };
    std::uint64_t due_count = 0;
    std::uint64_t same_count = 0;
    for (std::size_t word = words.begin; word < words.end; ++word) {
        const std::uint64_t due = due_.word(word);
        std::uint64_t polled = due & polled_.word(word);
        polled &= ~polled_.unscanned(word, polled);
        const ScanPlan::Findings found = polled_.scan(word, polled, world_, memory);
        due_count += static_cast<std::uint64_t>(std::popcount(due));
        same_count += static_cast<std::uint64_t>(std::popcount(polled & ~found.changed));
        BitRow::for_each_in_word(word, (due & ~polled) | found.changed, [&](ObjectIndex index) {
            const std::uint32_t bit = value_of(index) & 63;
            const bool is_polled = (found.changed >> bit & 1) != 0;
            const DueObject::Known known = (found.long_runs >> bit & 1) != 0
                                               ? DueObject::Known::LongRunsDiffer
                                               : DueObject::Known::Differs;
            listed.emplace_back(index, objects_.at(index),
                                is_polled ? known : DueObject::Known::Nothing,
                                is_polled ? memory[bit] : nullptr);
        });
        if (listed.size() >= listed_max) {
            take_listed();
        }
    }
    take_listed();
    lane.due.count = due_count;
    lane.stats.replication.objects_compared += same_count;
}

void CompareStage::run() {
    ++all_.changes.flush;
    polled_.begin(guids_.binding_count());
    std::uint64_t due_count = 0;
    if (lanes_.is_worth(lanes_.count() > 1 ? due_.count() : 0)) {
        due_count = compare_in_lanes();
    } else {
        ServerLane& lane = lanes_[0];
        compare_by_words(
            lane, {0, due_.word_count()},
            [this](const DueObject& due) { note_compared(due, true); },
            [this](const DueObject& due) { compare(due); });
        due_count = lane.due.count;
    }
    stats_.replication.objects_skipped += objects_.object_count() - due_count;
}

// A lane's marks of its objects are bits of rows that all lanes write, so words are its own.
std::uint64_t CompareStage::compare_in_lanes() {
    const LaneWords words(due_, lanes_.count());
    lanes_.run([&](std::uint32_t i) {
        ServerLane& lane = lanes_[i];
        compare_by_words(
            lane, words[i],
            [&](const DueObject& due) { note_compared_in_lane(lane, due, true, false); },
            [&](const DueObject& due) { compare_in_lane(lane, due); });
    });
    std::uint64_t due_count = 0;
    for (std::uint32_t i = 0; i < lanes_.count(); ++i) {
        DueObjects& lane_due = lanes_[i].due;
        due_count += lane_due.count;
        for (const DueObject& due : lane_due.left_over) {
            compare_left_over(due);
        }
        lane_due.left_over.clear();
    }
    return due_count;
}

void CompareStage::compare_in_lane(ServerLane& lane, const DueObject& due) {
    if (compared_alone_.test(due.info->layout_number())) {
        lane.due.left_over.push_back(due);
        return;
    }
    const bool has_changed = update(due, lane.ids, lane.stats);
    note_compared_in_lane(lane, due, has_changed, lane.ids.take_missed());
}

inline void CompareStage::note_compared_in_lane(ServerLane& lane, const DueObject& due,
                                                bool has_changed, bool has_missed_ids) {
    if (has_missed_ids || calendar_.is_paced(due.index)) {
        lane.due.left_over.push_back(due);
        lane.due.left_over.back().is_compared = true;
        lane.due.left_over.back().has_changed = has_changed;
    } else {
        note_compared(due, has_changed);
    }
}

void CompareStage::compare_left_over(const DueObject& due) {
    if (due.is_compared) {
        due.info->changelist_state().name_references(LaneIds::unnamed, all_.shadow_ids);
        note_compared(due, due.has_changed);
    } else {
        compare(due);
    }
}

void CompareStage::begin_due(ObjectIndex index) {
    if (resting_.test(index)) {
        return;
    }
    if (calendar_.is_paced(index)) {
        calendar_.wait(index);
    } else {
        due_.set(index);
    }
}

void CompareStage::force_due(ObjectIndex index) {
    if (!resting_.test(index)) {
        calendar_.cancel(index);
        due_.set(index);
    }
}

void CompareStage::force_paced(ObjectIndex index) {
    if (calendar_.is_paced(index)) {
        force_due(index);
    }
}

void CompareStage::take_due(NetTime now) {
    tolerated_.advance(now, [&](ObjectIndex index) {
        if (resting_.test(index)) {
            return false;  // it stays what it was when it fell asleep
        }
        objects_.at(index)->changelist_state().mark_exact();
        mark_due(index);
        return true;
    });
    calendar_.advance(now, [&](ObjectIndex index) {
        if (!resting_.test(index)) {
            due_.set(index);
        }
    });
    mark_validator_.validate(objects_, all_.live, resting_, world_, stats_.replication);
}

void CompareStage::update_polled(ObjectIndex index) {
    const ServerObject& info = *objects_.at(index);
    polled_.set(index, info, !info.is_torn_off() && !calendar_.is_paced(index));
}

void CompareStage::rest(ObjectIndex index) {
    resting_.insert(index);
    due_.clear(index);
}

void CompareStage::rest(const BitRow& objects) {
    resting_.merge(objects);
    due_.remove(objects);
}

void CompareStage::begin(ObjectIndex index) {
    const ObjectIndex whole = objects_.root_of(index);
    NetUpdateFrequency frequency;
    if (whole != index) {
        frequency = calendar_.frequency_of(whole);
    } else if (!class_frequencies_.empty()) {
        frequency = class_frequencies_[objects_.at(index)->layout_number()];
    }
    calendar_.set(index, frequency, value_of(whole));
    if (objects_.at(index)->changelist_state().layout().sent_within_us() != 0) {
        tolerated_.add(index, objects_.at(index)->changelist_state().layout().sent_within_us());
    }
    update_polled(index);
    force_due(index);
}

void CompareStage::set_class_frequency(const RepLayout& layout,
                                       const NetUpdateFrequency& frequency) {
    const std::uint32_t number = layouts_.number_of_added(layout);
    if (class_frequencies_.empty()) {
        class_frequencies_.resize(layouts_.count());
    }
    class_frequencies_[number] = frequency;
}

void CompareStage::set_frequency(ObjectIndex index, const NetUpdateFrequency& frequency) {
    objects_.for_each_in_family(index, [&](ObjectIndex member) {
        calendar_.set(member, frequency, value_of(index));
        update_polled(member);
        force_due(member);
    });
}

}  // namespace replayout
