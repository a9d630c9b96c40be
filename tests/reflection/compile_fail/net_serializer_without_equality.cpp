// SPDX-License-Identifier: MIT
//
// Must not compile. Expected in the compiler's message:
//     a struct with a serializer is compared as one value
#include <replayout/reflection/struct_traits.h>

struct Hit {
    bool net_serialize(replayout::NetArchive& archive, replayout::PackageMap* map, bool& ok);

    float damage = 0.0f;
};

template <>
struct replayout::StructTraitsOf<Hit> : replayout::DefaultStructTraits {
    static constexpr bool with_net_serializer = true;
};

const auto traits = replayout::make_struct_traits<Hit>();
