// SPDX-License-Identifier: MIT
#include <replayout/keyed_array.h>
#include <replayout/rpc_parameters.h>

#include "struct_value.h"

#include <algorithm>

namespace replayout {

namespace {

// Values up to this size find their old place in the pool; larger ones go to the resource.
constexpr std::size_t pooled_bytes_max = 256 * 1024;

[[nodiscard]] SharedSerialization::PayloadKey payload_key(const ChangelistState& state) noexcept {
    return {state.version(), OwedVersions(), {}};
}

[[nodiscard]] bool holds_structs(const RepLayout& layout, const RepScope& scope,
                                 ConstObjectBuffer object, ConstShadowBuffer shadow);

/// The same of the elements of an array, whose shadow lies in the object's order; items of a fast
/// array that nobody marked are not in it.
[[nodiscard]] bool elements_hold_structs(const RepLayout& layout, CmdIndex index,
                                         ConstObjectBuffer object, ConstShadowBuffer shadow) {
    const RepLayoutCmd& cmd = layout.cmd(index);
    const RepScope& element = layout.element_scope(index);
    const bool is_keyed = cmd.type == RepLayoutCmdType::KeyedArray;
    const auto* keyed = is_keyed ? &shadow_value<ShadowKeyedArray>(shadow) : nullptr;
    const ShadowArray& array = is_keyed ? keyed->elements : shadow_value<ShadowArray>(shadow);
    const auto* from = static_cast<const std::byte*>(cmd.property->array.data(object.data()));
    for (std::uint32_t i = 0; i < array.count; ++i, from += cmd.element_size) {
        while (is_keyed && key_of_element(cmd.property->array_key, from) != keyed->items[i].key) {
            from += cmd.element_size;
        }
        const ConstShadowBuffer kept(array.elements + std::size_t{i} * element.shadow_size);
        if (!holds_structs(layout, element, ConstObjectBuffer(from), kept)) {
            return false;
        }
    }
    return true;
}

/// Whether the shadow took every struct with a NetSerializer as it is. One that cannot be sent, as
/// a map of too many entries, passes for unchanged there.
bool holds_structs(const RepLayout& layout, const RepScope& scope, ConstObjectBuffer object,
                   ConstShadowBuffer shadow) {
    for (std::uint32_t handle = 1; handle <= scope.handle_count; ++handle) {
        const CmdIndex index = layout.cmd_of(scope, RepHandle{handle});
        const RepLayoutCmd& cmd = layout.cmd(index);
        const ConstObjectBuffer from = object + cmd.object_offset;
        const ConstShadowBuffer kept = shadow + cmd.shadow_offset;
        const bool is_struct = cmd.type == RepLayoutCmdType::NetSerializeStruct ||
                               cmd.type == RepLayoutCmdType::NetDeltaStruct;
        if (is_struct && !structs_identical(*cmd.property->struct_type, kept.data(), from.data())) {
            return false;
        }
        if (is_array(cmd.type) && !elements_hold_structs(layout, index, from, kept)) {
            return false;
        }
    }
    return true;
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

RpcParameters::RpcParameters(const RepLayout& layout, MemoryResource* resource)
    : layout_(layout), memory_(std::pmr::pool_options{0, pooled_bytes_max}, resource) {}

RpcParametersStatus RpcParameters::set(const void* params, PackageMap& package_map,
                                       ReplicationCounters& counters) {
    state_.emplace(layout_, &memory_);
    const std::uint64_t over_limit = counters.values_over_limit;
    state_->update(params, package_map, counters);
    const ConstObjectBuffer object(static_cast<const std::byte*>(params));
    if (counters.values_over_limit != over_limit ||
        !holds_structs(layout_, layout_.root(), object, state_->shadow())) {
        state_.reset();
        return RpcParametersStatus::ValueOverLimit;
    }
    return RpcParametersStatus::Ok;
}

RpcParametersStatus RpcParameters::write(BitWriter& writer, SendContext& context) {
    REPLAYOUT_ASSERT(state_.has_value());
    REPLAYOUT_ASSERT(writer.bit_count() % 8 == 0 && !writer.overflowed());
    context.scratch.unmapped.clear();
    context.scratch.left_out.clear();
    if (layout_.handle_count() == 0) {
        return RpcParametersStatus::Ok;
    }
    const BitWriter::Mark start = writer.mark();
    const bool is_copied = write_payload(writer, context);
    RpcParametersStatus status = is_copied ? RpcParametersStatus::Ok : encode(writer, context);
    if (status == RpcParametersStatus::Ok && writer.overflowed()) {
        status = RpcParametersStatus::DoesNotFit;
    }
    if (status != RpcParametersStatus::Ok) {
        writer.rewind(start);
    } else if (!is_copied) {
        keep_payload(start, writer, context);
    }
    return status;
}

bool RpcParameters::write_payload(BitWriter& writer, SendContext& context) {
    // At version 0 there are only defaults, and they take one bit.
    if (!context.is_sharing || state_->version() == 0) {
        return false;
    }
    const SharedPayload* payload = state_->shared().find_payload(payload_key(*state_));
    if (payload == nullptr) {
        return false;
    }
    writer.write_bytes({payload->bytes.data(), payload->bytes.size()});
    if (!writer.overflowed()) {
        ++context.counters.payloads_reused;
        context.counters.pieces_reused += payload->property_count;
        context.counters.properties_sent += payload->property_count;
    }
    return true;
}

RpcParametersStatus RpcParameters::encode(BitWriter& writer, SendContext& context) {
    SendScratch& scratch = context.scratch;
    state_->collect_owed(OwedVersions(), scratch.owed);
    writer.write_bool(scratch.owed.any());
    if (!scratch.owed.any()) {
        writer.finish_byte();
        return RpcParametersStatus::Ok;
    }
    const SendResult result =
        send_properties(*state_, OwedVersions(), scratch.owed, writer, context);
    if (result == SendResult::DoesNotFit) {
        return RpcParametersStatus::DoesNotFit;
    }
    return scratch.left_out.empty() ? RpcParametersStatus::Ok
                                    : RpcParametersStatus::SerializeFailed;
}

void RpcParameters::keep_payload(BitWriter::Mark start, const BitWriter& writer,
                                 SendContext& context) {
    if (!context.is_sharing || state_->version() == 0 || !layout_.is_fully_shared()) {
        return;
    }
    state_->shared().keep_payload(payload_key(*state_), context.scratch.owed.count(),
                                  writer.bytes().subspan(start.position_bits / 8));
    ++context.counters.payloads_built;
}

bool receive_rpc_parameters(const RepLayout& layout, BitReader& reader, void* params,
                            ReceivingRepState& state, Vector<NetGUID>& unmapped,
                            ReceiveContext& context) {
    REPLAYOUT_ASSERT(params != nullptr);
    REPLAYOUT_ASSERT(!state.has_references());
    state.forget_delta_versions();  // parameters begin as their defaults
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
