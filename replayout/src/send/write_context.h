// SPDX-License-Identifier: MIT
//
// What all writers of one object share: the object, the receiver that it is written for, the value
// that is being written, and what becomes known of that value.
#pragma once

#include <replayout/delta_states.h>
#include <replayout/send_properties.h>

#include <cstddef>
#include <optional>

namespace replayout {

class WriteContext {
  public:
    WriteContext(ChangelistState& state, const OwedVersions& position, SendContext& sending)
        : state_(state), layout_(state.layout()), position_(position), sending_(sending) {}
    WriteContext(const WriteContext&) = delete;
    WriteContext& operator=(const WriteContext&) = delete;

    [[nodiscard]] ChangelistState& state() const noexcept { return state_; }
    [[nodiscard]] const RepLayout& layout() const noexcept { return layout_; }
    [[nodiscard]] SendContext& sending() const noexcept { return sending_; }
    [[nodiscard]] SendScratch& scratch() const noexcept { return sending_.scratch; }
    [[nodiscard]] BlockFindings& findings() const noexcept { return findings_of(scratch()); }
    /// The object is the parameters of a call: only these have the layout of a struct.
    [[nodiscard]] bool is_call() const noexcept {
        return layout_.type().kind() == TypeKind::Struct;
    }

    // The receiver.

    [[nodiscard]] const OwedVersions& position() const noexcept { return position_; }
    /// What decides which elements of the array at `handle` are written. In an atomic group these
    /// are all that the receiver may not hold.
    [[nodiscard]] const OwedVersions& array_position(const RepScope& scope,
                                                     RepHandle handle) const noexcept {
        return layout_.find_group(scope, handle) == nullptr ? position_ : group_position();
    }
    /// What the receiver may not hold. Made when it is first asked for, as few objects have groups.
    [[nodiscard]] const OwedVersions& group_position() const noexcept {
        if (!group_position_) {
            group_position_ = position_.since_held();
        }
        return *group_position_;
    }
    /// The state of the receiver that a delta of the value at `handle` is written from.
    [[nodiscard]] DeltaBase delta_base(RepHandle handle) const noexcept {
        return sending_.delta_states == nullptr ? DeltaBase() : sending_.delta_states->base(handle);
    }

    // The value at the top of the object that is being written. Values within an array are those
    // of the array.

    void begin_value(RepHandle handle) noexcept {
        handle_ = handle;
        has_failed_ = false;
    }
    [[nodiscard]] RepHandle handle() const noexcept { return handle_; }
    /// The value is written only to learn how long it is.
    [[nodiscard]] bool is_measuring() const noexcept { return is_measuring_; }
    void set_measuring(bool is_measuring) noexcept { is_measuring_ = is_measuring; }
    /// The value cannot be written, or there is nothing to say of it.
    [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }
    void note_failed() noexcept { has_failed_ = true; }

    // Counts.

    void count_encoded(RepHandle handle, EncodeReason reason) noexcept {
        ++sending_.counters.values_encoded;
        if (sending_.type_counters != nullptr) {
            ++sending_.type_counters->of(handle).encoded[static_cast<std::size_t>(reason)];
        }
    }
    /// A piece of the value was found.
    void count_reused(RepHandle handle) noexcept {
        ++sending_.counters.values_reused;
        if (sending_.type_counters != nullptr) {
            ++sending_.type_counters->of(handle).values_reused;
        }
    }
    void count_piece_built(RepHandle handle) noexcept {
        ++sending_.counters.pieces_built;
        if (sending_.type_counters != nullptr) {
            ++sending_.type_counters->of(handle).pieces_built;
        }
    }
    /// The serializer of the value at hand is about to be called.
    void count_serializer_call() noexcept {
        ++sending_.counters.serializer_calls;
        if (sending_.type_counters != nullptr) {
            ++sending_.type_counters->of(handle_).serializer_calls;
        }
    }
    /// Notes how long the value is in the block, where values are counted by type.
    void note_bits(RepHandle handle, std::size_t bit_count, bool is_copied = false) {
        if (sending_.type_counters != nullptr) {
            findings().values.push_back({handle, bit_count, is_copied ? bit_count : 0});
        }
    }

  private:
    ChangelistState& state_;
    const RepLayout& layout_;
    const OwedVersions& position_;
    mutable std::optional<OwedVersions> group_position_;  // see group_position()
    SendContext& sending_;
    RepHandle handle_;
    bool is_measuring_ = false;
    bool has_failed_ = false;
};

}  // namespace replayout
