// SPDX-License-Identifier: MIT
//
// Values of structs with a NetDeltaSerializer, see docs/wire_format.md, "Deltas".
#include "property_writer.h"
#include "struct_value.h"

#include <replayout/delta_states.h>
#include <replayout/net_delta.h>

#include <string>

namespace replayout {

namespace {

constexpr std::size_t delta_bytes_initial = 256;

}  // namespace

DeltaBase PropertyWriter::delta_base(RepHandle handle) const noexcept {
    return context_.delta_states == nullptr ? DeltaBase() : context_.delta_states->base(handle);
}

OwedVersions PropertyWriter::delta_question(RepHandle handle) const noexcept {
    OwedVersions question;
    question.sent_version = delta_base(handle).version;
    return question;
}

void PropertyWriter::note_delta(RepHandle handle) {
    if (!is_measuring_) {
        const Version version = state_.last_changed(handle);
        context_.scratch.deltas.push_back(
            {handle, delta_base(handle).version, {version, state_.shared().delta_state(handle)}});
    }
}

void PropertyWriter::encode_delta(const RepLayoutCmd& cmd, ConstShadowBuffer leaf,
                                  BitWriter& writer) {
    const RepHandle handle{cmd.relative_handle};
    const DeltaBase base = delta_base(handle);
    const Version version = state_.last_changed(handle);
    REPLAYOUT_ASSERT(base.version < version);  // else it is not owed, see DeltaStates::remove_held
    Vector<std::byte>& bytes = context_.scratch.delta;
    if (bytes.empty()) {
        bytes.resize(delta_bytes_initial);
    }
    // Writing does not change the value; the one function serves both directions.
    void* value = const_cast<std::byte*>(leaf.data());
    for (;;) {
        BitWriter body({bytes.data(), bytes.size()});
        NetArchive archive(body);
        NetDeltaInfo info(archive, context_.package_map, base.state.get(),
                          &context_.scratch.delta_states);
        count_serializer_call();
        const bool is_written =
            cmd.property->struct_type->traits().net_delta_serialize(value, info);
        if (body.overflowed()) {
            bytes.resize(bytes.size() * 2);
            continue;
        }
        const NetDeltaStatePtr& made = info.new_state();
        if (archive.is_refused() || (is_written && !made)) {
            note_failure(cmd, leaf);
            return;
        }
        if (!is_written || (base.state && made.get()->is_state_equal(*base.state.get()))) {
            note_unchanged(handle, base.version, version);
            return;
        }
        keep_delta_state(cmd, made);
        writer.write_packed_uint(version);
        writer.write_packed_uint(version - base.version);
        writer.write_packed_uint(body.bit_count());
        writer.write_bits_from(body.bytes(), 0, body.bit_count());
        return;
    }
}

void PropertyWriter::note_unchanged(RepHandle handle, Version from, Version to) {
    has_failed_ = true;
    context_.scratch.unchanged.push_back({handle, from, to});
    context_.scratch.left_out.push_back(handle);
}

void PropertyWriter::keep_delta_state(const RepLayoutCmd& cmd, const NetDeltaStatePtr& made) {
    const RepHandle handle{cmd.relative_handle};
    const NetDeltaStatePtr kept =
        state_.shared().keep_delta_state(handle, state_.last_changed(handle), made);
    if (context_.is_validating && !kept.get()->is_state_equal(*made.get())) {
        ++context_.counters.serializers_impure;
        log(LogLevel::Error, "net_delta_serialize of \"" +
                                 std::string(cmd.property->struct_type->name()) +
                                 "\" in property \"" + cmd.property->name +
                                 "\" does not make the same state for the same value");
    }
}

}  // namespace replayout
