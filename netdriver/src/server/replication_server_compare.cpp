// SPDX-License-Identifier: MIT
//
// Phase A of a flush: what is due is compared, a word of a row of objects at a time. Of those that
// are polled most did not change, which a look at their values tells; the others are listed, and
// asked one by one.
//
//     due        1 1 1 0 1 1 1 1 | ...          one lane, or each lane its words (WordShares)
//     changed    0 1 0 . 0 0 . 0 | ...          of those that are polled (PolledObjects)
//     listed       x         x
//
// What a lane may not do it leaves over: behind the lanes the driver's thread does it, in the order
// of the objects.
#include "refusal_text.h"
#include "replication_server_client.h"

#include <algorithm>
#include <bit>

namespace replayout {

RefusalText ReplicationServer::without_memory(const char* function,
                                              std::uint32_t index) const noexcept {
    RefusalText text;
    text.append("%s: object_memory() of the world is null for ", function);
    append_object(text, objects_, objects_.id_at(index));
    text.append(", handle %llu: call remove_object() before its memory goes",
                static_cast<unsigned long long>(objects_.at(index)->object().value));
    return text;
}

inline void ReplicationServer::note_compared(const DueObject& due, bool has_changed) {
    const ChangelistState& state = due.info->changelist_state();
    if (has_changed) {
        changes_.objects.set(due.index);
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

inline bool ReplicationServer::update(const DueObject& due, PackageMap& ids, NetStats& stats) {
    REPLAYOUT_EXPECT(due.memory != nullptr, false, "%s",
                     without_memory("tick_flush", due.index).c_str());
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

inline void ReplicationServer::compare(const DueObject& due) {
    note_compared(due, update(due, shadow_ids_, stats_));
}

template <typename Changed, typename Compare>
void ReplicationServer::compare_by_rows(ServerLane& lane, LaneShare words, Changed changed,
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
        BitRow::for_each_in_word(word, (due & ~polled) | found.changed, [&](std::uint32_t index) {
            const std::uint32_t bit = index & 63;
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

void ReplicationServer::compare_due_objects() {
    ++changes_.flush;
    polled_.begin(guids_.binding_count());
    std::uint64_t due_count = 0;
    if (is_worth_lanes(lanes_.count() > 1 ? due_.count() : 0)) {
        due_count = compare_in_lanes();
    } else {
        ServerLane& lane = lanes_[0];
        compare_by_rows(
            lane, {0, due_.word_count()},
            [this](const DueObject& due) { note_compared(due, true); },
            [this](const DueObject& due) { compare(due); });
        due_count = lane.due.count;
    }
    stats_.replication.objects_skipped += objects_.object_count() - due_count;
}

// A lane's marks of its objects are bits of rows that all lanes write, so words are its own.
std::uint64_t ReplicationServer::compare_in_lanes() {
    const WordShares words(due_, lanes_.count());
    lanes_.run([&](std::uint32_t i) {
        ServerLane& lane = lanes_[i];
        compare_by_rows(
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
        lane_due.left_over_room.note(lane_due.left_over.size());
        lane_due.left_over.clear();
    }
    return due_count;
}

void ReplicationServer::compare_in_lane(ServerLane& lane, const DueObject& due) {
    if (compared_alone_.test(due.info->layout_number())) {
        lane.due.left_over.push_back(due);
        return;
    }
    const bool has_changed = update(due, lane.ids, lane.stats);
    note_compared_in_lane(lane, due, has_changed, lane.ids.take_missed());
}

inline void ReplicationServer::note_compared_in_lane(ServerLane& lane, const DueObject& due,
                                                     bool has_changed, bool has_missed_ids) {
    if (has_missed_ids || calendar_.is_paced(due.index)) {
        lane.due.left_over.push_back(due);
        lane.due.left_over.back().is_compared = true;
        lane.due.left_over.back().has_changed = has_changed;
    } else {
        note_compared(due, has_changed);
    }
}

void ReplicationServer::compare_left_over(const DueObject& due) {
    if (due.is_compared) {
        due.info->changelist_state().name_references(LaneIds::unnamed, shadow_ids_);
        note_compared(due, due.has_changed);
    } else {
        compare(due);
    }
}

bool ReplicationServer::is_compared_alone(const RepLayout& layout) noexcept {
    const std::span<const RepLayoutCmd> cmds = layout.cmds();
    return layout.has_keyed_arrays() &&
           std::any_of(cmds.begin(), cmds.end(), [](const RepLayoutCmd& cmd) {
               return cmd.type == RepLayoutCmdType::Object;
           });
}

}  // namespace replayout
