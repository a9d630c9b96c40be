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

[[nodiscard]] CallParametersStatus status_of(const SentBlock& block,
                                             const BitWriter& writer) noexcept {
    if (block == SendResult::DoesNotFit || writer.overflowed()) {
        return CallParametersStatus::DoesNotFit;
    }
    return block.findings == nullptr || block.findings->left_out.empty()
               ? CallParametersStatus::Ok
               : CallParametersStatus::SerializeFailed;
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

WrittenParameters CallParameters::write(BitWriter& writer, SendContext& context) {
    REPLAYOUT_ASSERT(state_.has_value());
    REPLAYOUT_ASSERT(writer.bit_count() % 8 == 0 && !writer.overflowed());
    if (layout_.handle_count() == 0) {
        return {};
    }
    const BitWriter::Mark start = writer.mark();
    // At version 0 there are only defaults, and they take one bit.
    const bool may_share = context.shares_payloads() && state_->version() != 0;
    const bool is_copied = may_share && write_payload(writer, context);
    const SentBlock block = is_copied ? SentBlock(SendResult::Whole) : encode(writer, context);
    const CallParametersStatus status = status_of(block, writer);
    if (status != CallParametersStatus::Ok) {
        writer.rewind(start);
    } else if (!is_copied && may_share && layout_.is_fully_shared()) {
        state_->shared().keep_payload(payload_key(*state_), block.property_count,
                                      writer.bytes().subspan(start.position_bits / 8));
        ++context.counters.payloads_built;
    }
    return {status, block.findings};
}

bool CallParameters::write_payload(BitWriter& writer, SendContext& context) {
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

SentBlock CallParameters::encode(BitWriter& writer, SendContext& context) {
    ChangeMask& owed = context.scratch.owed;
    state_->collect_owed(OwedVersions(), owed);
    writer.write_bool(owed.any());
    if (!owed.any()) {
        writer.finish_byte();
        return SentBlock(SendResult::Whole);
    }
    return send_properties(*state_, OwedVersions(), owed, writer, context);
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
