// SPDX-License-Identifier: MIT
//
// Must not compile. Expected in the compiler's message:
//     a struct is either with_identical or with_identical_via_equality
#include <replayout/reflection/struct_traits.h>

struct Hit {
    bool identical(const Hit&) const;
    bool operator==(const Hit&) const = default;
};

template <>
struct replayout::StructTraitsOf<Hit> : replayout::DefaultStructTraits {
    static constexpr bool with_identical = true;
    static constexpr bool with_identical_via_equality = true;
};

const auto traits = replayout::make_struct_traits<Hit>();
