// SPDX-License-Identifier: MIT
//
// Must not compile. Expected in the compiler's message:
//     a struct is either with_net_serializer or with_net_delta_serializer
#include <replayout/reflection/struct_traits.h>

struct Hit {
    bool net_serialize(replayout::NetArchive&, replayout::PackageMap*, bool&);
    bool net_delta_serialize(replayout::NetDeltaInfo&);
};

template <>
struct replayout::StructTraitsOf<Hit> : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
    static constexpr bool with_net_delta_serializer = true;
};

const auto traits = replayout::make_struct_traits<Hit>();
