// SPDX-License-Identifier: MIT
//
// An object of which one packet cannot hold what is owed goes to its receiver in parts, over as
// many packets as that takes. What the parts are is settled when they begin. Part of
// ObjectReplicator.
#pragma once

#include <replayout/change_mask.h>
#include <replayout/lost_parts.h>
#include <replayout/reflection/memory.h>
#include <replayout/replication_flags.h>
#include <replayout/send_properties.h>
#include <replayout/taken_owed.h>

#include <cstdint>

namespace replayout::detail {

class PartsUnderWay {
  public:
    explicit PartsUnderWay(MemoryResource* resource)
        : owed_(resource), lost_(Allocator<LostPart>(resource)) {}

    /// `owed` goes in parts to a receiver that is `flags` to the object. The lost parts that
    /// `taken` lends are copied.
    void begin(const TakenOwed& taken, const ChangeMask& owed, const ReplicationFlags& flags);
    /// Writes the next part, which `range` becomes. ValueTooLarge: the value at `range` is the
    /// large value from now on.
    [[nodiscard]] SentBlock write_next(ChangelistState& object, BitWriter& writer,
                                       SendContext& context, RepRange& range);
    /// No further part goes out.
    void end() noexcept { is_under_way_ = false; }

    [[nodiscard]] bool is_under_way() const noexcept { return is_under_way_; }
    [[nodiscard]] bool has_any_left() const noexcept;
    [[nodiscard]] const ChangeMask& owed() const noexcept { return owed_; }
    /// The flags of the receiver when the parts began.
    [[nodiscard]] const ReplicationFlags& flags() const noexcept { return flags_; }
    /// Everything that was taken for the parts. Its lost parts are a loan, until begin().
    [[nodiscard]] TakenOwed taken() const noexcept;
    /// The position that all parts are written for, with the same loan.
    [[nodiscard]] OwedVersions position() const noexcept { return taken().position; }
    /// Appends the losses that have to be noted if no further part goes out. The object was taken
    /// at `version`.
    void collect_unsent(Version version, Vector<LostPart>& unsent) const;

    /// A value, or an atomic group, that no packet holds was found, and was not taken yet.
    [[nodiscard]] bool has_large_value() const noexcept { return has_large_value_; }
    /// The handles of the last one.
    [[nodiscard]] const RepRange& large_value() const noexcept { return large_value_; }
    void take_large_value() noexcept { has_large_value_ = false; }
    /// Calls `visit(handle)` for each value that is owed within the large value.
    template <typename Visitor>
    void for_each_in_large_value(Visitor visit) const {
        for (std::uint32_t bit = owed_.next(large_value_.handle_begin - 1);
             bit + 1 < large_value_.handle_end; bit = owed_.next(bit + 1)) {
            visit(RepHandle{bit + 1});
        }
    }

  private:
    ChangeMask owed_;
    TakenOwed taken_;  // its lost parts are `lost_`, see taken()
    Vector<LostPart> lost_;
    ReplicationFlags flags_;
    RepCursor cursor_;
    RepRange large_value_;
    bool is_under_way_ = false;
    bool has_large_value_ = false;
};

}  // namespace replayout::detail
