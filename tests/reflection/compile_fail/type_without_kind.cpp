// SPDX-License-Identifier: MIT
//
// Must not compile. Expected in the compiler's message:
//     this C++ type has no property kind
#include <replayout/reflection/type_builder.h>

struct Pawn {
    long double mass;
};

void describe(replayout::TypeRegistry& registry) {
    replayout::class_builder<Pawn>(registry, "Pawn").property<&Pawn::mass>();
}
