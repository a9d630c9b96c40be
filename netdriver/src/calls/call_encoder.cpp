// SPDX-License-Identifier: MIT
#include "call_encoder.h"

#include <replayout/reflection/diagnostics.h>

namespace replayout {

namespace {

[[nodiscard]] CallResult to_result(CallParametersStatus status) noexcept {
    switch (status) {
        case CallParametersStatus::Ok:
            return CallResult::Sent;
        case CallParametersStatus::ValueOverLimit:
            return CallResult::ValueOverLimit;
        case CallParametersStatus::SerializeFailed:
            return CallResult::SerializeFailed;
        case CallParametersStatus::DoesNotFit:
            break;
    }
    return CallResult::TooLarge;
}

}  // namespace

CallResult CallEncoder::set(const RepLayout& layout, FunctionIndex function, const void* params,
                            PackageMap& package_map, ReplicationCounters& counters) {
    const RepFunction& called = layout.functions()[function.value];
    REPLAYOUT_ASSERT((params != nullptr) == (called.parameters != nullptr));
    called_ = called.function;
    function_ = function;
    current_ = nullptr;
    is_large_ = false;
    if (called.parameters == nullptr) {
        return CallResult::Sent;
    }
    // Each function has parameters of its own, so their layout names it.
    current_ = &parameters_.try_emplace(called.parameters.get(), *called.parameters, resource_)
                    .first->second;
    return to_result(current_->set(params, package_map, counters));
}

CallParametersStatus CallEncoder::write_into(std::span<std::byte> room, SendContext& context) {
    BitWriter writer{room};
    writer.write_packed_uint(function_.value);
    CallParametersStatus status = CallParametersStatus::Ok;
    if (current_ != nullptr) {
        status = current_->write(writer, context).status;
    }
    size_ = writer.byte_count();
    return status;
}

CallResult CallEncoder::write(SendContext& context) {
    CallParametersStatus status = CallParametersStatus::DoesNotFit;
    if (!is_large_) {
        status = write_into(std::span<std::byte>(bytes_).first(packet_call_bytes_), context);
        is_large_ =
            status == CallParametersStatus::DoesNotFit && call_bytes_max_ > packet_call_bytes_;
    }
    if (is_large_) {
        large_bytes_.resize(call_bytes_max_);
        status = write_into({large_bytes_.data(), large_bytes_.size()}, context);
    }
    if (status == CallParametersStatus::SerializeFailed) {
        log(LogLevel::Error, "a call of \"" + called_->name +
                                 "\" is refused, because a net_serialize of its parameters failed");
    }
    return to_result(status);
}

}  // namespace replayout
