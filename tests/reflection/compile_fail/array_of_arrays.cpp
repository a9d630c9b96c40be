// SPDX-License-Identifier: MIT
//
// Must not compile. Expected in the compiler's message:
//     an array of arrays cannot be a property
#include <replayout/reflection/type_builder.h>

struct Pawn {
    int grid[2][3];
};

void describe(replayout::TypeRegistry& registry) {
    replayout::class_builder<Pawn>(registry, "Pawn").property<&Pawn::grid>();
}
