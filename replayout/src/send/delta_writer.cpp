// SPDX-License-Identifier: MIT
#include "delta_writer.h"

#include "serializer_failure.h"

#include <string>

namespace replayout {

namespace {

constexpr std::size_t delta_bytes_initial = 256;

}  // namespace

void DeltaWriter::note_sent() {
    if (!context_.is_measuring()) {
        ChangelistState& state = context_.state();
        context_.scratch().deltas.push_back(
            {handle(),
             context_.delta_base(handle()).version,
             {state.last_changed(handle()), state.shared().delta_state(handle())}});
    }
}

void DeltaWriter::write(BitWriter& writer) {
    SendContext& sending = context_.sending();
    const DeltaBase base = context_.delta_base(handle());
    const Version version = context_.state().last_changed(handle());
    REPLAYOUT_ASSERT(base.version < version);  // else it is not owed, see DeltaStates::remove_held
    Vector<std::byte>& bytes = sending.scratch.delta;
    if (bytes.empty()) {
        bytes.resize(delta_bytes_initial);
    }
    // Writing does not change the value; the one function serves both directions.
    void* value = const_cast<std::byte*>(leaf_.data());
    for (;;) {
        BitWriter body({bytes.data(), bytes.size()});
        NetArchive archive(body);
        NetDeltaInfo info(archive, sending.package_map, base.state.get(),
                          &sending.scratch.delta_states);
        context_.count_serializer_call();
        const bool is_written =
            cmd_.property->struct_type->traits().net_delta_serialize(value, info);
        if (body.overflowed()) {
            bytes.resize(bytes.size() * 2);
            continue;
        }
        const NetDeltaStatePtr& made = info.new_state();
        if (archive.is_refused() || (is_written && !made)) {
            note_serializer_failure(context_, cmd_, leaf_);
            return;
        }
        if (!is_written || (base.state && made.get()->is_state_equal(*base.state.get()))) {
            note_unchanged(base.version, version);
            return;
        }
        keep_state(made);
        writer.write_packed_uint(version);
        writer.write_packed_uint(version - base.version);
        writer.write_packed_uint(body.bit_count());
        writer.write_bits_from(body.bytes(), 0, body.bit_count());
        return;
    }
}

void DeltaWriter::note_unchanged(Version from, Version to) {
    context_.note_failed();
    context_.scratch().unchanged.push_back({handle(), from, to});
    context_.scratch().left_out.push_back(handle());
}

void DeltaWriter::keep_state(const NetDeltaStatePtr& made) {
    SendContext& sending = context_.sending();
    ChangelistState& state = context_.state();
    const NetDeltaStatePtr kept =
        state.shared().keep_delta_state(handle(), state.last_changed(handle()), made);
    if (sending.is_validating && !kept.get()->is_state_equal(*made.get())) {
        ++sending.counters.serializers_impure;
        log(LogLevel::Error, "net_delta_serialize of \"" +
                                 std::string(cmd_.property->struct_type->name()) +
                                 "\" in property \"" + cmd_.property->name +
                                 "\" does not make the same state for the same value");
    }
}

}  // namespace replayout
