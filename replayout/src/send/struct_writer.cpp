// SPDX-License-Identifier: MIT
//
// Values of structs with a net_serialize, see docs/wire_format.md, "Values".
#include "property_writer.h"
#include "struct_value.h"
#include "value_path.h"

#include <replayout/net_archive.h>

#include <algorithm>
#include <string>

namespace replayout {

namespace {

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

void PropertyWriter::encode_struct(const RepLayoutCmd& cmd, ConstShadowBuffer leaf,
                                   BitWriter& writer) {
    REPLAYOUT_ASSERT(context_.may_ask_game);
    const Type& type = *cmd.property->struct_type;
    // Saving does not change the value; the one function serves both directions and so takes it
    // mutable.
    void* value = const_cast<std::byte*>(leaf.data());
    const std::size_t begin = writer.bit_count();
    const bool is_shared = has_flag(cmd.flags, RepLayoutCmdFlags::IsSharedSerialization);
    context_.scratch.guids.clear();
    NetArchive archive(writer, is_shared ? nullptr : context_.receiver, &context_.scratch.guids);
    bool ok = true;
    count_serializer_call();
    const bool is_mapped = type.traits().net_serialize(value, archive, &context_.package_map, ok);
    if (writer.overflowed()) {
        return;  // what is behind the end is nobody's failure
    }
    if (!ok || archive.is_refused()) {
        note_failure(cmd, leaf);
        return;
    }
    if (!is_mapped && !is_measuring_) {
        note_unmapped(cmd);
    }
    if (context_.is_validating) {
        check_purity(cmd, leaf, {writer.bytes(), begin, writer.bit_count() - begin, nullptr});
    }
}

void PropertyWriter::note_failure(const RepLayoutCmd& cmd, ConstShadowBuffer leaf) {
    has_failed_ = true;
    Vector<RepHandle>& left_out = context_.scratch.left_out;
    if (!left_out.empty() && left_out.back() == handle_) {
        return;  // another element of the same array
    }
    ++context_.counters.values_failed;
    left_out.push_back(handle_);
    const bool is_call = layout_.type().kind() == TypeKind::Struct;
    if (!is_call && !note_shared_failure()) {
        return;  // of another receiver it was logged
    }
    // The layout of a struct is that of a call's parameters.
    log(LogLevel::Error,
        describe_struct_failure(cmd, value_path(layout_, handle_, state_.shadow(), leaf.data()),
                                "writing") +
            (is_call ? "; the call is refused" : "; the property is left out"));
}

bool PropertyWriter::note_shared_failure() {
    const CmdIndex index = layout_.cmd_of(layout_.root(), handle_);
    const bool is_kept = is_array(index) && is_shared_question(handle_, index);
    return state_.shared().note_failure(handle_, state_.last_changed(handle_),
                                        is_kept ? question_of(handle_, index) : OwedVersions());
}

void PropertyWriter::note_unmapped(const RepLayoutCmd& cmd) {
    ++context_.counters.values_unmapped;
    const bool is_shared = has_flag(cmd.flags, RepLayoutCmdFlags::IsSharedSerialization);
    const bool is_call = layout_.type().kind() == TypeKind::Struct;  // it has no update to come
    const bool is_put_off = !is_shared && !is_call && context_.scratch.guids.empty();
    if (is_shared || is_put_off) {
        log_put_off(cmd, is_shared);
    }
    if (is_put_off) {
        context_.scratch.put_off.push_back(handle_);
    }
    for (const NetGUID guid : context_.scratch.guids) {
        context_.scratch.unmapped.push_back({handle_, guid});
    }
}

void PropertyWriter::log_put_off(const RepLayoutCmd& cmd, bool is_shared) {
    if (!context_.scratch.told_put_off.insert(cmd.property).second) {
        return;
    }
    const std::string place = "net_serialize of \"" +
                              std::string(cmd.property->struct_type->name()) + "\" in property \"" +
                              cmd.property->name + "\" of \"" + std::string(layout_.name()) + '"';
    log(LogLevel::Error,
        is_shared
            ? place +
                  " answers false and is shared: all receivers get what it wrote, and none gets "
                  "more before it changes. Answer true, or take with_net_shared_serialization from "
                  "the struct, and ask NetArchive::receiver_has()"
            : place +
                  " answers false and asked for no object: it is sent again in the next update, "
                  "and "
                  "then ever more seldom, until it answers true. Ask NetArchive::receiver_has() "
                  "for "
                  "the object that is missing, or set ok to false to be left out until it changes");
}

void PropertyWriter::check_purity(const RepLayoutCmd& cmd, ConstShadowBuffer leaf, BitReader bits) {
    const Type& type = *cmd.property->struct_type;
    const bool is_shared = has_flag(cmd.flags, RepLayoutCmdFlags::IsSharedSerialization);
    Vector<std::byte>& bytes = context_.scratch.check;
    bytes.resize((bits.bits_left() + 7) / 8);
    const ErasedValue copy(type.ops(), bytes.get_stored_allocator().resource());
    copy_struct(type, copy.get(), leaf.data());
    OtherPackageMap map(context_.package_map);
    const NoReceiverIds nobody;
    BitWriter writer({bytes.data(), bytes.size()});
    NetArchive archive(writer, is_shared ? &nobody : context_.receiver);
    bool ok = true;
    (void)type.traits().net_serialize(copy.get(), archive, &map, ok);
    const bool is_pure = ok && !archive.failed() &&
                         structs_identical(type, copy.get(), leaf.data()) &&
                         equal_bits({writer.bytes(), 0, writer.bit_count(), nullptr}, bits);
    if (!is_pure) {
        ++context_.counters.serializers_impure;
        log(LogLevel::Error, "net_serialize of \"" + std::string(type.name()) +
                                 "\" in property \"" + cmd.property->name +
                                 "\" does not write the same bits for an equal value" +
                                 (is_shared ? " and another receiver, and is shared" : ""));
    }
}

}  // namespace replayout
