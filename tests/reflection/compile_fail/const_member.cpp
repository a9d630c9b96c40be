// SPDX-License-Identifier: MIT
//
// Must not compile. Expected in the compiler's message:
//     a property must be assignable
#include <replayout/reflection/type_builder.h>

struct Pawn {
    const int id = 0;
};

void describe(replayout::TypeRegistry& registry) {
    replayout::class_builder<Pawn>(registry, "Pawn").property<&Pawn::id>();
}
