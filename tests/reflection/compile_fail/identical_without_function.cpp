// SPDX-License-Identifier: MIT
//
// Must not compile. Expected in the compiler's message:
//     with_identical promises a member function that is missing
#include <replayout/reflection/struct_traits.h>

// Not const: a shadow is compared through const references.
struct Hit {
    bool identical(const Hit&);
};

template <>
struct replayout::StructTraitsOf<Hit> : replayout::DefaultStructTraits {
    static constexpr bool with_identical = true;
};

const auto traits = replayout::make_struct_traits<Hit>();
