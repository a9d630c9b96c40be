// SPDX-License-Identifier: MIT
//
// Must not compile. Expected in the compiler's message:
//     the class overrides on_serialize(), which nobody would call: say .custom_serialization()
#include <replayout/behaviours/behaviour_builder.h>

using namespace replayout;

class Scroll : public NetworkBehaviour {
  private:
    bool on_serialize(NetworkWriter&, bool) override { return true; }
};

class Book : public Scroll {};

bool describe(NetworkTypes& types) {
    return BehaviourBuilder<Book>(types, "Book").build().has_value();
}
