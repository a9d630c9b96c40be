// SPDX-License-Identifier: MIT
//
// How far a client is as the owner of a component of SyncDirection::ClientToServer: it decides
// nothing before the server sent it the state of the component, with the epoch of its ownership
// (sync_section.h). A part of the library itself.
#pragma once

#include <cstddef>
#include <cstdint>

namespace replayout::detail {

class OwnerProgress {
  public:
    /// The ownership under which the server sent the state; 0: none.
    [[nodiscard]] std::uint32_t epoch() const noexcept { return epoch_; }
    /// SyncVars that arrived as they are sent to all but the owner, since this client became the
    /// owner.
    [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
    /// The server sent the state before this client was the owner.
    [[nodiscard]] bool is_state_missed() const noexcept { return is_state_missed_; }

    void note_received(std::uint32_t variable) noexcept {
        received_ |= std::uint64_t{1} << variable;
    }
    void forget_received() noexcept { received_ = 0; }
    /// The state arrived under that epoch. With epoch 0 it is that of an ownership that is over.
    void begin(std::uint32_t epoch) noexcept {
        epoch_ = epoch;
        is_state_missed_ = false;
    }
    void end() noexcept { epoch_ = 0; }
    void miss_state() noexcept { is_state_missed_ = true; }
    /// This client asked for the state that it missed, if there was any.
    void state_requested() noexcept { is_state_missed_ = false; }
    /// The object is shown anew.
    void reset() noexcept {
        received_ = 0;
        epoch_ = 0;
        is_state_missed_ = false;
    }

    /// The offset of the epoch, which travels as a part of a section.
    [[nodiscard]] static constexpr std::size_t epoch_offset() noexcept {
        return offsetof(OwnerProgress, epoch_);
    }

  private:
    std::uint64_t received_ = 0;
    std::uint32_t epoch_ = 0;
    bool is_state_missed_ = false;
};

}  // namespace replayout::detail
