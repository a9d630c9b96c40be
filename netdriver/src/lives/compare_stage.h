// SPDX-License-Identifier: MIT
//
// Phase A of a flush: what is due is compared, a word of a row of objects at a time. Most polled
// objects did not change, which a look at their values tells. The others are listed, and compared
// one by one.
//
//     due        1 1 1 0 1 1 1 1 | ...          one lane, or each lane its words (LaneWords)
//     changed    0 1 0 . 0 0 . 0 | ...          of those that are polled (PolledObjects)
//     listed       x         x
//
// What a lane may not do it leaves over: after the lanes the driver's thread does it, in the order
// of the objects.
//
// An object with a frequency of its own waits in the calendar between its turns. An object that is
// dormant for every client rests: it is not compared.
#pragma once

#include <replayout/netdriver/net_update_frequency.h>
#include <replayout/netdriver/time.h>
#include <replayout/reflection/memory.h>

#include "bit_row.h"
#include "due_objects.h"
#include "mark_validator.h"
#include "polled_objects.h"
#include "server_environment.h"
#include "server_lane.h"
#include "server_objects.h"
#include "tolerated_changes.h"
#include "update_calendar.h"

#include <cstdint>

namespace replayout {

class CompareStage {
  public:
    CompareStage(const ServerEnvironment& environment, ServerObjects& objects, ServerLanes& lanes);
    CompareStage(const CompareStage&) = delete;
    CompareStage& operator=(const CompareStage&) = delete;

    /// Lists the objects whose turn it is, and looks for marks that the game forgot.
    void take_due(NetTime now);
    /// Compares them. What changed stands in ServerObjects::changes.
    void run();

    /// A new object, or a part that was attached to its outer: it has the frequency of its class,
    /// or of its outer, and is compared in the next flush.
    void begin(ObjectIndex index);
    /// The object is compared at its turn, or in the next flush, unless it rests.
    void mark_due(ObjectIndex index) {
        if (!due_.test(index)) [[unlikely]] {  // by the first of many marks
            begin_due(index);
        }
    }
    /// The object is compared in the next flush, unless it rests.
    void force_due(ObjectIndex index);
    /// The same, but only for an object with a frequency of its own. The others are due anyway.
    void force_paced(ObjectIndex index);
    /// Decides again whether a look at the object is enough as long as it does not change.
    void update_polled(ObjectIndex index);

    /// Objects that are dormant for every client.
    [[nodiscard]] const BitRow& resting() const noexcept { return resting_; }
    void rest(ObjectIndex index);
    void rest(const BitRow& objects);
    /// The object is compared again, from the next flush on.
    void end_rest(ObjectIndex index) {
        resting_.erase(index);
        force_due(index);
    }

    /// Requires a layout of the driver.
    void set_class_frequency(const RepLayout& layout, const NetUpdateFrequency& frequency);
    /// Sets that of an object and its parts. Requires an object that is no part.
    void set_frequency(ObjectIndex index, const NetUpdateFrequency& frequency);
    [[nodiscard]] const UpdateCalendar& calendar() const noexcept { return calendar_; }

  private:
    void begin_due(ObjectIndex index);
    /// Compares what is due among these words of the row: `changed(due)` for each object that was
    /// compared and changed, and `compare(due)` for each other object that may have changed.
    template <typename Changed, typename Compare>
    void compare_by_words(ServerLane& lane, LaneRange words, Changed changed, Compare compare);
    void compare(const DueObject& due);
    /// Compares its values, and nothing else.
    [[nodiscard]] bool update(const DueObject& due, PackageMap& ids, NetStats& stats);
    void note_compared(const DueObject& due, bool has_changed);
    /// Returns how many were due.
    std::uint64_t compare_in_lanes();
    void compare_in_lane(ServerLane& lane, const DueObject& due);
    void note_compared_in_lane(ServerLane& lane, const DueObject& due, bool has_changed,
                               bool has_missed_ids);
    /// Compares what a lane left to the driver's thread.
    void compare_left_over(const DueObject& due);

    const LayoutTable& layouts_;
    NetWorld& world_;
    NetGUIDCache& guids_;
    NetStats& stats_;
    ServerObjects& all_;
    ObjectStore& objects_;
    ServerLanes& lanes_;
    BitRow due_;      // to be compared: those that are polled, and those that were marked, in turn
    BitRow resting_;  // dormant for every client
    UpdateCalendar calendar_;  // of the due objects, those of which it is not the turn
    Vector<NetUpdateFrequency> class_frequencies_;  // by layout number; empty while none is set
    NumberBitRow compared_alone_;                   // layouts, by number
    PolledObjects polled_;                          // of live ones
    ToleratedChanges tolerated_;
    MarkValidator mark_validator_;
};

}  // namespace replayout
