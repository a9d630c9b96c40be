// SPDX-License-Identifier: MIT
#include <replayout/call_parameters.h>

#include <algorithm>

namespace replayout {

namespace {

// Values up to this size find their old memory in the pool; larger ones go to the resource.
constexpr std::size_t pooled_bytes_max = 256 * 1024;

[[nodiscard]] SharedSerialization::PayloadKey payload_key(const ChangelistState& state) noexcept {
    return {state.version(), OwedVersions(), {}};
}

void collect_unmapped(const ReceivingRepState& state, PackageMap& package_map,
                      Vector<NetGUID>& unmapped) {
    const auto begin = static_cast<std::ptrdiff_t>(unmapped.size());
    for (const auto& [path, reference] : state.references()) {
        if (!reference.is_mapped) {
            unmapped.push_back(reference.guid);
        }
    }
    for (const auto& [path, value] : state.values()) {
        for (const NetGUID guid : value.guids) {
            if (package_map.object_of(guid).is_null()) {
                unmapped.push_back(guid);
            }
        }
    }
    std::sort(unmapped.begin() + begin, unmapped.end());
    unmapped.erase(std::unique(unmapped.begin() + begin, unmapped.end()), unmapped.end());
}

}  // namespace

CallParameters::CallParameters(const RepLayout& layout, MemoryResource* resource)
    : layout_(layout), memory_(std::pmr::pool_options{0, pooled_bytes_max}, resource) {}

CallParametersStatus CallParameters::set(const void* params, PackageMap& package_map,
                                         ReplicationCounters& counters) {
    state_.emplace(layout_, &memory_);
    const std::uint64_t over_limit = counters.values_over_limit;
    state_->update(params, package_map, counters);
    if (counters.values_over_limit != over_limit) {
        state_.reset();
        return CallParametersStatus::ValueOverLimit;
    }
    return CallParametersStatus::Ok;
}

CallParametersStatus CallParameters::write(BitWriter& writer, SendContext& context) {
    REPLAYOUT_ASSERT(state_.has_value());
    REPLAYOUT_ASSERT(writer.bit_count() % 8 == 0 && !writer.overflowed());
    context.scratch.unmapped.clear();
    context.scratch.put_off.clear();
    context.scratch.left_out.clear();
    if (layout_.handle_count() == 0) {
        return CallParametersStatus::Ok;
    }
    const BitWriter::Mark start = writer.mark();
    const bool is_copied = write_payload(writer, context);
    CallParametersStatus status = is_copied ? CallParametersStatus::Ok : encode(writer, context);
    if (status == CallParametersStatus::Ok && writer.overflowed()) {
        status = CallParametersStatus::DoesNotFit;
    }
    if (status != CallParametersStatus::Ok) {
        writer.rewind(start);
    } else if (!is_copied) {
        keep_payload(start, writer, context);
    }
    return status;
}

bool CallParameters::write_payload(BitWriter& writer, SendContext& context) {
    // At version 0 there are only defaults, and they take one bit.
    if (!context.shares_payloads() || state_->version() == 0) {
        return false;
    }
    const SharedPayload* payload = state_->shared().find_payload(payload_key(*state_));
    if (payload == nullptr) {
        return false;
    }
    writer.write_bytes({payload->bytes.data(), payload->bytes.size()});
    if (!writer.overflowed()) {
        ++context.counters.payloads_reused;
        context.counters.values_reused += payload->property_count;
        context.counters.properties_sent += payload->property_count;
    }
    return true;
}

CallParametersStatus CallParameters::encode(BitWriter& writer, SendContext& context) {
    SendScratch& scratch = context.scratch;
    state_->collect_owed(OwedVersions(), scratch.owed);
    writer.write_bool(scratch.owed.any());
    if (!scratch.owed.any()) {
        writer.finish_byte();
        return CallParametersStatus::Ok;
    }
    const SendResult result =
        send_properties(*state_, OwedVersions(), scratch.owed, writer, context);
    if (result == SendResult::DoesNotFit) {
        return CallParametersStatus::DoesNotFit;
    }
    return scratch.left_out.empty() ? CallParametersStatus::Ok
                                    : CallParametersStatus::SerializeFailed;
}

void CallParameters::keep_payload(BitWriter::Mark start, const BitWriter& writer,
                                  SendContext& context) {
    if (!context.shares_payloads() || state_->version() == 0 || !layout_.is_fully_shared()) {
        return;
    }
    state_->shared().keep_payload(payload_key(*state_), context.scratch.owed.count(),
                                  writer.bytes().subspan(start.position_bits / 8));
    ++context.counters.payloads_built;
}

bool receive_call_parameters(const RepLayout& layout, BitReader& reader, void* params,
                             ReceivingRepState& state, Vector<NetGUID>& unmapped,
                             ReceiveContext& context) {
    REPLAYOUT_ASSERT(params != nullptr);
    REPLAYOUT_ASSERT(!state.has_references());
    state.clear();  // parameters begin as their defaults, in the order that these have
    const bool has_block = layout.handle_count() > 0 && reader.read_bool();
    if (has_block) {
        if (!receive_properties(layout, reader, params, state, context)) {
            return false;
        }
        collect_unmapped(state, context.package_map, unmapped);
        return true;
    }
    if (layout.handle_count() > 0) {
        reader.finish_byte();
    }
    if (context.must_fill_reader && reader.bits_left() != 0) {
        reader.fail();
    }
    return !reader.failed();
}

}  // namespace replayout
