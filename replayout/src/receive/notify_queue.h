// SPDX-License-Identifier: MIT
//
// Whom an update concerns, and when: notifies and hooks run when all of it is written.
#pragma once

#include <replayout/receive_properties.h>

#include <cstddef>
#include <cstdint>

namespace replayout {

/// Keeps previous values of properties with a notify, and runs notifies and hooks: of one update,
/// which may have begun with an earlier part.
class NotifyQueue {
  public:
    NotifyQueue(const RepLayout& layout, std::byte* object, const ReceivingRepState& state,
                const ReceiveContext& context);
    ~NotifyQueue();
    NotifyQueue(const NotifyQueue&) = delete;
    NotifyQueue& operator=(const NotifyQueue&) = delete;

    /// Values are about to be written: calls pre_net_receive, the first time in the update.
    void begin();
    /// More parts follow: keeps what there is for the last one. `last_span` is where this one
    /// ended, which the next must go on from.
    /// `held_steps`: what of it is to be done in the end.
    void hold(const detail::LeafSpan& last_span, std::size_t held_steps) {
        update_.hold(last_span, held_steps);
        is_held_ = true;
    }
    /// A leaf of the parent is about to be written.
    void before_write(ParentIndex parent) {
        update_.old_values().before_write(layout_, parent, object_);
    }
    /// ... and it did change.
    void mark_changed(ParentIndex parent) noexcept {
        update_.old_values().mark_changed(layout_, parent);
    }
    /// So did an element of a keyed array.
    void mark_element_changed(CmdIndex array, std::uint64_t key) {
        update_.keyed_changes().add(array, detail::ElementChange::Changed, key);
    }
    /// All values are written: calls post_net_receive, the notifies that are due, in order of
    /// declaration, and post_rep_notifies, or lets them wait. Nothing where nothing began.
    void run();

  private:
    const RepLayout& layout_;
    std::byte* object_;
    const ReceivingRepState& state_;
    detail::UpdateUnderWay& update_;
    detail::WaitingUpdates& waiting_;
    bool waits_;
    bool is_held_ = false;
};

}  // namespace replayout
