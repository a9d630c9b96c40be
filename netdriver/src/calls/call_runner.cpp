// SPDX-License-Identifier: MIT
#include "call_runner.h"

#include <replayout/call_parameters.h>

#include <algorithm>
#include <string>

#include "message_budget.h"
#include "scoped_value.h"

namespace replayout {

namespace {

constexpr std::size_t pooled_parameters_bytes_max = 16 * 1024;

// Memory that the values of one call may ask for, beside what its bytes earn; gone when it ran.
constexpr std::size_t call_allocation_bytes = 64 * 1024;
constexpr std::size_t call_steps = 4'096;
constexpr std::uint64_t call_array_steps_per_byte = 16;  // beside those of a message

}  // namespace

CallRunner::CallRunner(const NetConfig& config, NetGUIDCache& guids, NetStats& stats,
                       MemoryMeters& memory, bool& is_calling_out, PeerLog& peer_log,
                       const NetTime& now)
    : config_(config),
      guids_(guids),
      stats_(stats),
      is_calling_out_(is_calling_out),
      memory_(std::pmr::pool_options{0, pooled_parameters_bytes_max}, &memory.scratch),
      scratch_(&memory.scratch),
      unmapped_(Allocator<NetGUID>(&memory.scratch)),
      peer_log_(peer_log),
      now_(now) {}

DecodeBudget CallRunner::budget_for(std::size_t payload_bytes) const noexcept {
    DecodeBudget budget = message_budget(config_, payload_bytes);
    budget.allocation_bytes = std::min<std::uint64_t>(
        config_.decode_allocation_bytes_max, call_allocation_bytes + budget.allocation_bytes);
    budget.steps += call_steps;
    // Parameters may have several keyed arrays, and new elements cost up to 45 steps in two bytes.
    budget.array_steps +=
        DecodeBudget::array_steps_default + payload_bytes * call_array_steps_per_byte;
    return budget;
}

bool read_call_head(BitReader& reader, std::span<const RepFunction> functions,
                    std::optional<FunctionIndex>& function) noexcept {
    const std::uint64_t number = reader.read_packed_uint();
    function.reset();
    if (!reader.failed() && number < functions.size()) {
        function = FunctionIndex{static_cast<std::uint16_t>(number)};
    }
    return !reader.failed();
}

CallRunner::Outcome CallRunner::run(const RepFunction& function, void* object, BitReader& reader,
                                    bool is_validated, const CurrentCall& call) {
    REPLAYOUT_EXPECT(object != nullptr, Outcome::Missing,
                     "a call of \"%s\" is dropped: object_memory() of the world is null for handle "
                     "%llu: remove an object, or let the driver despawn it, before its memory goes",
                     function.function->name.c_str(),
                     static_cast<unsigned long long>(call.object.value));
    const ScopedValue running(current_call_, &call);
    std::byte* const self = static_cast<std::byte*>(object) + function.object_offset;
    if (function.parameters == nullptr) {
        return decode_and_call(function, self, nullptr, reader, is_validated);
    }
    const Type& type = function.parameters->type();
    void* params = memory_.allocate(type.size(), type.alignment());
    type.ops().construct(params);
    const Outcome outcome = decode_and_call(function, self, params, reader, is_validated);
    type.ops().destroy(params);
    memory_.deallocate(params, type.size(), type.alignment());
    return outcome;
}

void CallRunner::run_here(const RepFunction& function, void* object, const void* params,
                          const CurrentCall& call) {
    const FunctionThunk& thunk = function.function->thunk;
    if (thunk) {
        REPLAYOUT_EXPECT(object != nullptr, void(),
                         "\"%s\" does not run: object_memory() of the world is null for handle "
                         "%llu: remove an object, or let the driver despawn it, before its memory "
                         "goes",
                         function.function->name.c_str(),
                         static_cast<unsigned long long>(call.object.value));
        const ScopedValue running(current_call_, &call);
        thunk.call(static_cast<std::byte*>(object) + function.object_offset, params, thunk.context);
    }
}

CallRunner::Outcome CallRunner::decode_and_call(const RepFunction& function, std::byte* object,
                                                void* params, BitReader& reader,
                                                bool is_validated) {
    if (params != nullptr) {
        ReceivingRepState references(&memory_);
        ReceiveContext context{guids_, scratch_, config_.references_per_object_max};
        std::string failure;
        context.must_fill_reader = true;
        context.failure = &failure;
        // An object that is not here is null: whoever called waited for those that are to come.
        unmapped_.clear();
        const bool is_read = receive_call_parameters(*function.parameters, reader, params,
                                                     references, unmapped_, context);
        stats_.values_refused += context.values_refused;
        stats_.values_failed += context.values_failed;
        stats_.values_unmapped += context.values_unmapped;
        if (!failure.empty()) {
            peer_log_.write(LogLevel::Error, current_call_->caller, failure, now_);
        }
        if (!is_read || context.has_too_many_references) {
            return Outcome::Malformed;
        }
    } else if (reader.failed() || reader.bits_left() != 0) {
        return Outcome::Malformed;
    }
    const ScopedValue calls_allowed(is_calling_out_, false);
    const FunctionThunk& thunk = function.function->thunk;
    if (is_validated && thunk.validate != nullptr &&
        !thunk.validate(object, params, thunk.context)) {
        return Outcome::Refused;
    }
    ++stats_.calls_run;
    if (thunk) {
        thunk.call(object, params, thunk.context);
    }
    return Outcome::Ran;
}

}  // namespace replayout
