// SPDX-License-Identifier: MIT
//
// Judges what one client shows of the server's crafts: no value that never was (I2), none that goes
// back (I3), atomic structs whole (I4), and notifies that tell what changed (I5).
#pragma once

#include "simulation/history.h"
#include "simulation/judges/verdict.h"
#include "simulation/trace_digest.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace replayout::test {

class ValueJudge {
  public:
    ValueJudge(const Histories& histories, Verdict& verdict, TraceDigest& digest)
        : histories_(histories), verdict_(verdict), digest_(digest) {}

    void shown(ObjectHandle handle, std::uint32_t number);
    void hidden(ObjectHandle handle);
    /// It may hold something else from now on.
    void touched(ObjectHandle handle) { touched_.insert(handle); }
    void notified(const Craft& craft, Slot slot, std::uint64_t previous);
    /// All that was touched since the last time. `number_of` a handle of this client.
    void check(CraftWorld& world);
    /// When nothing changes any more: each change was told.
    void check_told(const CraftWorld& world);

    /// 0: it is not shown.
    [[nodiscard]] std::uint32_t number_of(ObjectHandle handle) const;
    [[nodiscard]] std::size_t shown_count() const noexcept { return views_.size(); }
    [[nodiscard]] std::uint64_t values_judged() const noexcept { return values_judged_; }
    [[nodiscard]] std::uint64_t notifies_judged() const noexcept { return notifies_judged_; }

    /// Called with each value that is seen and was not before.
    std::function<void(std::uint32_t number, Slot slot, std::uint64_t value)> on_seen;

  private:
    struct Seen {
        std::size_t position = 0;
        std::uint64_t value = 0;
    };
    struct View {
        std::uint32_t number = 0;
        std::map<Slot, Seen> seen;
        std::map<Slot, std::uint64_t> told;  // by notifies
    };

    void check_craft(View& view, const Craft& craft);
    void check_slot(View& view, const CraftHistory& history, Slot slot, std::uint64_t value);

    const Histories& histories_;
    Verdict& verdict_;
    TraceDigest& digest_;
    std::map<ObjectHandle, View> views_;
    std::set<ObjectHandle> touched_;
    std::uint64_t values_judged_ = 0;
    std::uint64_t notifies_judged_ = 0;
};

}  // namespace replayout::test
