// SPDX-License-Identifier: MIT
#include "support/net_serializer_structs.h"

#include <replayout/reflection/dynamic_type_builder.h>

#include <cstddef>
#include <cstdlib>

namespace replayout::test {

namespace {

template <typename T>
[[nodiscard]] StructTraits traits_of(bool is_shared) {
    StructTraits traits;
    traits.has_net_serializer = true;
    traits.has_net_shared_serialization = is_shared;
    traits.net_serialize = [](void* value, NetArchive& archive, PackageMap* map, bool& ok) {
        return static_cast<T*>(value)->net_serialize(archive, map, ok);
    };
    return traits;
}

[[nodiscard]] const Type* built(Result<const Type*> type) {
    if (!type) {
        std::abort();  // a mistake of this file
    }
    return *type;
}

[[nodiscard]] const Type* add_stamp(TypeRegistry& registry, bool is_shared) {
    DynamicTypeBuilder builder(registry, TypeKind::Struct, is_shared ? "SharedStamp" : "Stamp",
                               sizeof(Stamp), alignof(Stamp));
    builder.property("number", PropertyKind::UInt32, offsetof(Stamp, number))
        .property("flavour", PropertyKind::UInt8, offsetof(Stamp, flavour))
        .property("serial", PropertyKind::UInt64, offsetof(Stamp, serial))
        .ops(make_type_ops<Stamp>())
        .traits(traits_of<Stamp>(is_shared));
    return built(builder.build());
}

[[nodiscard]] const Type* add_parcel(TypeRegistry& registry, bool is_shared) {
    StructTraits traits = traits_of<Parcel>(is_shared);
    traits.has_identical = true;
    traits.identical = [](const void* left, const void* right) {
        return static_cast<const Parcel*>(left)->identical(*static_cast<const Parcel*>(right));
    };
    traits.has_copy = true;
    traits.copy = [](void* target, const void* source) {
        static_cast<Parcel*>(target)->copy_from(*static_cast<const Parcel*>(source));
    };
    DynamicTypeBuilder builder(registry, TypeKind::Struct, is_shared ? "SharedParcel" : "Parcel",
                               sizeof(Parcel), alignof(Parcel));
    builder.property(string_property<std::string>("label", offsetof(Parcel, label)))
        .property(array_property<std::vector<std::int32_t>>(
            "contents", plain_property("", PropertyKind::Int32), offsetof(Parcel, contents)))
        .ops(make_type_ops<Parcel>())
        .traits(traits);
    return built(builder.build());
}

}  // namespace

bool Stamp::net_serialize(NetArchive& archive, PackageMap*, bool&) {
    std::uint64_t wide = number;
    archive.serialize_packed_uint(wide);
    number = static_cast<std::uint32_t>(wide);
    archive.serialize(flavour);
    archive.serialize(serial);
    return true;
}

bool Parcel::net_serialize(NetArchive& archive, PackageMap*, bool& ok) {
    archive.serialize_string(label, parcel_label_bytes_max);
    std::uint64_t count = contents.size();
    archive.serialize_packed_uint(count);
    if (archive.failed() || count > parcel_contents_max) {
        ok = false;
        return false;
    }
    contents.resize(count);
    for (std::int32_t& item : contents) {
        archive.serialize(item);
    }
    return true;
}

std::array<const Type*, 4> add_net_serializer_structs(TypeRegistry& registry) {
    const Type* stamp = add_stamp(registry, false);
    const Type* shared_stamp = add_stamp(registry, true);
    const Type* parcel = add_parcel(registry, false);
    const Type* shared_parcel = add_parcel(registry, true);
    return {stamp, shared_stamp, parcel, shared_parcel};
}

}  // namespace replayout::test
