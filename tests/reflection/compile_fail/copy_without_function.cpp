// SPDX-License-Identifier: MIT
//
// Must not compile. Expected in the compiler's message:
//     with_copy promises a member function that is missing
#include <replayout/reflection/struct_traits.h>

struct Hit {};

template <>
struct replayout::StructTraitsOf<Hit> : replayout::DefaultStructTraits {
    static constexpr bool with_copy = true;
};

const auto traits = replayout::make_struct_traits<Hit>();
