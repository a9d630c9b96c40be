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
    const Type& type = *cmd.property->struct_type;
    // Saving does not change the value; the one function serves both directions and so takes it
    // mutable.
    void* value = const_cast<std::byte*>(leaf.data());
    const std::size_t begin = writer.bit_count();
    const bool is_shared = has_flag(cmd.flags, RepLayoutCmdFlags::IsSharedSerialization);
    context_.scratch.guids.clear();
    NetArchive archive(writer, is_shared ? nullptr : context_.receiver, &context_.scratch.guids);
    bool ok = true;
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
    // The layout of a struct is that of a call's parameters.
    log(LogLevel::Error,
        describe_struct_failure(cmd, value_path(layout_, handle_, state_.shadow(), leaf.data()),
                                "writing") +
            (layout_.type().kind() == TypeKind::Struct ? "; the call is refused"
                                                       : "; the property is left out"));
}

void PropertyWriter::note_unmapped(const RepLayoutCmd& cmd) {
    ++context_.counters.values_unmapped;
    if (has_flag(cmd.flags, RepLayoutCmdFlags::IsSharedSerialization)) {
        log(LogLevel::Error, "net_serialize of \"" +
                                 std::string(cmd.property->struct_type->name()) +
                                 "\" in property \"" + cmd.property->name +
                                 "\" is shared, and so cannot be unmapped for a receiver");
    }
    for (const NetGUID guid : context_.scratch.guids) {
        context_.scratch.unmapped.push_back({handle_, guid});
    }
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
