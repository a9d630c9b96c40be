// SPDX-License-Identifier: MIT
#include "shared_pieces.h"

namespace replayout {

OwedVersions SharedPieces::question_of(RepHandle handle, const RepLayoutCmd& cmd) const noexcept {
    if (!is_delta(cmd.type)) {
        return context_.array_position(context_.layout().root(), handle);
    }
    OwedVersions question;
    question.sent_version = context_.delta_base(handle).version;
    return question;
}

const SharedPiece& SharedPieces::keep(RepHandle handle, const RepLayoutCmd& cmd,
                                      const BitWriter& bits) const {
    ChangelistState& state = context_.state();
    const Version version = state.last_changed(handle);
    return depends_on_receiver(cmd)
               ? state.shared().keep_array(handle, version, question_of(handle, cmd), bits)
               : state.shared().keep(handle, version, bits);
}

bool SharedPieces::has_failed(RepHandle handle, const RepLayoutCmd& cmd) const noexcept {
    const ChangelistState& state = context_.state();
    // The parameters of a call are another value each time, so nothing is remembered of them.
    return state.shared().has_failures() && !is_delta(cmd.type) && !context_.is_call() &&
           state.shared().has_failed(
               handle, state.last_changed(handle),
               is_array(cmd.type) ? question_of(handle, cmd) : OwedVersions());
}

bool SharedPieces::note_failure(RepHandle handle) const {
    const RepLayout& layout = context_.layout();
    const RepLayoutCmd& cmd = layout.cmd(layout.cmd_of(layout.root(), handle));
    ChangelistState& state = context_.state();
    const bool is_kept = is_array(cmd.type) && is_shared_question(handle, cmd);
    return state.shared().note_failure(handle, state.last_changed(handle),
                                       is_kept ? question_of(handle, cmd) : OwedVersions());
}

EncodeReason SharedPieces::reason_of_miss(RepHandle handle,
                                          const RepLayoutCmd& cmd) const noexcept {
    const ChangelistState& state = context_.state();
    if (!depends_on_receiver(cmd)) {
        const std::span<const SharedPiece> pieces = state.shared().pieces();
        return pieces.empty() || pieces[handle.value - 1].version == 0 ? EncodeReason::FirstUse
                                                                       : EncodeReason::ValueChanged;
    }
    EncodeReason reason = EncodeReason::FirstUse;
    for (const SharedArrayPiece& entry : state.shared().array_pieces()) {
        if (entry.handle == handle && entry.piece.version == state.last_changed(handle)) {
            return EncodeReason::OtherPosition;
        }
        if (entry.handle == handle) {
            reason = EncodeReason::ValueChanged;
        }
    }
    return reason;
}

}  // namespace replayout
