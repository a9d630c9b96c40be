// SPDX-License-Identifier: MIT
//
// Must not compile. Expected in the compiler's message:
//     only a pointer to a class refers to a replicated object
#include <replayout/reflection/type_builder.h>

struct Pawn {
    int* health;
};

void describe(replayout::TypeRegistry& registry) {
    replayout::class_builder<Pawn>(registry, "Pawn").property<&Pawn::health>();
}
