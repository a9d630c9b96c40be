// SPDX-License-Identifier: MIT
#include "remote_function_encoder.h"

#include <replayout/reflection/diagnostics.h>

namespace replayout {

namespace {

[[nodiscard]] CallResult to_result(RpcParametersStatus status) noexcept {
    switch (status) {
        case RpcParametersStatus::Ok:
            return CallResult::Sent;
        case RpcParametersStatus::ValueOverLimit:
            return CallResult::ValueOverLimit;
        case RpcParametersStatus::SerializeFailed:
            return CallResult::SerializeFailed;
        case RpcParametersStatus::DoesNotFit:
            break;
    }
    return CallResult::TooLarge;
}

}  // namespace

CallResult RemoteFunctionEncoder::set(const RepLayout& layout, FunctionIndex function,
                                      const void* params, PackageMap& package_map,
                                      ReplicationCounters& counters) {
    const RepFunction& called = layout.functions()[function.value];
    REPLAYOUT_ASSERT((params != nullptr) == (called.parameters != nullptr));
    called_ = called.function;
    function_ = function;
    current_ = nullptr;
    if (called.parameters == nullptr) {
        return CallResult::Sent;
    }
    // Each function has parameters of its own, so their layout names it.
    current_ = &parameters_.try_emplace(called.parameters.get(), *called.parameters, resource_)
                    .first->second;
    return to_result(current_->set(params, package_map, counters));
}

CallResult RemoteFunctionEncoder::write(SendContext& context) {
    BitWriter writer{std::span<std::byte>(bytes_).first(call_bytes_max_)};
    writer.write_packed_uint(function_.value);
    RpcParametersStatus status = RpcParametersStatus::Ok;
    if (current_ != nullptr) {
        status = current_->write(writer, context);
    }
    if (status == RpcParametersStatus::SerializeFailed) {
        log(LogLevel::Error, "a call of \"" + called_->name +
                                 "\" is refused, because a net_serialize of its parameters failed");
    }
    size_ = writer.byte_count();
    return to_result(status);
}

}  // namespace replayout
