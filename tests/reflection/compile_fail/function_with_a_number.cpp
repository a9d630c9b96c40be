// SPDX-License-Identifier: MIT
//
// Must not compile. Expected in the compiler's message:
//     a remote function is void f(), void f(const Parameters&), either may be const
#include <replayout/reflection/type_builder.h>

struct Pawn {
    void server_fire(int shots);
};

void describe(replayout::TypeRegistry& registry) {
    replayout::class_builder<Pawn>(registry, "Pawn")
        .function<&Pawn::server_fire>(replayout::FunctionFlags::Server);
}
