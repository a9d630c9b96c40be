// SPDX-License-Identifier: MIT
#include "struct_writer.h"

#include <replayout/net_archive.h>

#include "shared_pieces.h"
#include "struct_value.h"
#include "value_path.h"

#include <algorithm>
#include <string>

namespace replayout {

namespace {

constexpr std::size_t delta_bytes_initial = 256;

/// Answers what another map does, and is not that map.
class OtherPackageMap final : public PackageMap {
  public:
    explicit OtherPackageMap(PackageMap& map) noexcept : map_(map) {}

    [[nodiscard]] NetGUID guid_of(ObjectHandle object) override { return map_.guid_of(object); }
    [[nodiscard]] ObjectHandle object_of(NetGUID guid) override { return map_.object_of(guid); }

  private:
    PackageMap& map_;
};

/// A receiver that has no object at all.
class NoReceiverIds final : public ReceiverIds {
  public:
    [[nodiscard]] bool is_mapped(NetGUID) const override { return false; }
};

[[nodiscard]] bool equal_bits(BitReader left, BitReader right) noexcept {
    bool is_equal = left.bits_left() == right.bits_left();
    while (is_equal && left.bits_left() > 0) {
        const auto step = static_cast<std::uint32_t>(std::min<std::size_t>(left.bits_left(), 64));
        const std::uint64_t word = left.read_bits(step);
        is_equal = word == right.read_bits(step);
    }
    return is_equal;
}

}  // namespace

void StructWriter::write(BitWriter& writer) {
    SendContext& sending = context_.sending();
    REPLAYOUT_ASSERT(sending.may_ask_game);
    const std::size_t begin = writer.bit_count();
    sending.scratch.guids.clear();
    NetArchive archive(writer, is_shared() ? nullptr : sending.receiver, &sending.scratch.guids);
    bool ok = true;
    context_.count_serializer_call();
    const bool is_mapped = cmd_.property->struct_type->traits().net_serialize(
        value(), archive, &sending.package_map, ok);
    if (writer.overflowed()) {
        return;  // a value that does not fit has not failed
    }
    if (!ok || archive.is_refused()) {
        note_failure();
        return;
    }
    if (!is_mapped && !context_.is_measuring()) {
        note_unmapped();
    }
    if (sending.is_validating) {
        check_purity({writer.bytes(), begin, writer.bit_count() - begin, nullptr});
    }
}

void StructWriter::note_failure() {
    context_.note_failed();
    const RepHandle handle = context_.handle();
    Vector<RepHandle>& left_out = context_.findings().left_out;
    if (!left_out.empty() && left_out.back() == handle) {
        return;  // another element of the same array
    }
    ++context_.sending().counters.values_failed;
    left_out.push_back(handle);
    const bool is_call = context_.is_call();
    if (!is_call && !SharedPieces(context_).note_failure(handle)) {
        return;  // it was logged for another receiver
    }
    log(LogLevel::Error,
        describe_struct_failure(
            cmd_, value_path(context_.layout(), handle, context_.state().shadow(), leaf_.data()),
            "writing") +
            (is_call ? "; the call is refused" : "; the property is left out"));
}

void StructWriter::note_unmapped() {
    const Vector<NetGUID>& guids = context_.scratch().guids;
    ++context_.sending().counters.values_unmapped;
    // A call has no update to come.
    const bool is_put_off = !is_shared() && !context_.is_call() && guids.empty();
    if (is_shared() || is_put_off) {
        log_put_off();
    }
    if (is_put_off) {
        context_.findings().put_off.push_back(context_.handle());
    }
    for (const NetGUID guid : guids) {
        context_.findings().unmapped.push_back({context_.handle(), guid});
    }
}

void StructWriter::log_put_off() {
    if (!context_.scratch().told_put_off.insert(cmd_.property).second) {
        return;
    }
    const std::string where = "net_serialize of \"" +
                              std::string(cmd_.property->struct_type->name()) +
                              "\" in property \"" + cmd_.property->name + "\" of \"" +
                              std::string(context_.layout().name()) + '"';
    log(LogLevel::Error,
        is_shared()
            ? where +
                  " answers false and is shared: all receivers get what it wrote, and none gets "
                  "more before it changes. Answer true, or take with_net_shared_serialization from "
                  "the struct, and ask NetArchive::receiver_has()"
            : where +
                  " answers false and asked for no object: it is sent again in the next update, "
                  "and then ever more seldom, until it answers true. Ask "
                  "NetArchive::receiver_has() for the object that is missing, or set ok to false "
                  "to be left out until it changes");
}

void StructWriter::check_purity(BitReader bits) {
    SendContext& sending = context_.sending();
    const Type& type = *cmd_.property->struct_type;
    Vector<std::byte>& bytes = sending.scratch.check;
    bytes.resize((bits.bits_left() + 7) / 8);
    const ErasedValue copy(type.ops(), bytes.get_stored_allocator().resource());
    copy_struct(type, copy.get(), leaf_.data());
    OtherPackageMap map(sending.package_map);
    const NoReceiverIds nobody;
    BitWriter writer({bytes.data(), bytes.size()});
    NetArchive archive(writer, is_shared() ? &nobody : sending.receiver);
    bool ok = true;
    (void)type.traits().net_serialize(copy.get(), archive, &map, ok);
    const bool is_pure = ok && !archive.failed() &&
                         structs_identical(type, copy.get(), leaf_.data()) &&
                         equal_bits({writer.bytes(), 0, writer.bit_count(), nullptr}, bits);
    if (!is_pure) {
        ++sending.counters.serializers_impure;
        log(LogLevel::Error, "net_serialize of \"" + std::string(type.name()) +
                                 "\" in property \"" + cmd_.property->name +
                                 "\" does not write the same bits for an equal value" +
                                 (is_shared() ? " and another receiver, and is shared" : ""));
    }
}

void StructWriter::note_delta_sent() {
    if (!context_.is_measuring()) {
        ChangelistState& state = context_.state();
        context_.findings().deltas.push_back(
            {handle(),
             context_.delta_base(handle()).version,
             {state.last_changed(handle()), state.shared().delta_state(handle())}});
    }
}

void StructWriter::write_delta(BitWriter& writer) {
    SendContext& sending = context_.sending();
    const DeltaBase base = context_.delta_base(handle());
    const Version version = context_.state().last_changed(handle());
    REPLAYOUT_ASSERT(base.version < version);  // else it is not owed, see DeltaStates::remove_held
    Vector<std::byte>& bytes = sending.scratch.delta;
    if (bytes.empty()) {
        bytes.resize(delta_bytes_initial);
    }
    for (;;) {
        BitWriter body({bytes.data(), bytes.size()});
        NetArchive archive(body);
        NetDeltaInfo info(archive, sending.package_map, base.state.get(),
                          &sending.scratch.delta_states);
        context_.count_serializer_call();
        const bool is_written =
            cmd_.property->struct_type->traits().net_delta_serialize(value(), info);
        if (body.overflowed()) {
            bytes.resize(bytes.size() * 2);
            continue;
        }
        const NetDeltaStatePtr& made = info.new_state();
        if (archive.is_refused() || (is_written && !made)) {
            note_failure();
            return;
        }
        if (!is_written || (base.state && made.get()->is_state_equal(*base.state.get()))) {
            context_.note_failed();
            context_.findings().unchanged.push_back({handle(), base.version, version});
            context_.findings().left_out.push_back(handle());
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

void StructWriter::keep_state(const NetDeltaStatePtr& made) {
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
