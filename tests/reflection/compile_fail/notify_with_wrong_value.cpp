// SPDX-License-Identifier: MIT
//
// Must not compile. Expected in the compiler's message:
//     on_rep needs void f() or void f(const Value& previous) of the object
#include <replayout/reflection/type_builder.h>

struct Pawn {
    void on_rep_title(const int& previous);

    std::string title;
};

void describe(replayout::TypeRegistry& registry) {
    replayout::class_builder<Pawn>(registry, "Pawn")
        .property<&Pawn::title>()
        .on_rep<&Pawn::on_rep_title>();
}
