// SPDX-License-Identifier: MIT
#include "support/types/net_serializer_structs.h"

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

namespace {

struct TallyState final : NetDeltaBaseState {
    Tally value;

    [[nodiscard]] bool is_state_equal(const NetDeltaBaseState& other) const override {
        return value == static_cast<const TallyState&>(other).value;
    }
};

constexpr std::uint32_t sum_bits = 16;

[[nodiscard]] std::uint64_t sum_of(const Tally& tally) {
    std::uint64_t sum = tally.counts.size();
    for (const std::int32_t count : tally.counts) {
        sum = sum * 31 + static_cast<std::uint32_t>(count);
    }
    for (const char letter : tally.label) {
        sum = sum * 31 + static_cast<unsigned char>(letter);
    }
    return sum & ((1u << sum_bits) - 1);
}

/// Unsigned, so that it may go round.
[[nodiscard]] std::uint32_t count_at(const Tally& tally, std::size_t index) {
    return index < tally.counts.size() ? static_cast<std::uint32_t>(tally.counts[index]) : 0;
}

}  // namespace

bool Tally::net_delta_serialize(NetDeltaInfo& info) {
    return info.is_saving() ? write(info) : read(info);
}

bool Tally::write(NetDeltaInfo& info) const {
    NetArchive& archive = info.archive();
    // Without a state the receiver holds the archetype's value, which nobody tells: all of it is
    // written, and it begins anew.
    const auto* state = info.old_state<TallyState>();
    const Tally nothing;
    const Tally& old = state == nullptr ? nothing : state->value;
    bool is_anew = state == nullptr;
    archive.serialize(is_anew);
    std::uint64_t sum = sum_of(old);
    archive.serialize_bits(sum, sum_bits);
    bool has_label = label != old.label;
    archive.serialize(has_label);
    if (has_label) {
        std::string text = label;
        archive.serialize_string(text, parcel_label_bytes_max);
    }
    std::uint64_t count = counts.size();
    archive.serialize_packed_uint(count);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        std::uint32_t grown = count_at(*this, i) - count_at(old, i);
        bool is_changed = grown != 0;
        archive.serialize(is_changed);
        if (is_changed) {
            archive.serialize(grown);
        }
    }
    info.set_new_state<TallyState>().value = *this;
    return true;
}

bool Tally::read(NetDeltaInfo& info) {
    NetArchive& archive = info.archive();
    bool is_anew = false;
    archive.serialize(is_anew);
    if (is_anew) {
        *this = Tally();
    }
    std::uint64_t sum = 0;
    archive.serialize_bits(sum, sum_bits);
    if (sum != sum_of(*this)) {
        return false;
    }
    bool has_label = false;
    archive.serialize(has_label);
    if (has_label) {
        archive.serialize_string(label, parcel_label_bytes_max);
    }
    std::uint64_t count = 0;
    archive.serialize_packed_uint(count);
    if (archive.failed() || count > parcel_contents_max) {
        return false;
    }
    counts.resize(count);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        bool is_changed = false;
        archive.serialize(is_changed);
        if (is_changed) {
            std::uint32_t grown = 0;
            archive.serialize(grown);
            counts[i] = static_cast<std::int32_t>(count_at(*this, i) + grown);
        }
    }
    return !archive.failed();
}

const Type* add_net_delta_struct(TypeRegistry& registry) {
    StructTraits traits;
    traits.has_net_delta_serializer = true;
    traits.net_delta_serialize = [](void* value, NetDeltaInfo& info) {
        return static_cast<Tally*>(value)->net_delta_serialize(info);
    };
    DynamicTypeBuilder builder(registry, TypeKind::Struct, "Tally", sizeof(Tally), alignof(Tally));
    builder.property(string_property<std::string>("label", offsetof(Tally, label)))
        .property(array_property<std::vector<std::int32_t>>(
            "counts", plain_property("", PropertyKind::Int32), offsetof(Tally, counts)))
        .ops(make_type_ops<Tally>())
        .traits(traits);
    return built(builder.build());
}

std::array<const Type*, 4> add_net_serializer_structs(TypeRegistry& registry) {
    const Type* stamp = add_stamp(registry, false);
    const Type* shared_stamp = add_stamp(registry, true);
    const Type* parcel = add_parcel(registry, false);
    const Type* shared_parcel = add_parcel(registry, true);
    return {stamp, shared_stamp, parcel, shared_parcel};
}

}  // namespace replayout::test
