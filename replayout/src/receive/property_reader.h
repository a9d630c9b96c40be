// SPDX-License-Identifier: MIT
//
// Decodes values, in one of two ways that take exactly the same steps through the bits: check,
// which writes nothing, and apply, which cannot fail on what was checked.
//
// Checking looks at the object for one thing, how many elements its arrays have: only growth takes
// memory, and so only growth is charged to the budget. Without an object, for a block that is
// thrown away, every array is empty at first and is charged in full.
#pragma once

#include <replayout/receive_properties.h>

namespace replayout {

class NotifyQueue;

class PropertyReader {
  public:
    /// To check what is to be applied to `object`, of which `state` is known. Null: to nothing, so
    /// that nothing will grow.
    PropertyReader(const RepLayout& layout, BitReader& reader, ReceiveContext& context,
                   const std::byte* object, const ReceivingRepState* state) noexcept
        : layout_(layout),
          reader_(reader),
          context_(context),
          present_(object),
          present_state_(state),
          is_skipping_(object == nullptr) {}

    /// To apply.
    PropertyReader(const RepLayout& layout, BitReader& reader, ReceiveContext& context,
                   std::byte* object, ReceivingRepState& state, NotifyQueue& notifies) noexcept
        : layout_(layout),
          reader_(reader),
          context_(context),
          object_(object),
          state_(&state),
          notifies_(&notifies) {}

    /// One block up to its end. False: malformed.
    [[nodiscard]] bool check_block();
    [[nodiscard]] bool apply_block();
    /// Found when checking: the update so far must end before the block is applied, because it
    /// does not go on behind the last part, or takes away from a keyed array that earlier parts
    /// changed, or brings back what they took away; or because its end would cost too much.
    [[nodiscard]] bool must_end_update() const noexcept {
        return must_end_update_ || context_.scratch.must_end_before(held_steps_);
    }
    /// After checking: what its keyed arrays leave to be done when the update ends, in array steps.
    [[nodiscard]] std::size_t held_steps() const noexcept { return held_steps_; }
    /// After checking a part: what it brings of its last leaf.
    [[nodiscard]] const ReceiveScratch::LeafSpan& last_span() const noexcept { return span_; }

  private:
    friend class KeyedArrayReader;
    /// Where a scope's memory is, and the way there.
    struct Place {
        std::byte* memory = nullptr;  ///< null when checking
        /// When checking: the same, null where there is none yet.
        const std::byte* present = nullptr;
        RepPath path;
        std::uint32_t depth = 0;
    };

    void read_block();
    /// Each returns whether the value in memory changed. `memory` is null where nothing is written:
    /// when checking, and for a command that is skipped.
    bool read_value(CmdIndex index, const Place& place);
    bool read_plain(const RepLayoutCmd& cmd, std::byte* memory);
    bool read_bit(const RepLayoutCmd& cmd, std::byte* memory);
    bool read_quantised_value(const RepLayoutCmd& cmd, std::byte* memory);
    bool read_string(const RepLayoutCmd& cmd, std::byte* memory);
    bool read_object(const RepLayoutCmd& cmd, const Place& place, std::byte* memory);
    bool read_struct(const RepLayoutCmd& cmd, const Place& place, std::byte* memory);
    /// The archetype's value of a struct with a NetDeltaSerializer.
    [[nodiscard]] const void* archetype_struct(const RepLayoutCmd& cmd) const noexcept;
    bool read_delta(const RepLayoutCmd& cmd, const Place& place, std::byte* memory);
    bool read_array(CmdIndex index, const Place& place, std::byte* array);
    bool read_keyed_array(CmdIndex index, const Place& place, std::byte* array);
    /// False, and failed: nothing is left of the budget for it.
    [[nodiscard]] bool begin_keyed_array(RepHandle array);
    bool check_count(const RepLayoutCmd& cmd, std::size_t old_count, std::uint64_t count);
    bool resize_array(const RepLayoutCmd& cmd, const RepScope& element, const Place& place,
                      std::byte* array, std::uint32_t count);

    [[nodiscard]] bool is_checking() const noexcept { return object_ == nullptr; }
    [[nodiscard]] static bool is_skipped(const RepLayoutCmd& cmd) noexcept {
        return has_flag(cmd.flags, RepLayoutCmdFlags::IsSkipped);
    }

    const RepLayout& layout_;
    BitReader& reader_;
    ReceiveContext& context_;
    const std::byte* present_ = nullptr;
    const ReceivingRepState* present_state_ = nullptr;
    bool is_skipping_ = false;
    bool must_end_update_ = false;
    std::size_t held_steps_ = 0;
    std::uint32_t unit_end_ = 0;     // the handle behind the unit whose arrays may begin
    ReceiveScratch::LeafSpan span_;  // when checking: of the leaf at hand
    std::byte* object_ = nullptr;
    ReceivingRepState* state_ = nullptr;
    NotifyQueue* notifies_ = nullptr;
};

}  // namespace replayout
