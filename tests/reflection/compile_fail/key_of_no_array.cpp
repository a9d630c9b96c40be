// SPDX-License-Identifier: MIT
//
// Must not compile. Expected in the compiler's message:
//     keyed_by is for arrays
#include <replayout/reflection/type_builder.h>

struct Item {
    int id = 0;
};

struct Pawn {
    int health = 100;
};

void describe(replayout::TypeRegistry& registry) {
    replayout::class_builder<Pawn>(registry, "Pawn")
        .property<&Pawn::health>()
        .keyed_by<&Item::id>();
}
