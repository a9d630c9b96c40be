// SPDX-License-Identifier: MIT
//
// The pieces that an object's SharedSerialization keeps, as they serve one receiver: a piece of a
// value answers all receivers; one of an array or of a delta, those that ask the same question.
#pragma once

#include <replayout/shared_serialization.h>

#include "write_context.h"

namespace replayout {

class SharedPieces {
  public:
    explicit SharedPieces(const WriteContext& context) noexcept : context_(context) {}

    /// A piece of the value may be kept for other receivers.
    [[nodiscard]] bool may_keep(RepHandle handle, const RepLayoutCmd& cmd) const noexcept {
        return has_flag(cmd.flags, RepLayoutCmdFlags::IsSharedSerialization) &&
               is_shared_question(handle, cmd);
    }
    /// Null when there is none, and when sharing is off.
    [[nodiscard]] const SharedPiece* find(RepHandle handle,
                                          const RepLayoutCmd& cmd) const noexcept {
        if (!context_.sending().shares_pieces() || !is_shared_question(handle, cmd)) {
            return nullptr;
        }
        const ChangelistState& state = context_.state();
        const Version version = state.last_changed(handle);
        return depends_on_receiver(cmd)
                   ? state.shared().find_array(handle, version, question_of(handle, cmd))
                   : state.shared().find(handle, version);
    }
    /// Keeps `bits` as the piece.
    const SharedPiece& keep(RepHandle handle, const RepLayoutCmd& cmd, const BitWriter& bits) const;

    /// There is no piece because the value could not be written for another receiver.
    [[nodiscard]] bool has_failed(RepHandle handle, const RepLayoutCmd& cmd) const noexcept;
    /// The value cannot be written, for any receiver that asks the same. False: that was known from
    /// another receiver.
    [[nodiscard]] bool note_failure(RepHandle handle) const;

    /// Why there is no piece of the value.
    [[nodiscard]] EncodeReason reason_of_miss(RepHandle handle,
                                              const RepLayoutCmd& cmd) const noexcept;

  private:
    /// The bits of the value depend on what the receiver holds.
    [[nodiscard]] static bool depends_on_receiver(const RepLayoutCmd& cmd) noexcept {
        return is_array(cmd.type) || is_delta(cmd.type);
    }
    /// No other receiver lost the same in several places, and the list of these places is only
    /// lent.
    [[nodiscard]] bool is_shared_question(RepHandle handle,
                                          const RepLayoutCmd& cmd) const noexcept {
        return !is_array(cmd.type) ||
               context_.array_position(context_.layout().root(), handle).lost_parts.empty();
    }
    /// The question that a piece answers, if the value depends on the receiver.
    [[nodiscard]] OwedVersions question_of(RepHandle handle,
                                           const RepLayoutCmd& cmd) const noexcept;

    const WriteContext& context_;
};

}  // namespace replayout
