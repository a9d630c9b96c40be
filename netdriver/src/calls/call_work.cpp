// SPDX-License-Identifier: MIT
#include "call_work.h"

#include <replayout/keyed_array.h>
#include <replayout/rep_layout.h>
#include <replayout/shadow_state.h>

#include <algorithm>
#include <bit>

#include "fate_cost.h"

namespace replayout {

namespace {

// Counted with Callgrind, release, gcc 12: the dearest of each, see docs/limits.md.
constexpr std::uint64_t call_instructions = 700;
constexpr std::uint64_t byte_instructions = 10;
constexpr std::uint64_t step_instructions = 200;
constexpr std::uint64_t sort_instructions = 70;  // of an element and bit of the count
constexpr std::uint64_t array_step_instructions = 45;
constexpr std::uint64_t allocated_bytes_per_instruction = 4;

/// Elements of one keyed array are put in order to be found, and again to be taken away.
[[nodiscard]] std::uint64_t sort_work(std::uint64_t count) noexcept {
    return count * static_cast<std::uint64_t>(std::bit_width(count)) * sort_instructions;
}

/// The most that an element takes up of a payload is a byte for its key.
[[nodiscard]] std::uint64_t keyed_work(const RepLayout& parameters,
                                       std::size_t payload_bytes) noexcept {
    std::uint64_t work = 0;
    const ConstShadowBuffer defaults = parameters.archetype().buffer();
    for (const RepHandle handle : parameters.keyed_handles()) {
        const RepLayoutCmd& cmd = parameters.cmd(parameters.cmd_of(parameters.root(), handle));
        const auto& array = shadow_value<ShadowKeyedArray>(defaults + cmd.shadow_offset);
        const std::uint64_t told =
            std::min<std::uint64_t>(payload_bytes, parameters.limits().array_count_max);
        work += sort_work(array.count() + told);
    }
    return work;
}

}  // namespace

std::uint64_t CallWork::work_before(const RepFunction& function,
                                    std::size_t payload_bytes) noexcept {
    const std::uint64_t work = call_instructions + byte_instructions * payload_bytes;
    return function.parameters != nullptr && function.parameters->has_keyed_arrays()
               ? work + keyed_work(*function.parameters, payload_bytes)
               : work;
}

void CallWork::spend_fates(std::uint32_t units) noexcept {
    spent_ += units * FateCost::unit_instructions;
}

void CallWork::spend_blocks(std::uint64_t array_steps) noexcept {
    spent_ += array_steps * array_step_instructions;
}

void CallWork::spend(const RepFunction& function, std::size_t payload_bytes,
                     const DecodeBudget& granted, const DecodeBudget& left) noexcept {
    has_run_any_ = true;
    spent_ += work_before(function, payload_bytes) +
              (granted.steps - left.steps) * step_instructions +
              (granted.allocation_bytes - left.allocation_bytes) / allocated_bytes_per_instruction;
}

}  // namespace replayout
