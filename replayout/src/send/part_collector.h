// SPDX-License-Identifier: MIT
//
// Of what is owed of a large object, as much as one part holds.
#pragma once

#include "send_block.h"

#include <cstddef>
#include <cstdint>

namespace replayout {

/// What cannot be told apart, from the handle of `bit` on: one value, or an atomic group.
[[nodiscard]] inline std::uint32_t unit_end(const RepLayout& layout, std::uint32_t bit) noexcept {
    const RepGroup* group = layout.find_group(layout.root(), RepHandle{bit + 1});
    return group == nullptr ? bit + 1 : group->handle_end - 1u;
}

/// Collects what fits into one part: whole values, and atomic groups whole.
class PartCollector {
  public:
    PartCollector(const ChangelistState& state, const OwedVersions& position,
                  PropertyWriter& properties, const ChangeMask& owed, SendContext& context)
        : state_(state),
          layout_(state.layout()),
          position_(position),
          properties_(properties),
          owed_(owed),
          part_(context.scratch.part),
          left_out_(findings_of(context.scratch).left_out),
          array_steps_left_(context.array_steps_left),
          meter_(owed.bit_count()) {
        part_.reset(owed.bit_count());
    }

    /// From the owed handle of bit `begin` on, as much as `room_bits` hold. Returns the bit of the
    /// first that is left for another part, or the count of bits.
    [[nodiscard]] std::uint32_t collect(std::uint32_t begin, std::size_t room_bits) {
        first_ = begin;
        std::uint32_t bit = begin;
        while (bit < owed_.bit_count()) {
            const std::uint32_t end = unit_end(layout_, bit);
            const std::size_t failures = left_out_.size();
            const std::size_t bits = measure(bit, end);
            if (left_out_.size() != failures) {
                leave_out_groups(layout_, owed_, left_out_);
                bit = owed_.next(end);
                first_ = part_.any() ? first_ : bit;
                continue;
            }
            if (!add(bit, end, bits, room_bits)) {
                break;
            }
            bit = owed_.next(end);
        }
        return bit;
    }

    /// The first handle's bit that was not left out.
    [[nodiscard]] std::uint32_t first() const noexcept { return first_; }
    /// SentBlock::array_steps of what was collected.
    [[nodiscard]] std::size_t array_steps() const noexcept { return array_steps_; }

  private:
    /// Also measured_steps_, of the same.
    [[nodiscard]] std::size_t measure(std::uint32_t bit, std::uint32_t end) {
        std::size_t bits = 0;
        measured_steps_ = 0;
        for (; bit < end; bit = owed_.next(bit + 1)) {
            const RepHandle handle{bit + 1};
            const std::size_t value_bits = properties_.measure(handle);
            bits += value_bits;
            measured_steps_ += array_steps_of(state_, position_, handle, value_bits, false);
        }
        return bits;
    }

    /// False: there is no room for it.
    [[nodiscard]] bool add(std::uint32_t bit, std::uint32_t end, std::size_t bits,
                           std::size_t room_bits) {
        RunLengthMeter extended = meter_;
        for (std::uint32_t i = bit; i < end; i = owed_.next(i + 1)) {
            extended.add(i);
        }
        if (extended.bits(EmptySet::Impossible) + value_bits_ + bits > room_bits) {
            return false;
        }
        // What alone costs more goes alone.
        if (part_.any() && array_steps_ + measured_steps_ > array_steps_left_) {
            return false;
        }
        array_steps_ += measured_steps_;
        meter_ = extended;
        value_bits_ += bits;
        for (std::uint32_t i = bit; i < end; i = owed_.next(i + 1)) {
            part_.set(i);
        }
        return true;
    }

    const ChangelistState& state_;
    const RepLayout& layout_;
    const OwedVersions& position_;
    PropertyWriter& properties_;
    const ChangeMask& owed_;
    ChangeMask& part_;
    Vector<RepHandle>& left_out_;
    std::size_t array_steps_left_;
    RunLengthMeter meter_;
    std::size_t value_bits_ = 0;
    std::size_t array_steps_ = 0;
    std::size_t measured_steps_ = 0;
    std::uint32_t first_ = 0;
};

}  // namespace replayout
