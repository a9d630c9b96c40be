// SPDX-License-Identifier: MIT
//
// Must not compile. Expected in the compiler's message:
//     std::vector<bool> has no elements in memory
#include <replayout/reflection/type_builder.h>

struct Pawn {
    std::vector<bool> flags;
};

void describe(replayout::TypeRegistry& registry) {
    replayout::class_builder<Pawn>(registry, "Pawn").property<&Pawn::flags>();
}
