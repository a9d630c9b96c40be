// SPDX-License-Identifier: MIT
//
// What one connection is owed of one object, in twelve bytes: the per-connection shadow state.
//
// It is exact by value and not by copy. The object keeps, once for all connections, a version
// counter and per property the version of its last change. A connection only says up to which
// version it was sent everything, and which span of versions was lost on the way:
//
//     versions   1   2   3   4   5   6   7   8   9
//                            (lost........]           after = 3, through = 6
//                                            ^ sent_version = 7
//
//     owed: properties that last changed in 4..6, and those that last changed in 8..9
//
// The rules, which tests/replayout/owed/sending_rep_state_model_test.cpp checks exhaustively:
//
// * sent_version only grows. Sending sends current values, raises it to the object's version,
//   and moves the lost interval into the sent record.
// * A loss sets the lost interval to the hull of itself and of what the record had sent and
//   taken along. So what newer packets in flight carry is not repeated, and a loss costs what
//   that packet held. (Rejected: lowering sent_version to the record's start. It sends again
//   what newer packets carry, and it makes a state with packets in flight look exact.)
// * The state is exact when nothing is lost and nothing is in flight: then the connection
//   holds, of each property, its value at sent_version.
//
// The lost interval lies within (0, sent_version], and is emptied whenever sent_version grows. So
// it is kept as two distances back from there, of sixteen bits each. What lies further back than
// they reach is widened: its end to the greatest distance, its beginning to 0. More is owed then
// than was lost, which is always safe; it takes an object that changed 65,535 times meanwhile.
#pragma once

#include <replayout/reflection/diagnostics.h>

#include <algorithm>
#include <cstdint>

namespace replayout {

/// Counts the changes of one object; 0 is its archetype.
using Version = std::uint32_t;

/// The versions after < v <= through. Empty when both are equal.
struct VersionInterval {
    Version after = 0;
    Version through = 0;

    [[nodiscard]] constexpr bool is_empty() const noexcept { return after == through; }
    [[nodiscard]] constexpr bool contains(Version version) const noexcept {
        return version > after && version <= through;
    }

    friend constexpr bool operator==(const VersionInterval&,
                                     const VersionInterval&) noexcept = default;
};

/// The smallest interval that contains both; an empty one adds nothing.
[[nodiscard]] constexpr VersionInterval hull(VersionInterval left, VersionInterval right) noexcept {
    if (left.is_empty()) {
        return right;
    }
    if (right.is_empty()) {
        return left;
    }
    return {std::min(left.after, right.after), std::max(left.through, right.through)};
}

/// What one packet carried of one object, kept by its sender until the packet is delivered or lost.
struct SentVersions {
    VersionInterval sent;  ///< what was new: (sent_version before, version sent]
    VersionInterval lost;  ///< what was lost before and taken along
};

/// See the head of this file. A value; belongs to the connection that sends. `distance_max` is the
/// greatest distance that is kept: SendingRepState's, or less for a test of what happens there.
template <std::uint16_t distance_max>
class BasicSendingRepState {
    static_assert(distance_max > 0);

  public:
    Version sent_version = 0;       ///< the functions below raise it; nobody else does
    std::uint16_t in_flight = 0;    ///< records of this pair that are neither delivered nor lost
    std::uint16_t holder_bits = 0;  ///< the holder's own; the rules here do not look at it

    /// What was lost and not sent again. Contains what it was told, and may contain more, see the
    /// head of this file.
    [[nodiscard]] constexpr VersionInterval lost() const noexcept {
        if (lost_after_ == 0) {
            return {};
        }
        return {lost_after_ == distance_max ? 0 : sent_version - lost_after_,
                sent_version - lost_through_};
    }

    /// Whether a property that last changed at `last_changed` (0: never) must be sent.
    [[nodiscard]] constexpr bool owes(Version last_changed) const noexcept {
        return last_changed > sent_version || lost().contains(last_changed);
    }

    /// Whether anything can be owed of an object at `version`; but for conditions that the receiver
    /// begins to meet, of which the pair knows nothing.
    [[nodiscard]] constexpr bool owes_any(Version version) const noexcept {
        return version > sent_version || lost_after_ != 0;
    }

    [[nodiscard]] constexpr bool is_exact() const noexcept {
        return lost_after_ == 0 && in_flight == 0;
    }

    /// Everything owed at `version` goes into a packet now. The record is to be kept with the
    /// packet.
    [[nodiscard]] constexpr SentVersions send(Version version) noexcept {
        const SentVersions record = take_owed(version);
        send_part();
        return record;
    }

    /// The same for an object that is cut into parts: what is owed is taken here, once, and
    /// send_part() is called for each packet that carries a part of it. The one record goes with
    /// all of them.
    [[nodiscard]] constexpr SentVersions take_owed(Version version) noexcept {
        REPLAYOUT_ASSERT(version >= sent_version);
        const SentVersions record{{sent_version, version}, lost()};
        sent_version = version;
        set_lost({});
        return record;
    }
    constexpr void send_part() noexcept {
        REPLAYOUT_ASSERT(in_flight != 0xFFFFu);
        ++in_flight;
    }

    /// Of an object at `version` nothing is owed, so nothing is sent: what is new is hidden from
    /// this receiver, or held by it already. Without it such a pair would never come to rest.
    constexpr void skip(Version version) noexcept {
        REPLAYOUT_ASSERT(version >= sent_version);
        sent_version = version;
        set_lost({});
    }

    /// Whoever keeps this state sent everything up to `version` without asking it, and keeps the
    /// records. Requires that nothing was lost.
    constexpr void catch_up(Version version) noexcept {
        REPLAYOUT_ASSERT(version >= sent_version && lost_after_ == 0);
        sent_version = version;
    }

    /// What is left of what take_owed() took is not sent after all.
    constexpr void return_unsent(const SentVersions& record) noexcept {
        set_lost(hull(lost(), hull(record.sent, record.lost)));
    }

    /// The packet with one record of this pair arrived.
    constexpr void delivered() noexcept {
        REPLAYOUT_ASSERT(in_flight > 0);
        --in_flight;
    }

    /// The packet with this record was lost.
    constexpr void lose(const SentVersions& record) noexcept {
        REPLAYOUT_ASSERT(in_flight > 0);
        --in_flight;
        set_lost(hull(lost(), hull(record.sent, record.lost)));
    }

    /// The open was lost, so the receiver dropped everything it was sent so far. To be called as
    /// soon as that is known; the open then goes out before anything else of this object.
    /// (Rejected: when the open is delivered. Until then the state can look exact, of values never
    /// taken.)
    constexpr void lose_everything() noexcept { set_lost(hull(lost(), {0, sent_version})); }

    /// The channel is opened again over an object at `version` that the receiver kept: all that
    /// ever changed is owed. (Rejected: sent_version = 0 and nothing lost. That looks exact, so a
    /// property that is back at its first value would owe nothing, whatever the receiver holds.)
    constexpr void reopen(Version version) noexcept {
        REPLAYOUT_ASSERT(version >= sent_version);
        sent_version = version;
        set_lost({0, version});
    }

    /// A version whose values the receiver is known to hold; what to remember when a condition
    /// turns false. (Not sent_version: what is in flight then can be lost, and go out without
    /// them.)
    [[nodiscard]] constexpr Version held_version() const noexcept {
        return is_exact() ? sent_version : 0;
    }

    /// A condition holds again that hid properties from this connection; `last_active` is what
    /// held_version() was when it turned false, or 0.
    constexpr void activate_condition(Version last_active) noexcept {
        set_lost(hull(lost(), {std::min(last_active, sent_version), sent_version}));
    }

  protected:
    /// `lost` must lie within (0, sent_version]; what is kept contains it.
    constexpr void set_lost(VersionInterval lost) noexcept {
        REPLAYOUT_ASSERT(lost.is_empty() ||
                         (lost.after < lost.through && lost.through <= sent_version));
        lost_after_ = lost.is_empty() ? std::uint16_t{0} : distance_to(lost.after);
        lost_through_ = lost.is_empty() ? std::uint16_t{0} : distance_to(lost.through);
    }

  private:
    [[nodiscard]] constexpr std::uint16_t distance_to(Version version) const noexcept {
        return static_cast<std::uint16_t>(std::min<Version>(sent_version - version, distance_max));
    }

    // Back from sent_version; see lost().
    std::uint16_t lost_after_ = 0;  // 0: nothing is lost; distance_max: it begins at 0
    std::uint16_t lost_through_ = 0;
};

using SendingRepState = BasicSendingRepState<0xFFFF>;

static_assert(sizeof(SendingRepState) == 12,
              "docs/architecture.md promises at most 16 bytes a pair, all that scales with them");

}  // namespace replayout
