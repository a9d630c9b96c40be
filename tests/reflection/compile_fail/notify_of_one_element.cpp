// SPDX-License-Identifier: MIT
//
// Must not compile. Expected in the compiler's message:
//     on_rep of an array runs once for all of it
#include <replayout/reflection/type_builder.h>

struct Pawn {
    void on_rep_locks(bool previous);  // the address of an array is a bool, too

    bool locks[4] = {};
};

void describe(replayout::TypeRegistry& registry) {
    replayout::class_builder<Pawn>(registry, "Pawn")
        .property<&Pawn::locks>()
        .on_rep<&Pawn::on_rep_locks>();
}
