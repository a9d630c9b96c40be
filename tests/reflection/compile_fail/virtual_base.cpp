// SPDX-License-Identifier: MIT
//
// Must not compile. Expected in the compiler's message:
//     needs a base of the type that is accessible, unambiguous, not virtual
#include <replayout/reflection/type_builder.h>

struct Actor {
    int id;
};

struct Pawn : virtual Actor {};

void describe(replayout::TypeRegistry& registry) {
    replayout::class_builder<Pawn>(registry, "Pawn").base<Actor>();
}
