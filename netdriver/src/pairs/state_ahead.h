// SPDX-License-Identifier: MIT
//
// The state of one object that goes ahead of a call, reliably, because the call could wait for it
// for ever. The initial batch waits in the same way for an object whose blocks keep getting lost.
//
// A call goes in one packet with all that changed since the client's copy was complete
// (CompleteVersions). Where that does not fit, the call waits until the copy is complete as of the
// call. While the object keeps changing and packets keep getting lost, that may never be: what was
// lost goes again beside what is new, and one of the packets under way is lost each time. So:
//
//     HeldBack    a call waits for state that cannot go     the object goes as before
//                 with it
//     Draining    it still waits after two rounds           no value too large for a packet begins
//     Going       no such value is under way                everything since the complete version
//                                                           is sent as such values are; what is
//                                                           under way goes no other way
//     (arrived)   the copy is complete as of version()      the call goes
//
// A round is over when all that was under way when it began has arrived or was lost. An object with
// deltas sends nothing once none of its values is under way, and goes when no record of it is, as a
// delta begins where the client stands.
#pragma once

#include <replayout/reflection/diagnostics.h>
#include <replayout/sending_rep_state.h>

#include <cstdint>

namespace replayout {

class StateAhead {
  public:
    [[nodiscard]] bool is_on() const noexcept { return stage_ != Stage::Off; }
    /// Values too large for a packet may begin.
    [[nodiscard]] bool may_begin_values() const noexcept { return stage_ <= Stage::HeldBack; }
    [[nodiscard]] bool is_draining() const noexcept { return stage_ == Stage::Draining; }
    [[nodiscard]] bool is_going() const noexcept { return stage_ == Stage::Going; }

    /// A call waits for the object, of which so many records and values that travel reliably are
    /// under way.
    void held_back(std::uint32_t records, std::uint32_t values) noexcept {
        if (stage_ == Stage::Off) {
            stage_ = Stage::HeldBack;
            // One record more in each round: the state of the call may not have been sent yet.
            records_left_ = 2 * (records + 1);
            values_left_ = 2 * values;
        }
    }
    void record_resolved() noexcept {
        records_left_ -= records_left_ > 0 ? 1u : 0u;
        end_rounds();
    }
    /// `is_last`: no other one is under way.
    void value_resolved(bool is_last) noexcept {
        values_left_ = is_last || values_left_ == 0 ? 0 : values_left_ - 1;
        end_rounds();
    }
    /// The state is owed, and is to go out. Requires is_draining().
    void go() noexcept {
        REPLAYOUT_ASSERT(is_draining());
        *this = {};
        stage_ = Stage::Going;
    }
    /// All handles before `next_handle` have been sent. The first call sets version(), later ones
    /// keep it. `is_all`: no handle is left. Requires is_going().
    void sent(Version version, std::uint32_t next_handle, bool is_all) noexcept {
        REPLAYOUT_ASSERT(is_going());
        version_ = version_ == 0 ? version : version_;
        next_handle_ = next_handle;
        is_all_sent_ = is_all;
    }
    /// What is owed went with a call, in a packet that may be lost. If it was to go from here, what
    /// was sent so far does not make the copy complete.
    void overtaken() noexcept {
        if (is_going() && !is_all_sent_) {
            stop();
        }
    }
    /// No call needs it, or the client is to see more than was sent.
    void stop() noexcept { *this = {}; }

    [[nodiscard]] bool is_all_sent() const noexcept { return is_all_sent_; }
    /// The client will have no older value than at this version. 0: nothing was sent yet.
    [[nodiscard]] Version version() const noexcept { return version_; }
    [[nodiscard]] std::uint32_t next_handle() const noexcept { return next_handle_; }

  private:
    enum class Stage : std::uint8_t { Off, HeldBack, Draining, Going };

    void end_rounds() noexcept {
        if (stage_ == Stage::HeldBack && records_left_ == 0 && values_left_ == 0) {
            stage_ = Stage::Draining;
        }
    }

    std::uint32_t records_left_ = 0;  // of the two rounds
    std::uint32_t values_left_ = 0;
    Version version_ = 0;
    std::uint32_t next_handle_ = 1;
    Stage stage_ = Stage::Off;
    bool is_all_sent_ = false;
};

}  // namespace replayout
