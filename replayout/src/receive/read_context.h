// SPDX-License-Identifier: MIT
//
// What the readers of one block share: the bits, the object that they are read into or checked
// for, and what the check finds out.
#pragma once

#include <replayout/bit_reader.h>
#include <replayout/receive_properties.h>

#include <cstddef>
#include <cstdint>

namespace replayout {

class NotifyQueue;

/// Where the memory of a scope is, and the way there.
struct ReadPosition {
    std::byte* memory = nullptr;  ///< null when checking
    /// When checking: the same, null where there is none yet.
    const std::byte* present = nullptr;
    RepPath path;
    std::uint32_t depth = 0;
};

[[nodiscard]] inline bool is_skipped(const RepLayoutCmd& cmd) noexcept {
    return has_flag(cmd.flags, RepLayoutCmdFlags::IsSkipped);
}

class ReadContext {
  public:
    /// To check what is to be applied to `object`, of which `state` is known. Null: to nothing, so
    /// that nothing will grow.
    ReadContext(const RepLayout& layout, BitReader& reader, ReceiveContext& receiving,
                const std::byte* object, const ReceivingRepState* state) noexcept
        : layout_(layout),
          reader_(reader),
          receiving_(receiving),
          present_(object),
          present_state_(state),
          is_skipping_(object == nullptr) {}

    /// To apply.
    ReadContext(const RepLayout& layout, BitReader& reader, ReceiveContext& receiving,
                std::byte* object, ReceivingRepState& state, NotifyQueue& notifies) noexcept
        : layout_(layout),
          reader_(reader),
          receiving_(receiving),
          object_(object),
          state_(&state),
          notifies_(&notifies) {}
    ReadContext(const ReadContext&) = delete;
    ReadContext& operator=(const ReadContext&) = delete;

    [[nodiscard]] const RepLayout& layout() const noexcept { return layout_; }
    [[nodiscard]] BitReader& reader() const noexcept { return reader_; }
    [[nodiscard]] ReceiveContext& receiving() const noexcept { return receiving_; }
    [[nodiscard]] detail::ReceiveParts& parts() const noexcept { return parts_; }

    /// Nothing is written.
    [[nodiscard]] bool is_checking() const noexcept { return object_ == nullptr; }
    /// Nothing will be written of what is checked, either.
    [[nodiscard]] bool is_skipping() const noexcept { return is_skipping_; }
    /// Where the object is; of a scope within it see ReadPosition.
    [[nodiscard]] ReadPosition position() const noexcept {
        ReadPosition position;
        position.memory = object_;
        position.present = present_;
        return position;
    }
    /// When checking; null when skipping.
    [[nodiscard]] const ReceivingRepState* present_state() const noexcept { return present_state_; }
    /// When applying.
    [[nodiscard]] ReceivingRepState& state() const noexcept { return *state_; }
    [[nodiscard]] NotifyQueue& notifies() const noexcept { return *notifies_; }

    // What the check finds out.

    /// What the block brings of the leaf at hand; after the check of a part, of its last leaf.
    [[nodiscard]] detail::LeafSpan& span() noexcept { return span_; }
    /// The update so far must end before the block is applied, if `must_end`: because it does not
    /// go on after the last part, or takes away from a keyed array that earlier parts changed, or
    /// brings back what they took away; or because its end would cost too much.
    void end_update_before(bool must_end) noexcept { must_end_update_ |= must_end; }
    [[nodiscard]] bool must_end_update() const noexcept {
        return must_end_update_ || parts_.update.must_end_before(held_steps_);
    }
    /// What the keyed arrays of the block leave to be done when the update ends, in array steps.
    void add_held_steps(std::size_t steps) noexcept { held_steps_ += steps; }
    [[nodiscard]] std::size_t held_steps() const noexcept { return held_steps_; }

    /// The keyed array at a handle of the object is about to be read. False, and failed: nothing is
    /// left of the budget for it. A sender cannot cut an atomic group, so it may be more than is
    /// granted, and goes alone then: only its first array asks. Which arrays of a layout that was
    /// described are in one is not known here, so there that is all of a block.
    [[nodiscard]] bool begin_keyed_array(RepHandle array) {
        if (array.value < unit_end_) {
            return !reader_.failed();
        }
        const RepGroup* group = layout_.find_group(layout_.root(), array);
        unit_end_ = group == nullptr ? array.value + 1u : group->handle_end;
        if (layout_.is_receive_only()) {
            unit_end_ = layout_.handle_count() + 1;
        }
        return reader_.begin_keyed_array();
    }

  private:
    const RepLayout& layout_;
    BitReader& reader_;
    ReceiveContext& receiving_;
    detail::ReceiveParts& parts_ = parts_of(receiving_.scratch);
    const std::byte* present_ = nullptr;
    const ReceivingRepState* present_state_ = nullptr;
    bool is_skipping_ = false;
    bool must_end_update_ = false;
    std::size_t held_steps_ = 0;
    std::uint32_t unit_end_ = 0;  // the handle after the unit whose arrays may begin
    detail::LeafSpan span_;
    std::byte* object_ = nullptr;
    ReceivingRepState* state_ = nullptr;
    NotifyQueue* notifies_ = nullptr;
};

}  // namespace replayout
